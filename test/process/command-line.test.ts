import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { freePort } from '../../scripts/free-port.ts'
import { onEmbeddedAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http.ts'
import type { Owner } from '../support/lasting.ts'
import {
  COLOUR,
  preparedFolder,
  runCommand,
  secrets,
  spawnService,
  temporaryFolder,
} from '../support/process.ts'

const commands = ['serve', 'api', 'worker', 'migrate', 'config', 'token', 'tasks', 'import', 'secrets']

test(
  'every command explains itself, without colours where there is no terminal',
  onEmbeddedAlone,
  async () => {
    for (const name of commands) {
      const { code, stdout, stderr } = await runCommand([name, '--help'])
      assert.deepEqual([code, stderr], [0, ''], name)
      assert.match(stdout, new RegExp(`^usage: cloudops ${name}`))
      assert.ok(!stdout.includes(COLOUR))
    }
    const { code, stdout } = await runCommand(['--help'])
    assert.equal(code, 0)
    for (const name of commands) assert.match(stdout, new RegExp(`^  ${name} `, 'm'))
    assert.ok(!stdout.includes(COLOUR))
  },
)

test('words it does not know end it with 2, and say what would be right', onEmbeddedAlone, async () => {
  const wrong: [string[], RegExp][] = [
    [['nonsense'], /no command nonsense/],
    [['constructor'], /no command constructor/],
    [['serve', '--nonsense'], /--nonsense.*usage: cloudops serve/s],
    [['serve', 'now'], /takes no arguments/],
    [['migrate', 'down'], /`status`/],
    [['secrets'], /`reencrypt`/],
    [['tasks'], /`list`/],
    [['tasks', 'run'], /`run`/],
    [['token', '--hours', 'many'], /--hours/],
  ]
  for (const [args, message] of wrong) {
    const { code, stdout, stderr } = await runCommand(args, { env: secrets })
    assert.deepEqual([code, stdout], [2, ''], args.join(' '))
    assert.match(stderr, message)
    assert.doesNotMatch(stderr, /\n\s+at /, 'no stack')
  }
})

test(
  'every problem of the configuration is reported at once, by its variable’s name',
  onEmbeddedAlone,
  async t => {
    const env = {
      PORT: 'http',
      DATABASE_URL: 'mysql://host/database',
      JWT_SECRET: 'short',
      LOG_LEVEL: 'loud',
      SHUTDOWN_GRACE_SECONDS: '0',
    }
    const { code, stdout, stderr } = await runCommand(['serve'], { env, cwd: temporaryFolder(t) })
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^The configuration has 5 problems:\n/)
    for (const name of Object.keys(env)) assert.match(stderr, new RegExp(`^  - ${name} `, 'm'))
    assert.doesNotMatch(stderr, /\n\s+at /, 'no stack')
  },
)

test('production starts with no secret missing or weak, and makes no tokens', onEmbeddedAlone, async t => {
  const cwd = temporaryFolder(t)
  const run = (args: string[], env: Record<string, string>) =>
    runCommand(args, { env: { NODE_ENV: 'production', ...env }, cwd })
  const missing = await run(['serve'], {})
  assert.equal(missing.code, 1)
  for (const name of Object.keys(secrets))
    assert.match(missing.stderr, new RegExp(`^  - ${name} must be set`, 'm'))

  assert.match(missing.stderr, /^ {2}- DATABASE_URL must be set/m)

  const DATABASE_URL = 'postgres://127.0.0.1:9/none'
  const weak = await run(['serve'], { ...secrets, DATABASE_URL, SECRET_KEY: 'a'.repeat(40) })
  assert.equal(weak.code, 1)
  assert.match(weak.stderr, /SECRET_KEY has too few different characters/)

  const token = await run(['token'], { ...secrets, DATABASE_URL })
  assert.deepEqual([token.code, token.stdout], [1, ''])
  assert.match(token.stderr, /in production this one makes none/)
})

