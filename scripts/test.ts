// Runs the tests: `npm test`, or `npm test -- FILE…` for some of them. Loading the service and an engine costs more than
// most tests do, so files share a process; lanes of them run side by side. Tests of whole processes keep to
// themselves.
import { spawn } from 'node:child_process'
import { prepareDatabases } from '../test/support/prepare-databases.ts'

interface Step {
  files: string[]
  /** One process for all files, or one for each. */
  shared: boolean
}

/** Tests of processes on PostgreSQL; the others of that folder bring an embedded database along, whatever the run. */
const onPostgres = ['chaos-sagas', 'database-away', 'finance-push', 'many-nodes', 'reference-page', 'stop']
const processes = process.env.TEST_DATABASE_URL
  ? onPostgres.map(name => `test/process/${name}.test.ts`)
  : ['test/process/*.test.ts']

const lanes: Step[][] = [
  [{ shared: true, files: ['test/{api,architecture,kernel}/*.test.ts'] }],
  [{ shared: true, files: ['test/jobs/*.test.ts'] }],
  [{ shared: false, files: processes }],
  [
    // These wait more than they work.
    { shared: false, files: ['test/scenarios/*.test.ts'] },
    { shared: true, files: ['test/{features,integrations,races,sandbox}/**/*.test.ts'] },
  ],
]

const chosen = process.argv.slice(2)
const plan = chosen.length > 0 ? [[{ shared: true, files: chosen }]] : lanes
// Once, before the lanes: each would otherwise begin with the same work.
await prepareDatabases()
const results = await Promise.all(plan.map((lane, index) => runLane(lane, index === 0)))
process.exitCode = results.every(Boolean) ? 0 : 1

/** The first lane is shown as it goes, the others when they are done, so that their lines do not mix. */
async function runLane(lane: Step[], live: boolean): Promise<boolean> {
  let passed = true
  for (const step of lane) {
    const { code, output } = await run(step, live)
    if (!live) process.stdout.write(output)
    passed &&= code === 0
  }
  return passed
}

function run({ files, shared }: Step, live: boolean): Promise<{ code: number | null; output: string }> {
  const isolation = shared ? ['--test-isolation=none'] : ['--test-concurrency=1']
  // Tests make much garbage that dies young; with a larger nursery the collector costs a fifth of what it does otherwise.
  const args = ['--max-semi-space-size=64', '--test', ...isolation, ...files]
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
