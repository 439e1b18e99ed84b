import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { delimiter, join, sep } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { onEmbeddedAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http.ts'
import { lasting } from '../support/lasting.ts'
import {
  COLOUR,
  noSecrets,
  runCommand,
  type Service,
  startService,
  temporaryFolder,
} from '../support/process.ts'
import { tokenMaker } from '../support/tokens.ts'

// One service for the whole file, until it is killed, started as a newcomer has it: no configuration, no database, the
// host's own Node.
const tasks = '/api/v1/admin/scheduled_tasks'
const env = { ...noSecrets, NODE_ENV: undefined, LOG_LEVEL: 'warn' }
const tokens = tokenMaker(() => new Date())
/** Node's fetch takes as long to load as all of a command. */
const failsWithFetch = `--import=data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => { if (process.moduleLoadList.some(name => /undici/.test(name))) process.exitCode = 70 })",
)}`
const printedCurl = (output: string): string => /^curl .*$/m.exec(output)?.[0] ?? ''
const printedToken = (output: string): string => /Bearer ([^']+)'/.exec(output)?.[1] ?? ''

describe('the first start', () => {
  const file = lasting({ after })
  let dataDir: string
  let service: Service
  /** The one that runs now: one of the tests kills it and starts another. */
  let running: Service
  let secretsFile: string
  let secrets: string
  before(async () => {
    if (onEmbeddedAlone.skip) return
    dataDir = temporaryFolder(file)
    service = await startService(file, { dataDir, env, node: hostNode() })
    running = service
    secretsFile = join(dataDir, 'development-secrets.json')
    secrets = readFileSync(secretsFile, 'utf8')
  })
  const sign: Sign = sub =>
    tokens.raw(
      { sub, role: 'platform_admin', exp: Date.now() / 1000 + 600 },
      { secret: JSON.parse(secrets).JWT_SECRET },
    )

  test('without any configuration it answers health', onEmbeddedAlone, async () => {
    const { status, body } = await service.call('GET', '/api/health', { token: null })
    assert.deepEqual([status, body.data.status], [200, 'ok'])
  })

  test('the printed curl works as pasted', onEmbeddedAlone, async () => {
    const line = printedCurl(service.output())
    assert.match(line, /^curl -H 'Authorization: Bearer \S+' http:\/\/127\.0\.0\.1:\d+\/api\/v1\//)
    assert.ok(!service.output().includes(COLOUR))
    const hasCurl = spawnSync('curl', ['--version']).status === 0
    const answer = hasCurl
      ? JSON.parse((await promisify(execFile)('sh', ['-c', line])).stdout)
      : (await send('GET', line.slice(line.lastIndexOf(' ') + 1), { token: printedToken(line) })).body
    assert.ok(Array.isArray(answer.data))
    assert.ok('as_of' in answer)
  })

  test(
    'a second process on the same folder is refused by the pid of the first, which goes on',
    onEmbeddedAlone,
    async () => {
      // On its ports as well: the folder says more.
      const [PORT, MANAGEMENT_PORT] = [service.url, service.managementUrl].map(url => new URL(url).port)
      const { code, stderr } = await runCommand(['serve'], {
        env: { ...env, DATA_DIR: dataDir, PORT, MANAGEMENT_PORT },
        cwd: dataDir,
      })
      const { pid } = JSON.parse(readFileSync(join(dataDir, 'cloudops.lock'), 'utf8'))
      assert.equal(code, 1)
      assert.match(stderr, new RegExp(`is in use by process ${pid}\\.`))
      assert.doesNotMatch(stderr, /\n\s+at /)
      assert.equal((await service.call('GET', '/api/health')).status, 200)
    },
  )

  test('the command line lists the tasks of the running service and runs one', onEmbeddedAlone, async () => {
    const client = { env: { ...env, DATA_DIR: dataDir, PORT: new URL(service.url).port }, cwd: dataDir }
    const [list, run, unknown] = await Promise.all([
      runCommand(['tasks', 'list'], client),
      runCommand(['tasks', 'run', 'housekeeping', '--wait'], client),
      runCommand(['tasks', 'run', 'nothing'], client),
    ])
    assert.equal(list.code, 0, list.stderr)
    assert.match(list.stdout, /^NAME .*\n(.*\n)*housekeeping +41 3 \* \* \* +metering /)
    assert.ok(!list.stdout.includes(COLOUR))
    assert.equal(run.code, 0, run.stderr)
    assert.match(run.stdout, /^housekeeping: queued \(run [0-9a-f-]{36}\)\n(.*\n)*housekeeping: completed\n$/)
    assert.deepEqual([unknown.code, unknown.stdout], [1, ''])
    assert.match(unknown.stderr, /^404 not_found: /)
  })

  test(
    'a command needs a token and an address alone, also where production asks for secrets',
    onEmbeddedAlone,
    async t => {
      const cwd = temporaryFolder(t)
      const tokenFile = join(dataDir, 'development-token')
      assert.equal(statSync(tokenFile).mode & 0o077, 0)
      const given = { CLOUDOPS_URL: service.url, CLOUDOPS_TOKEN: readFileSync(tokenFile, 'utf8').trim() }
      const { code, stdout, stderr } = await runCommand(['call', 'GET', '/session', '--get', 'data.kind'], {
        env: { ...given, NODE_ENV: 'production', NODE_OPTIONS: failsWithFetch },
        cwd,
      })
      assert.deepEqual([code, stdout, stderr], [0, 'platform_admin\n', ''])
      assert.deepEqual(readdirSync(cwd), [])
    },
  )

  /** Twenty were run by hand; one keeps `npm test` short. */
  const ROUNDS = Number(process.env.KILL_ROUNDS ?? 1)

  test(
    'killed in the middle of writes it starts again each time, and nothing acknowledged is lost',
    onEmbeddedAlone,
    async t => {
      const written: Written = { pausedBy: new Set([null]), runs: new Set() }
      let acknowledged = 0
      for (let round = 0; round < ROUNDS; round++) {
        const writers = [
          pauseAndResume(running, written, sign, `round-${round}`),
          requestRuns(running, written, sign),
        ]
        const enough = 15 + Math.floor(Math.random() * 30)
        const counts = Promise.all(writers.map(writer => writer.until(enough)))
        await Promise.race(writers.map(writer => writer.reached))
        await running.kill()
        for (const count of await counts) acknowledged += count
        running = await startService(file, { dataDir, env })
        await everythingIsThere(running, written, sign)
      }
      t.diagnostic(`${ROUNDS} kills, ${acknowledged} writes acknowledged, ${written.runs.size} of them runs`)
    },
  )

  test('secrets are made once: after a restart an old token is still good', onEmbeddedAlone, async () => {
    assert.notEqual(running.pid, service.pid)
    assert.equal(readFileSync(secretsFile, 'utf8'), secrets)
    assert.equal(statSync(secretsFile).mode & 0o077, 0)
    const token = printedToken(service.output())
    assert.equal((await running.call('GET', tasks, { token })).status, 200)
    assert.equal((await running.call('GET', tasks)).status, 401, 'a token signed with another secret')
  })
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

const task = '/api/v1/admin/scheduled_tasks/housekeeping'

interface Written {
  /** Whose pause may stand: the last that was acknowledged, and the one that was under way when the process died. */
  pausedBy: Set<string | null>
  runs: Set<string>
}

/** A platform_admin's token in somebody's name. */
type Sign = (sub: string) => Promise<string>

async function everythingIsThere(service: Service, written: Written, sign: Sign): Promise<void> {
  const token = await sign('reader')
  const { body } = await service.call('GET', task, { token })
  assert.ok(written.pausedBy.has(body.data.paused_by), `paused by ${body.data.paused_by}`)
  for (const id of written.runs) {
    const { status } = await service.call('GET', `${task}/runs/${id}`, { token })
    assert.equal(status, 200, `run ${id} is there`)
  }
}

interface Writer {
  /** Resolves when the writer has had so many acknowledged. */
  reached: Promise<void>
  /** Writes until the process dies; how many writes were acknowledged. */
  until(enough: number): Promise<number>
}

function writer(write: (n: number) => Promise<boolean>): Writer {
  const reached = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    async until(enough) {
      let acknowledged = 0
      for (let n = 0; ; n++) {
        try {
          if (await write(n)) acknowledged++
        } catch {
          return acknowledged
        }
        if (acknowledged >= enough) reached.resolve()
      }
    },
  }
}

function pauseAndResume(service: Service, written: Written, sign: Sign, round: string): Writer {
  return writer(async n => {
    const pausing = n % 2 === 0
    const by = pausing ? `${round}-${n}` : null
    written.pausedBy.add(by)
    const token = await sign(by ?? round)
    const { status, body } = await service.call('POST', `${task}/${pausing ? 'pause' : 'resume'}`, { token })
    assert.equal(status, 200)
    // The first write of a round may meet a pause that the round before left standing; that one stays.
    written.pausedBy = new Set([body.data.paused_by])
    return true
  })
}

function requestRuns(service: Service, written: Written, sign: Sign): Writer {
  return writer(async () => {
    const token = await sign('requester')
    // The run before may not be done yet, or may have died with its process and not be known to be dead yet.
    const id = await eventually('a run is accepted', async () => {
      const { status, body } = await service.call('POST', `${task}/run`, { token })
      return status === 202 && body.data.id
    })
    written.runs.add(id)
    return true
  })
}
