// Runs the tests: `npm test`, or `npm test -- FILE…` for some of them. Loading the service and an engine costs more than
// most tests do, so files share a process, and a few such processes run side by side. Files are divided by how long each
// took the last time. Tests of whole processes run one after the other, before the others of their lane.
import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { onPostgres } from '../test/support/engine.ts'
import { cache, prepareDatabases } from '../test/support/prepare-databases.ts'
import type { Ended } from './test-ended.ts'

/** More than the cores of a small machine: tests also wait. */
const LANES = 4
/** A guess for files that have not run here yet. */
const MS_PER_BYTE = 0.2
const durationsFile = join(cache, `durations-${onPostgres ? 'postgres' : 'embedded'}.json`)
const reports = mkdtempSync(join(tmpdir(), 'cloudops-tests-'))

const chosen = process.argv.slice(2)
await prepareDatabases()
const lanes = chosen.length > 0 ? [[chosen]] : divide()
const passed = await Promise.all(lanes.map(runLane))
process.exitCode = passed.every(Boolean) ? 0 : 1
summarize()
rmSync(reports, { recursive: true })

/** The longest files first, each to the lane with the least to do. */
function divide(): string[][][] {
  const known = readDurations()
  const msOf = (file: string) => known[file] ?? statSync(file).size * MS_PER_BYTE
  const all = globSync('test/**/*.test.ts').sort((a, b) => msOf(b) - msOf(a))
  const isProcess = (file: string) => file.startsWith('test/process/')
  const processes = all.filter(isProcess)
  const loads = Array.from({ length: LANES }, () => ({ files: [] as string[], ms: 0 }))
  for (const file of processes) loads[0]!.ms += msOf(file)
  for (const file of all.filter(name => !isProcess(name))) {
    const least = loads.reduce((a, b) => (b.ms < a.ms ? b : a))
    least.files.push(file)
    least.ms += msOf(file)
  }
  const [first, ...others] = loads.map(({ files }) => files)
  return [[processes, first!], ...others.map(files => [files])]
}

/** The first lane is shown as it goes, the others when they are done, so that their lines do not mix. */
async function runLane(steps: string[][], lane: number): Promise<boolean> {
  let ok = true
  for (const [index, files] of steps.entries()) {
    if (files.length === 0) continue
    const { code, output } = await run(files, lane === 0, join(reports, `${lane}-${index}`))
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

/** Of all lanes together, whose own summaries are far apart; and how long each file took, for the next time. */
function summarize(): void {
  const lines = globSync(join(reports, '*')).flatMap(report =>
    readFileSync(report, 'utf8').trim().split('\n'),
  )
  const ended = lines.filter(line => line !== '').map(line => JSON.parse(line) as Ended)
  const of = (outcome: Ended['outcome']) => ended.filter(test => test.outcome === outcome)
  const failed = of('failed').map(({ name, file }) => `failed: ${relative('.', file)} › ${name}\n`)
  const counts = `${of('passed').length} passed, ${failed.length} failed, ${of('skipped').length} skipped`
  process.stdout.write(`${failed.join('')}${counts}\n`)
  if (chosen.length > 0) return
  const durations: Record<string, number> = {}
  for (const { file, ms } of ended)
    durations[relative('.', file)] = (durations[relative('.', file)] ?? 0) + Math.round(ms)
  writeFileSync(durationsFile, JSON.stringify(durations, null, 1))
}

function readDurations(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(durationsFile, 'utf8'))
  } catch {
    return {}
  }
}
