// How live the mirror is: `npm run chaos:live -- [MINUTES] [CHANGES] [SEED] [--faults]`, 10 minutes and 300 changes unless said
// otherwise. On the PostgreSQL of TEST_DATABASE_URL in a database of its own, or embedded. Prints the figures, and ends with 1
// when a bar is missed.
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { chaosLive } from '../test/chaos/live/campaign.ts'
import { ownDatabase, wholeNumber } from './chaos-engine.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { faults: { type: 'boolean', default: false } },
})
const ends: (() => unknown)[] = []
const end = async () => {
  for (const one of ends.splice(0).reverse()) await one()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void end().finally(() => process.exit(130)))
try {
  const database = process.env.TEST_DATABASE_URL
    ? await ownDatabase(process.env.TEST_DATABASE_URL)
    : undefined
  if (database) ends.push(database.drop)
  const load = loadavg()[0]
  const report = await chaosLive(
    { after: one => void ends.push(one) },
    {
      minutes: wholeNumber(positionals[0], 10),
      changes: wholeNumber(positionals[1], 300),
      seed: wholeNumber(positionals[2], 1 + (Date.now() % 1_000_000)),
      faults: values.faults,
      ...(database && { databaseUrl: database.url }),
      onProgress: line => void process.stderr.write(`${line}\n`),
    },
  )
  const { missed, ...figures } = report
  const loads = { before: load, after: loadavg()[1] }
  process.stdout.write(`${JSON.stringify({ ...figures, load: loads }, null, 2)}\n`)
  for (const one of missed) process.stdout.write(`missed: ${one}\n`)
  process.stdout.write(`${missed.length} bars missed\n`)
  process.exitCode = missed.length === 0 ? 0 : 1
} finally {
  await end()
}
