// Requests under one Idempotency-Key that come together. On PostgreSQL alone: PGlite runs one statement at a time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgres } from '../support/database.ts'
import { setup } from '../support/setup.ts'

const ROUNDS = 200
const TOGETHER = 20

if (onPostgres) {
  test('of twenty requests with one Idempotency-Key one is done, and all get its answer', async t => {
    const { call, ctx, tokens } = await setup(t, { env: { RATE_LIMIT_PER_MINUTE: '0' } })
    const token = await tokens.tenant('acme', { sub: 'alice' })
    for (let round = 1; round <= ROUNDS; round++) {
      const headers = { 'idempotency-key': `round-${round}` }
      const body = { description: `round ${round}` }
      const answers = await Promise.all(
        Array.from({ length: TOGETHER }, () =>
          call('POST', '/api/v1/users/alice/api_keys', { token, headers, body }),
        ),
      )
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]), `round ${round}`)
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1, `round ${round}`)
      const first = answers.filter(({ headers }) => !headers.has('idempotency-replayed'))
      assert.equal(first.length, 1, `round ${round}`)
    }
    const { n } = await ctx.db
      .selectFrom('api_keys')
      .select(eb => eb.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
    assert.equal(n, ROUNDS)
  })

  test('of twenty requests that find what a dead process of an older release began, one is done', async t => {
    const { call, ctx, tokens } = await setup(t, { env: { RATE_LIMIT_PER_MINUTE: '0' } })
    const token = await tokens.tenant('acme', { sub: 'alice' })
    const send = (key: string) =>
      call('POST', '/api/v1/users/alice/api_keys', { token, headers: { 'idempotency-key': key }, body: {} })
    for (let round = 1; round <= 50; round++) {
      const key = `round-${round}`
      const { body } = await send(key)
      await ctx.db
        .updateTable('idempotency_keys')
        .set({
          finished_at: null,
          answer: null,
          status: null,
          started_at: new Date(Date.now() - 120_000).toISOString(),
        })
        .where('key', '=', key)
        .execute()
      const answers = await Promise.all(Array.from({ length: TOGETHER }, () => send(key)))
      const made = new Set(answers.map(answer => answer.body.data.key_id))
      assert.equal(made.size, 1, `round ${round}`)
      assert.ok(!made.has(body.data.key_id))
    }
  })
}
