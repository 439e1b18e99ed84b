// Closing and adjusting a month: by several at once, stopped between batches, cut off in the middle of one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { closeMonths } from '../../src/features/metering/close-months.ts'
import { recordEvents } from '../../src/features/usage-events/record-events.ts'
import { needsPostgres } from '../support/engine.ts'
import { addon, deployment, plan } from '../support/factories.ts'
import { adjustDue, closeDue } from '../support/metering.ts'
import { type Bundle, setup, silentLog } from '../support/setup.ts'
import { event, meterOf } from '../support/usage-events.ts'

/** Subscriptions to one plan with an addon since the first of October, each with a day of a droplet; metered to its end. */
async function haveSubscriptions(bundle: Bundle, count: number): Promise<void> {
  const { clock, call, ctx } = bundle
  clock.set('2026-10-01T00:00:00Z')
  const items = [{ resource_kind: 'droplet', included_qty: 1, overage_unit: 'hour', overage_price_cents: 2 }]
  const body = { plan_code: await plan(bundle, { price: 3100, items }), addons: [await addon(bundle)] }
  const { id } = await deployment(bundle)
  const { status, text } = await call('POST', `/api/v1/deployments/${id}/subscribe`, { body })
  assert.equal(status, 201, text)
  const copies = sql`generate_series(2, ${count}::int) n`
  await sql`insert into cloud_deployments (id, tenant_id, slug, display_name, region, state, llm_mode,
      billing_action_suspended, created_at, updated_at)
    select uuid_v7(), 'tenant-' || n % 100, 'copy-' || n, 'copy', region, state, llm_mode, false, created_at, updated_at
    from cloud_deployments, ${copies}`.execute(ctx.db)
  await sql`insert into subscriptions (id, deployment_id, plan_version_id, status, current_period_start, current_period_end,
      created_at, updated_at)
    select uuid_v7(), d.id, s.plan_version_id, s.status, s.current_period_start, s.current_period_end, s.created_at, s.updated_at
    from subscriptions s, cloud_deployments d where d.slug like 'copy-%'`.execute(ctx.db)
  await sql`insert into subscription_terms (id, subscription_id, plan_version_id, valid_from)
    select uuid_v7(), s.id, s.plan_version_id, s.created_at from subscriptions s
    where not exists (select from subscription_terms t where t.subscription_id = s.id)`.execute(ctx.db)
  await sql`insert into subscription_addons (id, subscription_id, code, resource_kind, qty, price_cents, currency, quantity,
      created_at, valid_from)
    select uuid_v7(), s.id, a.code, a.resource_kind, a.qty, a.price_cents, a.currency, a.quantity, a.created_at, a.valid_from
    from subscription_addons a, subscriptions s where s.id <> a.subscription_id`.execute(ctx.db)
  const hours = sql`generate_series('2026-10-31T00:00:00Z'::timestamptz, '2026-10-31T23:00:00Z', interval '1 hour') h`
  await sql`insert into usage_hours (deployment_id, hour, kind, seconds, resources)
    select d.id, h, 'droplet', 7200, 2 from cloud_deployments d, ${hours}`.execute(ctx.db)
  await sql`insert into metered_hours (hour, metered_at) select h, h + interval '1 hour' from ${hours}`.execute(
    ctx.db,
  )
  await sql`analyze`.execute(ctx.db)
  clock.set('2026-11-04T00:05:00Z')
}

/** 3,100 and 500 cents, and a droplet beyond the one for a day, 24 hours at 2. */
const TOTAL = 3100 + 500 + 48

async function checkStatements({ ctx }: Bundle, count: number): Promise<void> {
  const { rows } = await sql<Record<string, number>>`
    select count(*)::int as all, count(distinct subscription_id)::int as subscriptions, min(ordinal) as first,
      max(ordinal) as last, min(total_cents)::int as least, max(total_cents)::int as most from statements`.execute(
    ctx.db,
  )
  const expected = { all: count, subscriptions: count, first: 1, last: count, least: TOTAL, most: TOTAL }
  assert.deepEqual({ ...rows[0] }, expected)
}

test(
  'several who close at once make one statement each, with numbers that have no gap',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    await haveSubscriptions(bundle, 100)
    const written = await Promise.all([7, 11, 13, 17].map(batch => closeDue(bundle, batch)))
    assert.equal(
      written.reduce((a, b) => a + b, 0),
      100,
    )
    await checkStatements(bundle, 100)
    const months = await bundle.ctx.db.selectFrom('closed_months').selectAll().execute()
    assert.deepEqual(
      months.map(({ period }) => period),
      ['2026-10-01'],
    )
  },
)

