// Secrets that are written at the same time. On PostgreSQL alone: PGlite runs one statement at a time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encryptedTables } from '../../src/encrypted-tables.ts'
import { createVault } from '../../src/features/secrets/index.ts'
import { reencryptTable } from '../../src/kernel/crypto-rotation.ts'
import { needsPostgres } from '../support/engine.ts'
import { setup } from '../support/setup.ts'

const base = '/api/v1/admin/secrets'
const env = { RATE_LIMIT_PER_MINUTE: '0' }
const ROUNDS = 25
const AT_ONCE = 8

test(
  'values that are put at the same time get versions one after another, and the last one stands',
  needsPostgres,
  async t => {
    const { call, ctx } = await setup(t, { env })
    for (let round = 1; round <= ROUNDS; round++) {
      const put = (value: string) => call('PUT', `${base}/round/r${round}`, { body: { value } })
      const values = Array.from({ length: AT_ONCE }, (_, i) => `value-${round}-${i}`)
      const answers = await Promise.all(values.map(put))
      assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(AT_ONCE - 1).fill(200), 201])
      const versions = answers.map(({ body }) => body.data.version)
      assert.deepEqual(
        versions.toSorted((a, b) => a - b),
        values.map((_, i) => i + 1),
      )
      const last = values[versions.indexOf(AT_ONCE)]!
      const { body } = await call('GET', `${base}/round%2Fr${round}`)
      assert.deepEqual([body.data.version, body.data.fingerprint], [AT_ONCE, ctx.vault.fingerprint(last)])
    }
  },
)

test(
  'of the same value put at the same time one counts, and of creations one succeeds',
  needsPostgres,
  async t => {
    const { call } = await setup(t, { env })
    for (let round = 1; round <= ROUNDS; round++) {
      const same = Array.from({ length: AT_ONCE }, () =>
        call('PUT', `${base}/same${round}`, { body: { value: 'v' } }),
      )
      for (const { body } of await Promise.all(same)) assert.equal(body.data.version, 1)
      const made = Array.from({ length: AT_ONCE }, () =>
        call('POST', base, { body: { name: `made${round}`, value: 'v' } }),
      )
      const statuses = (await Promise.all(made)).map(({ status }) => status).sort()
      assert.deepEqual(statuses, [201, ...Array(AT_ONCE - 1).fill(409)])
    }
  },
)

test(
  'puts and deletions at the same time all get an answer, and what stands afterwards is whole',
  needsPostgres,
  async t => {
    const { call, ctx } = await setup(t, { env })
    const name = 'provider_token/metering'
    for (let round = 1; round <= ROUNDS; round++) {
      const writes = Array.from({ length: AT_ONCE }, (_, i) =>
        i % 2 === 0
          ? call('PUT', `${base}/${name}`, { body: { value: `token-${round}-${i}` } })
          : call('DELETE', `${base}/${name}`),
      )
      for (const { status } of await Promise.all(writes))
        assert.ok([200, 201, 204, 404].includes(status), `${status}`)
      const { status, body } = await call('GET', `${base}/${name}`)
      await ctx.providerTokens.refresh()
      if (status === 200) assert.ok(body.data.readable && body.data.version <= AT_ONCE)
      assert.equal(ctx.providers.for('metering').absent === undefined, status === 200)
    }
  },
)

test(
  'values that are put while their table is re-encrypted stay as they were put',
  needsPostgres,
  async t => {
    const [OLD, NEW] = ['older-key-of-this-test-6f1d0c9a83b2', 'newer-key-of-this-test-b72e5d14f0c8']
    const { call, ctx } = await setup(t, { env: { ...env, SECRET_KEY: `${NEW},${OLD}` } })
    const names = Array.from({ length: 40 }, (_, i) => `s${i}`)
    const [older, newer] = [createVault([OLD]), createVault([NEW])]
    const [secrets] = encryptedTables([NEW, OLD])
    for (let round = 1; round <= 5; round++) {
      for (const name of names) await call('PUT', `${base}/${name}`, { body: { value: `first ${round}` } })
      for (const name of names) {
        const sealed = older.encrypt(name, `first ${round}`)
        await ctx.db.updateTable('secrets').set({ sealed }).where('name', '=', name).execute()
      }
      const put = names.filter((_, i) => i % 2 === 0)
      const [{ left, unreadable }] = await Promise.all([
        reencryptTable(ctx.db, secrets!, { atATime: 7 }),
        ...put.map(name => call('PUT', `${base}/${name}`, { body: { value: `second ${round}` } })),
      ])
      assert.deepEqual([left, unreadable], [0, 0])
      for (const { name, sealed, fingerprint } of await ctx.db.selectFrom('secrets').selectAll().execute()) {
        const value = `${put.includes(name) ? 'second' : 'first'} ${round}`
        assert.deepEqual([newer.decrypt(name, sealed), fingerprint], [value, newer.fingerprint(value)], name)
      }
    }
  },
)
