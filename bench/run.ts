// The bench: every figure of bench/figures beside its peer, in one run, on a throwaway PostgreSQL that is durable.
//   npm run bench             all figures
//   npm run bench -- NAME…    these figures
// Each is written down when it is measured (bench/results.json, and made from it bench/RESULTS.md and bench/cost-by-size.svg), in the
// place of what was measured on this machine before: all of them take 40 minutes.
// To add a figure, put it into the list that its file in bench/figures exports. Whatever is measured runs in a process of
// its own (bench/processes, process.ts); rounds alternate between ours and the peer, so that a busy machine slows both.
// Every peer gets its best form. A missed bar is said loudly and still exits 0: figures depend on the machine, and no test
// may. A figure that cannot be measured exits 1.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { databases } from './database.ts'
import { type Bench, barInWords, type Figure, type Result, resultOf } from './figure.ts'
import { keep, surroundings } from './results.ts'

const folder = join(import.meta.dirname, 'figures')
const figures = (
  await Promise.all(
    readdirSync(folder).map(async file => (await import(join(folder, file))).default as Figure[]),
  )
)
  .flat()
  .sort((a, b) => (a.name < b.name ? -1 : 1))

const say = (line: string) => void process.stdout.write(`${line}\n`)
const give = (line: string): never => {
  process.stderr.write(`${line}\n`)
  process.exit(2)
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter(name => !figures.some(figure => figure.name === name))
if (unknown.length > 0)
  give(`There is no figure ${unknown.join(', ')}. There are: ${figures.map(({ name }) => name).join(', ')}`)
const measured = figures.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
const server =
  process.env.TEST_DATABASE_URL ?? give('TEST_DATABASE_URL is not set: start with `npm run bench`.')

const where = await surroundings(server)
const results: Result[] = []
const ofTheRun = databases(server)
const filledBefore = new Map<string, string>()
const filled: Bench['filled'] = async (name, fill) => {
  const known = filledBefore.get(name)
  if (known) return known
  const url = await ofTheRun.create()
  await fill(url)
  filledBefore.set(name, url)
  return url
}
for (const figure of measured) {
  say(`\n${figure.name}: ${figure.measures}\n  beside ${figure.peer}`)
  const { create, dropAll } = databases(server)
  try {
    const result = await resultOf(figure, { database: create, filled, say: line => say(`  ${line}`) })
    results.push(result)
    keep(figures, result, where)
    for (const line of wanted.length === 0 ? [] : result.details) say(`  ${line}`)
    say(`  ${result.met ? 'met' : 'MISSED'}: ratio ${result.ratio.toFixed(2)}, bar ${barInWords(figure)}`)
  } catch (error) {
    // The others are measured all the same.
    say(`  FAILED: ${(error as Error).stack}`)
    process.exitCode = 1
  } finally {
    await dropAll()
  }
}
await ofTheRun.dropAll()

say('\nwritten: bench/results.json, bench/RESULTS.md, bench/cost-by-size.svg')

const missed = results.filter(result => !result.met)
if (missed.length > 0) {
  say(`\n${'!'.repeat(78)}`)
  for (const { figure, ratio } of missed)
    say(`!!! BAR MISSED: ${figure.name}: ratio ${ratio.toFixed(2)}, bar ${barInWords(figure)}`)
  say('!'.repeat(78))
}
// Processes of figures that failed are still there.
process.exit()
