// Budgets: several who look at once, and more than are recorded in one transaction.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { budget, charged, listen, look, show, told } from '../support/budgets.ts'
import { needsPostgres } from '../support/engine.ts'
import { setup } from '../support/setup.ts'

test(
  'of several workers that look at the same time each threshold is told by one',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    await listen(bundle)
    const deployment_id = await charged(bundle, 10_000)
    for (let made = 0; made < 20; made++) await budget(bundle, { deployment_id })
    const counts = await Promise.all(Array.from({ length: 6 }, () => look(bundle)))
    assert.equal(
      counts.reduce((a, b) => a + b, 0),
      60,
    )
    const keys = (await told(bundle)).map(({ data: { alert } }) =>
      [alert.budget_id, alert.percent, alert.on].join(),
    )
    assert.deepEqual([keys.length, new Set(keys).size], [60, 60])
  },
)

test(
  'a budget that is raised or deleted while it is looked at is not told by what it was',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { call } = bundle
    const deployment_id = await charged(bundle, 10_000)
    const ids: string[] = []
    for (let made = 0; made < 30; made++) ids.push((await budget(bundle, { deployment_id })).id)
    const change = async (id: string, index: number) => {
      const path = `/api/v1/budgets/${id}`
      const answer =
        index % 2
          ? await call('DELETE', path)
          : await call('PATCH', path, { body: { amount_minor: 1_000_000 } })
      assert.ok(answer.status < 300, answer.text)
    }
    await Promise.all([look(bundle), look(bundle), ...ids.map(change)])
    await look(bundle)
    for (const [index, id] of ids.entries())
      if (index % 2 === 0)
        assert.deepEqual(
          (await show(bundle, id)).thresholds.map((one: { reached_at: string | null }) => one.reached_at),
          [null, null, null],
        )
  },
)

test('thousands of budgets are all looked at, each threshold told once', needsPostgres, async t => {
  const bundle = await setup(t)
  const { ctx } = bundle
  await charged(bundle, 10_000)
  await sql`insert into cloud_deployments (id, tenant_id, slug, display_name, region, state, llm_mode,
      billing_action_suspended, created_at, updated_at)
    select uuid_v7(), 'tenant-' || n, 'copy-' || n, 'copy', region, state, llm_mode, false, created_at, updated_at
    from cloud_deployments, generate_series(1, 800) n`.execute(ctx.db)
  await sql`insert into subscriptions (id, deployment_id, plan_version_id, status, current_period_start, current_period_end,
      created_at, updated_at)
    select uuid_v7(), d.id, s.plan_version_id, s.status, s.current_period_start, s.current_period_end, s.created_at, s.updated_at
    from subscriptions s, cloud_deployments d where d.slug like 'copy-%'`.execute(ctx.db)
  await sql`insert into subscription_terms (id, subscription_id, plan_version_id, valid_from)
    select uuid_v7(), s.id, s.plan_version_id, s.created_at from subscriptions s
    where not exists (select from subscription_terms t where t.subscription_id = s.id)`.execute(ctx.db)
  await budget(bundle, { tenant_id: 'acme' })
  await sql`insert into budgets (id, name, tenant_id, deployment_id, measure, amount_minor, currency, thresholds, created_by,
      created_at, updated_at)
    select uuid_v7(), 'copy', d.tenant_id, case when n = 1 then d.id end, b.measure, b.amount_minor, b.currency, b.thresholds,
      b.created_by, b.created_at, b.updated_at
    from budgets b, cloud_deployments d, generate_series(1, 2) n where d.slug like 'copy-%'`.execute(ctx.db)
  await sql`analyze`.execute(ctx.db)
  // One of the tenant and two of each copy, with three thresholds each.
  assert.equal(await look(bundle), 3 * (1 + 2 * 800))
  assert.equal(await look(bundle), 0)
})