/** Something that takes connections and says nothing. */
async function silentServer(owner: Owner): Promise<{ port: string; connections(): number }> {
  let connections = 0
  const server = createServer(() => {
    connections++
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  owner.after(() => void server.close())
  return { port: String((server.address() as AddressInfo).port), connections: () => connections }
}

test(
  'a taken port is told in one line, before a database is opened or a folder made',
  onEmbeddedAlone,
  async t => {
    const [taken, database] = [await silentServer(t), await silentServer(t)]
    const cwd = temporaryFolder(t)
    const DATA_DIR = join(cwd, 'data')
    const free = String(await freePort())
    for (const variable of ['PORT', 'MANAGEMENT_PORT'])
      for (const DATABASE_URL of [undefined, `postgres://127.0.0.1:${database.port}/x`]) {
        const ports = { PORT: free, MANAGEMENT_PORT: '0', [variable]: taken.port }
        const { code, stdout, stderr } = await runCommand(['serve'], {
          env: { ...secrets, DATA_DIR, DATABASE_URL, ...ports },
          cwd,
        })
        const advice = `stop it, or set ${variable} to another one.\n`
        const line = `The port is taken: 127.0.0.1:${taken.port}. Another process listens there: ${advice}`
        assert.deepEqual([code, stdout, stderr], [1, '', line])
      }
    assert.deepEqual([database.connections(), readdirSync(cwd)], [0, []])

    const same = await runCommand(['serve'], { env: { ...secrets, PORT: free, MANAGEMENT_PORT: free }, cwd })
    assert.equal(same.code, 1)
    assert.match(same.stderr, /MANAGEMENT_PORT is \d+, as PORT is/)
  },
)

test(
  'a service that waits for its database says on both ports that it is starting',
  onEmbeddedAlone,
  async t => {
    const database = await silentServer(t)
    const env = { DATABASE_URL: `postgres://127.0.0.1:${database.port}/x`, DIGITALOCEAN_TOKEN: 'x' }
    const { url, managementUrl } = await spawnService(t, { env })
    for (const address of [`${url}/api/health`, `${managementUrl}/ready`]) {
      const answer = await eventually('it answers', () => send('GET', address).catch(() => undefined))
      assert.deepEqual([answer!.status, answer!.body.code], [503, 'starting'])
      assert.deepEqual(
        [answer!.headers.get('retry-after'), answer!.headers.get('connection')],
        ['1', 'close'],
      )
    }
  },
)

test(
  'a misspelt variable is told with the likely one, from the environment and from .env',
  onEmbeddedAlone,
  async t => {
    const cwd = temporaryFolder(t)
    writeFileSync(join(cwd, '.env'), '\ufeffPORT="4105"\nexport MANAGMENT_PORT=0\nPORT=4205\n')
    const env = { ...secrets, DATBASE_URL: 'postgres://ops:geheim@db/x' }
    const { code, stdout, stderr } = await runCommand(['config'], { env, cwd })
    assert.equal(code, 0)
    assert.match(stdout, /^PORT +4205 +\.env$/m)
    assert.equal(
      stderr,
      [
        'warning: .env sets PORT more than once: the last one counts',
        'warning: DATBASE_URL is no variable of this service: DATABASE_URL is, and is not set',
        'warning: MANAGMENT_PORT is no variable of this service: MANAGEMENT_PORT is, and is not set',
        '',
      ].join('\n'),
    )
  },
)

test(
  'a command makes no folder where it is called, and says where a token comes from',
  onEmbeddedAlone,
  async t => {
    const cwd = temporaryFolder(t)
    const run = (args: string[], env = {}) => runCommand(args, { env, cwd })
    const [config, token, tasks] = await Promise.all([
      run(['config']),
      run(['token']),
      run(['tasks', 'list']),
    ])
    assert.deepEqual([config.code, config.stderr], [0, ''])
    assert.match(config.stdout, /^JWT_SECRET +not set$/m)
    assert.deepEqual([token.code, token.stdout], [1, ''])
    assert.match(token.stderr, /^There is nothing to sign with: start the service here once/)
    assert.deepEqual([tasks.code, tasks.stdout], [1, ''])
    assert.match(tasks.stderr, /^There is no token: no service has left one in \.\/data\./)
    assert.deepEqual(readdirSync(cwd), [])
  },
)

test('re-encrypting says what it has done, table by table', onEmbeddedAlone, async t => {
  const env = { ...secrets, DATA_DIR: preparedFolder(t), SECRET_KEY: `a-new-key,${secrets.SECRET_KEY}` }
  const { code, stdout, stderr } = await runCommand(['secrets', 'reencrypt'], { env })
  assert.deepEqual([code, stderr], [0, ''])
  for (const name of ['secrets', 'webhooks', 'storage_backends', 'idempotency_keys'])
    assert.match(stdout, new RegExp(`^${name} +0 +0 +0$`, 'm'))
  assert.match(stdout, /The others may be removed\.\n$/)
})

test('the configuration is shown with its secrets masked', onEmbeddedAlone, async t => {
  const env = {
    ...secrets,
    DATABASE_URL: 'postgres://ops:geheim-wort@db.internal:5432/cloudops',
    DIGITALOCEAN_TOKEN: 'dop_v1_not_to_be_seen',
    CLOUDOPS_TOKEN: 'not.to.be.seen.either',
  }
  const cwd = temporaryFolder(t)
  for (const args of [['config'], ['config', '--json']]) {
    const { code, stdout, stderr } = await runCommand(args, { env, cwd })
    assert.deepEqual([code, stderr], [0, ''])
    for (const name of Object.keys(env)) assert.match(stdout, new RegExp(name))
    for (const text of [...Object.values(env), 'geheim-wort']) assert.ok(!stdout.includes(text), text)
    assert.match(stdout, /postgres:\/\/\*{8}/)
    for (const part of ['ops', 'db.internal', '5432']) assert.ok(!stdout.includes(part), part)
    assert.ok(!stdout.includes(COLOUR))
  }
})

test(
  'without a service the task commands say that none answers, and where they looked',
  onEmbeddedAlone,
  async t => {
    const cwd = temporaryFolder(t)
    const env = { ...secrets, CLOUDOPS_URL: 'http://127.0.0.1:9' }
    for (const args of [
      ['tasks', 'list'],
      ['tasks', 'run', 'housekeeping', '--wait'],
    ]) {
      const { code, stdout, stderr } = await runCommand(args, { env, cwd })
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, /^No service answers at http:\/\/127\.0\.0\.1:9\. Start it with `npm start`/)
    }
  },
)
