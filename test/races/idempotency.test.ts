// Requests under one Idempotency-Key that come together. On PostgreSQL alone: PGlite runs one statement at a time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { buildApp } from '../../src/app.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { needsPostgres } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { setup } from '../support/setup.ts'

const ROUNDS = 200
const TOGETHER = 20

test(
  'of twenty requests with one Idempotency-Key one is done, and all get its answer',
  needsPostgres,
  async t => {
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
  },
)

test(
  'of twenty requests that find what a dead process of an older release began, one is done',
  needsPostgres,
  async t => {
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
  },
)

test(
  'two nodes whose clocks are five minutes apart do one request once, also while it is under way',
  needsPostgres,
  async t => {
    const { ctx, url, tokens, clock } = await setup(t)
    const ahead = { now: () => new Date(clock.now().getTime() + 300_000) }
    const other = await buildApp({ ...ctx, clock: ahead })
    t.after(() => other.close())
    const urls = [url, await other.listen({ host: '127.0.0.1', port: 0 })]
    const authorization = `Bearer ${await tokens.tenant('acme', { sub: 'alice' })}`
    const create = async (node: string) => {
      const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'k' }
      const answer = await fetch(`${node}/api/v1/users/alice/api_keys`, {
        method: 'POST',
        headers,
        body: '{}',
      })
      return { status: answer.status, text: await answer.text() }
    }
    const locked = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    // Held at its insert, the first is under way until it is let go.
    const holding = transaction(ctx.db, async tx => {
      await sql`lock table api_keys in share row exclusive mode`.execute(tx)
      locked.resolve()
      await release.promise
    })
    await locked.promise
    const first = create(urls[0]!)
    await eventually('the first waits', async () => {
      const { rows } =
        await sql`select 1 from pg_locks where not granted and relation = 'api_keys'::regclass`.execute(
          ctx.db,
        )
      return rows.length === 1
    })
    const second = create(urls[1]!)
    await eventually('the second asks for the key', async () => {
      const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
      where query like '%pg_try_advisory_xact_lock%' and datname = current_database()`.execute(ctx.db)
      return rows[0]!.n >= 1
    })
    release.resolve()
    await holding
    const [one, two] = await Promise.all([first, second])
    assert.deepEqual([one.status, two], [201, one])
    for (const node of [...urls, ...urls]) assert.deepEqual(await create(node), one)
    const { n } = await ctx.db
      .selectFrom('api_keys')
      .select(eb => eb.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
    assert.equal(n, 1)
  },
)
