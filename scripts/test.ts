// Runs the tests: `npm test`, or `npm test -- FILE…` for some of them. Loading the service and an engine costs more than
// most tests do, so files share a process, and a few such processes run side by side. Each lane takes the next group of files
// when it is done with one. Tests of whole processes run one after the other, first of all in a lane of theirs.
import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { onPostgres } from '../test/support/engine.ts'
import { prepareDatabases } from '../test/support/prepare-databases.ts'
import type { Ended } from './test-ended.ts'

/** More than the cores of a small machine: tests also wait. */
const LANES = 4
/**
 * On the embedded engine one for each lane but that of the processes: loading the service and the engine costs as much as many
 * tests. On PostgreSQL it costs little beside tests of races and browsers, and lanes end together when they take many small groups.
 */
const GROUPS = onPostgres ? 12 : 3
/** Marks of tests that this engine leaves out; a file's import of one counts as well. */
const LEFT_OUT = onPostgres ? /onEmbeddedAlone/g : /needsPostgres|onPostgresAlone|inBrowser/g
const reports = mkdtempSync(join(tmpdir(), 'cloudops-tests-'))

const chosen = process.argv.slice(2)
await prepareDatabases()
const groups = chosen.length > 0 ? [chosen] : divide()
const passed = await Promise.all(
  Array.from({ length: Math.min(LANES, groups.length) }, (_, lane) => runLane(lane)),
)
process.exitCode = passed.every(Boolean) ? 0 : 1
summarize()
rmSync(reports, { recursive: true })

/** The tests of processes, then the others: each file, from the one with the most tests on, goes to the smallest group. */
function divide(): string[][] {
  const all = globSync('test/**/*.test.ts').sort()
  const isProcess = (file: string) => file.startsWith('test/process/')
  const others = all.filter(file => !isProcess(file)).map(file => ({ file, tests: testsIn(file) }))
  const dealt = Array.from({ length: GROUPS }, () => ({ files: [] as string[], tests: 0 }))
  for (const { file, tests } of others.sort((a, b) => b.tests - a.tests)) {
    const smallest = dealt.reduce((a, b) => (b.tests < a.tests ? b : a))
    smallest.files.push(file)
    smallest.tests += tests
  }
  return [all.filter(isProcess), ...dealt.map(({ files }) => files)]
}

/** About as many as the engine runs of it. */
function testsIn(file: string): number {
  const text = readFileSync(file, 'utf8')
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0
  return Math.max(0, count(/^ *(test|it)\(/gm) - count(LEFT_OUT)) + 1
}

/** The first lane is shown as it goes, the others when a group is done, so that their lines do not mix. */
async function runLane(lane: number): Promise<boolean> {
  let ok = true
  for (let group = groups.shift(); group; group = groups.shift()) {
    const { code, output } = await run(group, lane === 0, join(reports, `${lane}-${groups.length}`))
    process.stdout.write(output)
    ok &&= code === 0
  }
  return ok
}

function run(
  files: string[],
  live: boolean,
  report: string,
): Promise<{ code: number | null; output: string }> {
  const args = [
    '--test',
    '--test-isolation=none',
    // A test that waits for ever would otherwise take the whole run with it, and nobody would learn its name.
    '--test-timeout=300000',
    // Tests make much garbage that dies young; with a larger nursery the collector costs a fifth of what it does otherwise.
    '--max-semi-space-size=64',
    // The embedded engine is compiled once and quickly: making it fast takes longer than a lane gains by it.
    '--liftoff-only',
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...['--test-reporter=./scripts/test-ended.ts', `--test-reporter-destination=${report}`],
    ...files,
  ]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, NODE_COMPILE_CACHE: 'node_modules/.cache/node-compile-cache' },
    stdio: ['ignore', live ? 'inherit' : 'pipe', live ? 'inherit' : 'pipe'],
  })
  const chunks: Buffer[] = []
  child.stdout?.on('data', chunk => chunks.push(chunk))
  child.stderr?.on('data', chunk => chunks.push(chunk))
  return new Promise(resolve =>
    child.on('close', code => resolve({ code, output: Buffer.concat(chunks).toString() })),
  )
}

/** Of all groups together, whose own summaries are far apart: whoever sees the last lines alone learns what failed and why. */
function summarize(): void {
  const lines = globSync(join(reports, '*')).flatMap(report =>
    readFileSync(report, 'utf8').trim().split('\n'),
  )
  const ended = lines.filter(line => line !== '').map(line => JSON.parse(line) as Ended)
  const of = (outcome: Ended['outcome']) => ended.filter(test => test.outcome === outcome)
  const failed = of('failed').map(
    ({ name, file, reason = '' }) =>
      `failed: ${relative('.', file)} › ${name}\n${reason.slice(0, 2_000).replace(/^/gm, '    ')}\n`,
  )
  const counts = `${of('passed').length} passed, ${failed.length} failed, ${of('skipped').length} skipped`
  process.stdout.write(`${failed.join('')}${counts}\n`)
}
