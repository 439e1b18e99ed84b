// Runs the tests: `npm test`, or `npm test -- FILE…` for some of them. Loading the service and an engine costs more than
// most tests do, so files share a process; lanes of them run side by side. Tests of whole processes keep to
// themselves.
import { spawn } from 'node:child_process'
import { prepareDatabases } from '../test/support/prepare-databases.ts'

interface Step {
  files: string[]
  /** One process for all files, or one for each. */
  shared: boolean
  /** They need no database, and need not wait until there is one. */
  bare?: boolean
}

/**
 * Tests of processes start one after the other, which takes long: those that the engine matters to run on it, and those
 * that it does not matter to run on PostgreSQL, where a start takes half the time.
 */
const processes = process.env.TEST_DATABASE_URL
  ? [
      'audit-command',
      'catalog-command',
      'chaos-database',
      'chaos-sagas',
      'database-away',
      'database-proxy',
      'finance-push',
      'half-open',
      'many-nodes',
      'previous-release',
      'reference-page',
      'sagas-command',
      'stop',
      'tasks-command',
    ]
  : ['command-line', 'first-start', 'lock']
const processFiles = processes.map(name => `test/process/${name}.test.ts`)

const races: Step = { shared: true, files: ['test/races/*.test.ts'] }
const onPostgres = process.env.TEST_DATABASE_URL !== undefined

const lanes: Step[][] = [
  [
    {
      shared: true,
      files: ['test/{api-keys,audit-log,billing,catalog,dead-letters,deployments,drift}/*.test.ts'],
    },
  ],
  [
    { shared: true, files: ['test/{inventory,invitations,metering,provisioning,roles}/*.test.ts'] },
    ...(onPostgres ? [races] : []),
  ],
  [
    { shared: false, files: [...processFiles, 'test/process/{saga-kill,story}.test.ts'] },
    { shared: true, files: ['test/{sagas,http}/*.test.ts'] },
  ],
  [
    { shared: true, bare: true, files: ['test/{integrations,sandbox}/**/*.test.ts'] },
    {
      shared: true,
      files: [
        'test/{scheduled-tasks,secrets,session,storage-backends,subscriptions,tenancy,users,webhooks}/*.test.ts',
        'test/{architecture,kernel}/**/*.test.ts',
        ...(onPostgres ? [] : races.files),
      ],
    },
  ],
]

const chosen = process.argv.slice(2)
const plan = chosen.length > 0 ? [[{ shared: true, files: chosen }]] : lanes
// Once for all lanes: each would otherwise begin with the same work.
const prepared = prepareDatabases()
const results = await Promise.all(plan.map((lane, index) => runLane(lane, index === 0)))
process.exitCode = results.every(Boolean) ? 0 : 1

/** The first lane is shown as it goes, the others when they are done, so that their lines do not mix. */
async function runLane(lane: Step[], live: boolean): Promise<boolean> {
  let passed = true
  for (const step of lane) {
    if (!step.bare) await prepared
    const { code, output } = await run(step, live)
    if (!live) process.stdout.write(output)
    passed &&= code === 0
  }
  return passed
}

function run({ files, shared }: Step, live: boolean): Promise<{ code: number | null; output: string }> {
  const isolation = shared ? ['--test-isolation=none'] : ['--test-concurrency=1']
  // Tests make much garbage that dies young; with a larger nursery the collector costs a fifth of what it does otherwise.
  // The embedded engine is compiled once and quickly: making it fast takes longer than a lane gains by it.
  // A test that waits for ever would otherwise take the whole run with it, and nobody would learn its name.
  const limit = '--test-timeout=300000'
  const args = [limit, '--max-semi-space-size=64', '--liftoff-only', '--test', ...isolation, ...files]
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
