import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { delimiter, join, sep } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { COLOUR, call, noSecrets, runCommand, startService, temporaryFolder } from '../support/process.ts'

// One service for the whole file, started as a newcomer has it: no configuration, no database, the host's own Node.
const dataDir = temporaryFolder({ after })
const env = { ...noSecrets, NODE_ENV: undefined, LOG_LEVEL: 'warn' }
const tasks = '/api/v1/admin/scheduled_tasks'
const service = await startService({ after }, { dataDir, env, node: hostNode() })

const printedCurl = (output: string): string => /^curl .*$/m.exec(output)?.[0] ?? ''
const printedToken = (output: string): string => /Bearer ([^']+)'/.exec(output)?.[1] ?? ''

test('without any configuration it answers health', async () => {
  const { status, body } = await service.call('GET', '/api/health', { token: null })
  assert.deepEqual([status, body.data.status], [200, 'ok'])
})

test('the printed curl works as pasted', async () => {
  const line = printedCurl(service.output())
  assert.match(line, /^curl -H 'Authorization: Bearer \S+' http:\/\/127\.0\.0\.1:\d+\/api\/v1\//)
  assert.ok(!service.output().includes(COLOUR))
  const hasCurl = spawnSync('curl', ['--version']).status === 0
  const answer = hasCurl
    ? JSON.parse((await promisify(execFile)('sh', ['-c', line])).stdout)
    : (await call('GET', line.slice(line.lastIndexOf(' ') + 1), printedToken(line))).body
  assert.ok(Array.isArray(answer.data))
  assert.ok('as_of' in answer)
})

test('a second process on the same folder is refused by the pid of the first, which goes on', async () => {
  const { code, stderr } = await runCommand(['serve'], { env: { ...env, DATA_DIR: dataDir }, cwd: dataDir })
  const { pid } = JSON.parse(readFileSync(join(dataDir, 'cloudops.lock'), 'utf8'))
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`is in use by process ${pid}\\.`))
  assert.doesNotMatch(stderr, /\n\s+at /)
  assert.equal((await service.call('GET', '/api/health')).status, 200)
})

test('the command line lists the tasks of the running service and runs one', async () => {
  const client = { env: { ...env, DATA_DIR: dataDir, PORT: new URL(service.url).port }, cwd: dataDir }
  const [list, run, unknown] = await Promise.all([
    runCommand(['tasks', 'list'], client),
    runCommand(['tasks', 'run', 'housekeeping', '--wait'], client),
    runCommand(['tasks', 'run', 'nothing'], client),
  ])
  assert.equal(list.code, 0, list.stderr)
  assert.match(list.stdout, /^NAME .*\n(.+\n)*housekeeping +41 3 \* \* \* +metering /)
  assert.ok(!list.stdout.includes(COLOUR))
  assert.equal(run.code, 0, run.stderr)
  assert.match(run.stdout, /^housekeeping: queued \(run [0-9a-f-]{36}\)\n(.*\n)*housekeeping: completed\n$/)
  assert.deepEqual([unknown.code, unknown.stdout], [1, ''])
  assert.match(unknown.stderr, /^404 not_found: /)
})

test('secrets are made once: after a restart an old token is still good', async t => {
  const token = printedToken(service.output())
  const secrets = readFileSync(join(dataDir, 'development-secrets.json'), 'utf8')
  assert.equal(statSync(join(dataDir, 'development-secrets.json')).mode & 0o077, 0)
  assert.deepEqual(await service.stop(), { code: 0, signal: null })

  const second = await startService(t, { dataDir, env })
  assert.equal((await second.call('GET', tasks, { token })).status, 200)
  assert.equal((await second.call('GET', tasks)).status, 401, 'a token signed with another secret')
  assert.equal(readFileSync(join(dataDir, 'development-secrets.json'), 'utf8'), secrets)
})

/** The `node` a person has, as opposed to the one npm puts in front of it; the same where there is no other. */
function hostNode(): string {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const outside = folders.filter(folder => !folder.split(sep).includes('node_modules'))
  const found = spawnSync('sh', ['-c', 'command -v node'], {
    env: { PATH: outside.join(delimiter) },
    encoding: 'utf8',
  })
  return found.stdout.trim() || process.execPath
}