test(
  'late events from many senders while several adjust: each is on one statement, and all add up to what usage shows',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { call, clock, ctx } = bundle
    clock.set('2026-10-01T00:00:00Z')
    await meterOf(bundle, { code: 'llm_tokens', unit: 'token' })
    const items = [
      { resource_kind: 'llm_tokens', included_qty: 100, overage_unit: 'token', overage_price_cents: 3 },
    ]
    const plan_code = await plan(bundle, { price: 3100, items })
    const ids: string[] = []
    for (let i = 0; i < 5; i++) {
      const { id } = await deployment(bundle)
      const { status, text } = await call('POST', `/api/v1/deployments/${id}/subscribe`, {
        body: { plan_code },
      })
      assert.equal(status, 201, text)
      ids.push(id)
    }
    clock.set('2026-11-04T00:05:00Z')
    await sql`insert into metered_hours (hour, metered_at) values ('2026-10-31T23:00:00Z', now())`.execute(
      ctx.db,
    )
    assert.equal(await closeDue(bundle), 5)

    let adjusted = 0
    const adjust = async (batch: number) => {
      // Cut off now and then: what it did is undone, and somebody does it again.
      adjusted += await adjustDue(bundle, batch).catch(() => 0)
    }
    const kill = () =>
      sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 4005007 and granted
        and pid <> pg_backend_pid()`.execute(ctx.db)
    const sent = (sender: number, round: number) =>
      ids.map((id, index) =>
        event(id, {
          ...{ id: `${Math.floor(sender / 2)}-${round}-${index}`, time: '2026-10-20T00:00:00Z' },
          data: { value: 7 + index },
        }),
      )
    for (let round = 0; round < 12; round++)
      await Promise.all([
        // Every two of them send the same.
        ...[0, 1, 2, 3].map(sender => recordEvents(ctx, { allTenants: true }, sent(sender, round))),
        ...[adjust(1), adjust(2), adjust(500), kill()],
      ])
    await adjustDue(bundle)
    assert.equal(await adjustDue(bundle), 0)
    assert.ok(adjusted > 0)
    for (const [index, id] of ids.entries()) {
      const statements = await ctx.db
        .selectFrom('statements')
        .selectAll()
        .where('deployment_id', '=', id)
        .orderBy('sequence')
        .execute()
      assert.deepEqual(
        statements.map(({ sequence, adjusts }) => [sequence, adjusts]),
        statements.map((_, nth) => [nth + 1, nth === 0 ? null : statements[0]!.id]),
      )
      // 24 events, of which 100 tokens are included.
      const expected = 3100 + (24 * (7 + index) - 100) * 3
      const { body } = await call('GET', `/api/v1/deployments/${id}/usage?period=2026-10`)
      assert.equal(body.data.total_cents, expected)
      assert.equal(
        statements.reduce((sum, { total_cents }) => sum + Number(total_cents), 0),
        expected,
      )
    }
    const { rows } = await sql<{ all: number; last: number }>`
      select count(*)::int as all, max(ordinal) as last from statements`.execute(ctx.db)
    assert.equal(rows[0]!.all, rows[0]!.last, 'numbers without a gap')
    t.diagnostic(`${rows[0]!.all - 5} adjustments`)
  },
)

test(
  'a closing that is stopped in between and then cut off is taken up where it was: one statement each, no number left out',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { ctx } = bundle
    // Six batches.
    await haveSubscriptions(bundle, 3_000)
    // Told to stop: the batch that runs is the last.
    const stop = new AbortController()
    const clock = {
      asked: 0,
      now() {
        if (++this.asked === 4) stop.abort()
        return bundle.clock.now()
      },
    }
    const first = await closeMonths({ ...ctx, clock }, { signal: stop.signal, log: silentLog })
    assert.ok(first > 0 && first < 3_000, String(first))
    // Killed: whichever connection has the lock is cut while it works.
    const running = closeDue(bundle).catch((error: unknown) => error)
    for (let cut = false; !cut; ) {
      const { rows } = await sql<{ cut: boolean }>`select pg_terminate_backend(pid) as cut from pg_locks
        where locktype = 'advisory' and objid = 4005007 and granted and pid <> pg_backend_pid()`.execute(
        ctx.db,
      )
      cut = rows.length > 0
    }
    await running
    await closeDue(bundle)
    await checkStatements(bundle, 3_000)
  },
)
