// How a process learns of the queues' tokens: it looks every five seconds, or when it is told to; without a database.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { watchProviderTokens } from '../../src/features/secrets/provider-tokens.ts'
import type { Executor } from '../../src/kernel/db/tables.ts'
import { createLog } from '../../src/kernel/log.ts'
import { createVault } from '../../src/kernel/vault.ts'

type Row = { name: string; sealed: string }
const vault = createVault(['k'.repeat(32)])
const secret = (name: string, value: string, keys = vault): Row => ({
  name,
  sealed: keys.encrypt(name, value),
})
const turn = () => new Promise(resolve => setImmediate(resolve))

/** A database that answers as the test says. */
async function watch(t: TestContext, first: Row[]) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const used: Record<string, string>[] = []
  const lines: { level: number; name?: string; queues?: string[]; msg: string }[] = []
  const log = createLog('debug', { write: line => void lines.push(JSON.parse(line)) })
  const database = { rows: first, looks: 0, answer: async (rows: Row[]) => rows }
  const read = () => {
    database.looks += 1
    return database.answer(database.rows)
  }
  const db = { executeQuery: async () => ({ rows: await read() }) } as unknown as Executor
  const tokens = await watchProviderTokens({ db, log, vault }, next => used.push(Object.fromEntries(next)))
  t.after(() => tokens.close())
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms)
    await turn()
  }
  return { tokens, database, used, lines, pass }
}

test('tokens are there from the start, a change is used five seconds later, and what stays is not told again', async t => {
  const first = [secret('provider_token/metering', 'one')]
  const { database, used, lines, pass, tokens } = await watch(t, first)
  assert.deepEqual(used, [{ metering: 'one' }])
  await pass(4_999)
  assert.equal(database.looks, 1)
  await pass(1)
  assert.deepEqual([database.looks, used.length], [2, 1])
  database.rows = [...first, secret('provider_token/cloud_billing', 'two')]
  await pass(5_000)
  database.rows = []
  await pass(5_000)
  assert.deepEqual(used.slice(1), [{ metering: 'one', cloud_billing: 'two' }, {}])
  assert.deepEqual(
    lines.map(({ level, queues }) => [level, queues]),
    [
      [30, ['metering']],
      [30, ['metering', 'cloud_billing']],
      [30, []],
    ],
  )
  await tokens.close()
  await pass(60_000)
  assert.equal(database.looks, 4, 'nobody looks any more')
})

test('a token that cannot be read is left out and said once, as long as it is the same one', async t => {
  const other = createVault(['l'.repeat(32)])
  const foreign = secret('provider_token/metering', 'one', other)
  const unknown = secret('provider_token/retired_queue', 'three')
  const { database, used, lines, tokens } = await watch(t, [foreign, unknown])
  database.rows = [foreign, secret('provider_token/cloud_billing', 'two')]
  await tokens.refresh()
  database.rows = [secret('provider_token/metering', 'one', other)]
  await tokens.refresh()
  assert.deepEqual(used, [{}, { cloud_billing: 'two' }, {}])
  const loud = lines.filter(({ level }) => level === 50)
  assert.deepEqual(
    loud.map(({ name }) => name),
    ['provider_token/metering', 'provider_token/metering'],
  )
  assert.match(loud[0]!.msg, /^A PROVIDER TOKEN CANNOT BE READ: .*SECRET_KEY.*DIGITALOCEAN_TOKEN/)
})

test('looks come one after another, none piles up behind a database that is slow, and one that fails changes nothing', async t => {
  const { database, used, lines, pass, tokens } = await watch(t, [])
  const slow = Promise.withResolvers<Row[]>()
  database.answer = () => slow.promise
  await pass(5_000)
  await pass(15_000)
  assert.equal(database.looks, 2)
  const asked = tokens.refresh()
  database.answer = async () => [secret('provider_token/metering', 'newer')]
  slow.resolve([secret('provider_token/metering', 'older')])
  await asked
  assert.deepEqual(used, [{ metering: 'older' }, { metering: 'newer' }], 'nothing is told of nothing')

  database.answer = async () => {
    throw new Error('away')
  }
  await tokens.refresh()
  assert.deepEqual([used.length, lines.at(-1)!.level], [2, 40])
  database.answer = async () => []
  await pass(5_000)
  assert.deepEqual(used.at(-1), {})
})

test('a start that cannot look fails', async () => {
  const executeQuery = () => Promise.reject(new Error('away'))
  const parts = { db: { executeQuery } as unknown as Executor, log: createLog('silent'), vault }
  await assert.rejects(
    watchProviderTokens(parts, () => assert.fail()),
    /away/,
  )
})
