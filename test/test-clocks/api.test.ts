// Test clocks: a tenant's months go by in a moment, and nobody else's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createContext } from '../../src/context.ts'
import { lookAtBudgets } from '../../src/features/budgets/look.ts'
import { adjustMonths } from '../../src/features/metering/adjust-months.ts'
import { moveClock } from '../../src/features/test-clocks/jobs.ts'
import { needsPostgres, onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { addon, deployment, plan } from '../support/factories.ts'
import { closeDue, meter, tied, usageRows } from '../support/metering.ts'
import { type Bundle, setup, silentLog } from '../support/setup.ts'
import { jobPart } from '../support/sweep.ts'
import { advance, arrive, testClock } from '../support/test-clocks.ts'
import { event, meterOf, send } from '../support/usage-events.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers
type Any = any

const base = '/api/v1/test-clocks'
const path = (id: string) => `/api/v1/deployments/${id}`
const subscribe = async ({ call }: Bundle, id: string, body: object) => {
  const { status, text } = await call('POST', `${path(id)}/subscribe`, { body })
  assert.equal(status, 201, text)
}
const get = async ({ call }: Bundle, url: string, token?: string): Promise<Any> => {
  const { status, body, text } = await call('GET', url, { token })
  assert.equal(status, 200, text)
  return body.data
}

const droplets = { resource_kind: 'droplet', included_qty: 0, overage_unit: 'hour', overage_price_cents: 3 }

/** Of a tenant a deployment with one droplet at 3 cents an hour, and 3,000 cents a month. */
async function customer(bundle: Bundle, tenantId: string, code: string, terms: object = {}) {
  const { id } = await deployment(bundle, tenantId)
  await subscribe(bundle, id, { plan_code: code, ...terms })
  await tied(bundle, '2026-11-15T12:00:00Z', 'droplet', `web-${tenantId}`, id)
  return id
}

/** Number, total and when it was closed, oldest first. */
const statements = async (bundle: Bundle, id: string) =>
  (await get(bundle, `${path(id)}/statements`))
    .map(({ number, total_cents, closed_at }: Any) => [number, total_cents, closed_at])
    .reverse()

const WINTER = [
  ['test-2027-01-000001', 1194, '2027-02-04T00:00:00.000Z'],
  ['test-2027-02-000001', 5016, '2027-03-04T00:00:00.000Z'],
  ['test-2027-03-000001', 5232, '2027-04-04T00:00:00.000Z'],
]

test('a quarter goes by in a moment: hours are metered, the trial ends, periods roll and months close, to the cent', async t => {
  const bundle = await setup(t, { worker: true })
  const { call, tokens } = bundle
  const code = await plan(bundle, { price: 3000, items: [droplets] })
  const clock = await testClock(bundle, 'acme', '2027-01-15T10:20:00Z')
  const id = await customer(bundle, 'acme', code, { trial_ends_at: '2027-02-01T00:00:00Z' })
  const made = await get(bundle, path(id))
  assert.equal(made.created_at, '2027-01-15T10:00:00.000Z')
  assert.equal(made.subscription.current_period_end, '2027-01-31')

  const asked = await call('POST', `${base}/${clock}/advance`, { body: { months: 3 } })
  assert.deepEqual([asked.status, asked.body.data.target], [202, '2027-04-15T10:00:00.000Z'])
  const arrived = await eventually('the clock has arrived', async () => {
    const { status, now } = await get(bundle, `${base}/${clock}`)
    return status === 'ready' && now
  })
  assert.equal(arrived, '2027-04-15T10:00:00.000Z')
  // 398 hours of January at 3 and no base in the trial; 672 and 744 hours and 3,000 each.
  assert.deepEqual(await statements(bundle, id), WINTER)
  const { subscription } = await get(bundle, path(id))
  assert.deepEqual(
    [subscription.current_period_start, subscription.current_period_end],
    ['2027-04-01', '2027-04-30'],
  )
  // The running month, as the tenant sees it: 346 hours so far, and 374 to come.
  const usage = await get(bundle, `${path(id)}/usage`, await tokens.tenant('acme'))
  assert.deepEqual(
    [usage.period, usage.metered_until, usage.total_cents, usage.forecast_cents],
    ['2027-04', '2027-04-15T10:00:00.000Z', 3000 + 346 * 3, 3000 + 720 * 3],
  )
  const march = await get(bundle, `${path(id)}/usage?period=2027-03`)
  assert.deepEqual([march.total_cents, march.metered_until], [5232, '2027-04-01T00:00:00.000Z'])
  // What really happened has the time at which it did.
  const entries = await get(bundle, '/api/v1/admin/audit_log?subject_type=test_clocks')
  assert.deepEqual(
    entries.map(({ action, operation, at }: Any) => [action, operation, at.slice(0, 4)]),
    [
      ['updated', 'advanceTestClock', String(new Date().getFullYear())],
      ['created', 'createTestClock', String(new Date().getFullYear())],
    ],
  )
})

test('nobody else’s time moves: another tenant’s deployment, usage, statements and numbers are what they were', async t => {
  const bundle = await setup(t)
  const { clock: service } = bundle
  const code = await plan(bundle, { price: 3000, items: [droplets] })
  const other = await customer(bundle, 'globex', code)
  service.set('2026-11-20T12:10:00Z')
  await meter(bundle)
  const seen = async () => [
    await get(bundle, path(other)),
    await get(bundle, `${path(other)}/usage`),
    await statements(bundle, other),
    (await usageRows(bundle)).filter(([id]) => id === other),
  ]
  const before = await seen()
  const clock = await testClock(bundle, 'acme', '2026-09-15T10:00:00Z')
  const own = await deployment(bundle)
  await subscribe(bundle, own.id, { plan_code: code })
  await advance(bundle, clock, { months: 6 })
  assert.equal((await statements(bundle, own.id)).length, 6)
  assert.deepEqual(await seen(), before)
  const { rows } = await sql<{ hours: number; months: number }>`
    select (select count(*)::int from metered_hours where hour >= '2026-11-20T12:00Z') as hours,
      (select count(*)::int from closed_months) as months`.execute(bundle.ctx.db)
  assert.deepEqual(rows, [{ hours: 0, months: 0 }])

  // The service's own months go on as if there were no clock, and its numbers have no gap.
  service.set('2026-12-04T00:10:00Z')
  await meter(bundle)
  assert.equal(await closeDue(bundle), 1)
  // 384 hours since the 15th at noon, and 3,000 × 1,339,201 s of 2,592,000 (from 11:59:59 on, when it subscribed at noon).
  const [statement] = await statements(bundle, other)
  assert.deepEqual(statement.slice(0, 1), ['2026-11-000001'])
  assert.equal((await statements(bundle, own.id)).length, 6)
})

test('a move that is interrupted goes on where it was, and comes to the same', onPostgresAlone, async t => {
  const bundle = await setup(t)
  const { call, ctx } = bundle
  const code = await plan(bundle, { price: 3000, items: [droplets] })
  const clock = await testClock(bundle, 'acme', '2027-01-15T10:00:00Z')
  const id = await customer(bundle, 'acme', code, { trial_ends_at: '2027-02-01T00:00:00Z' })
  await call('POST', `${base}/${clock}/advance`, { body: { months: 3 } })
  const stop = new AbortController()
  const log = { ...silentLog, info: () => stop.abort() } as typeof silentLog
  await moveClock(ctx, clock, { signal: stop.signal, log })
  const halfway = await get(bundle, `${base}/${clock}`)
  assert.deepEqual([halfway.status, halfway.now], ['advancing', '2027-02-04T00:00:00.000Z'])
  assert.deepEqual(await statements(bundle, id), WINTER.slice(0, 1))
  // Asked again for the same time, or by a job that was put back.
  const again = await call('POST', `${base}/${clock}/advance`, { body: { to: '2027-04-15T10:00:00Z' } })
  assert.equal(again.status, 202, again.text)
  await arrive(bundle, clock)
  await arrive(bundle, clock)
  assert.deepEqual(await statements(bundle, id), WINTER)
  assert.equal((await get(bundle, `${path(id)}/usage`)).total_cents, 3000 + 346 * 3)
})

test(
  'two who move a clock at once meter every hour once and close every month once',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const code = await plan(bundle, { price: 3000, items: [droplets] })
    const clock = await testClock(bundle, 'acme', '2027-01-15T10:00:00Z')
    const id = await customer(bundle, 'acme', code, { trial_ends_at: '2027-02-01T00:00:00Z' })
    await bundle.call('POST', `${base}/${clock}/advance`, { body: { months: 3 } })
    await Promise.all([1, 2, 3].map(() => arrive(bundle, clock)))
    assert.deepEqual(await statements(bundle, id), WINTER)
  },
)

test('usage events count by the clock: without a time at its time, late in a month that it has closed, and none of its future', async t => {
  const bundle = await setup(t)
  await meterOf(bundle, { code: 'llm_tokens' })
  const clock = await testClock(bundle, 'acme', '2027-01-15T10:00:00Z')
  const own = await deployment(bundle)
  const other = await deployment(bundle, 'globex')
  const at = (subject: string, id: string, time?: string) => event(subject, { id, time })
  const told = await send(bundle, [
    at(own.id, 'a'),
    at(own.id, 'b', '2027-01-10T00:00:00Z'),
    at(own.id, 'c', '2027-01-16T00:00:00Z'),
    at(other.id, 'd'),
    at(other.id, 'e', '2027-01-10T00:00:00Z'),
  ])
  assert.deepEqual(
    [told.new, told.refused.map(({ id, code }: Any) => [id, code])],
    [
      3,
      [
        ['c', 'time_in_the_future'],
        ['e', 'time_in_the_future'],
      ],
    ],
  )
  const used = async (id: string, period?: string) =>
    (await get(bundle, `${path(id)}/usage${period ? `?period=${period}` : ''}`)).meters[0].used
  assert.deepEqual([await used(own.id), await used(other.id)], ['2', '1'])
  await advance(bundle, clock, { months: 1 })
  await send(bundle, [at(own.id, 'f'), at(own.id, 'g', '2027-01-20T00:00:00Z')])
  assert.deepEqual([await used(own.id), await used(own.id, '2027-01')], ['1', '3'])
  const { rows } = await sql`select month::text from late_usage`.execute(bundle.ctx.db)
  assert.deepEqual(rows, [{ month: '2027-01-01' }])
})

test(
  'budgets trip on the day on which the clock reaches them, each month anew, and nobody else’s do',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { call, ctx } = bundle
    const code = await plan(bundle, { price: 1000, items: [droplets] })
    const clock = await testClock(bundle, 'acme', '2027-02-01T00:00:00Z')
    await customer(bundle, 'acme', code)
    const budget = async (tenant_id: string | undefined, amount_minor: number) => {
      const thresholds = [{ percent: 100, on: 'actual' }]
      const body = { name: `of ${tenant_id}`, tenant_id, amount_minor, measure: 'charge', thresholds }
      const { status, body: made, text } = await call('POST', '/api/v1/budgets', { body })
      assert.equal(status, 201, text)
      return made.data.id
    }
    const own = await budget('acme', 2000)
    const account = await budget(undefined, 2000)
    await advance(bundle, clock, { to: '2027-03-20T00:00:00Z' })
    // 1,000 and 72 a day: 2,008 after fourteen days.
    const alerts = await get(bundle, `/api/v1/budgets/${own}/alerts`)
    assert.deepEqual(
      alerts.map(({ period, reached_minor, reached_at }: Any) => [period, reached_minor, reached_at]),
      [
        ['2027-03', 2008, '2027-03-15T00:00:00.000Z'],
        ['2027-02', 2008, '2027-02-15T00:00:00.000Z'],
      ],
    )
    const shown = await get(bundle, `/api/v1/budgets/${own}`)
    assert.deepEqual([shown.period, shown.actual_minor], ['2027-03', 1000 + 19 * 72])
    const [listed] = await get(bundle, '/api/v1/budgets?tenant_id=acme')
    assert.deepEqual(listed, shown)
    // The service's own look leaves the tenant to its clock, and its charges out of the account's.
    bundle.clock.set('2027-02-20T00:00:00Z')
    await lookAtBudgets(ctx, jobPart())
    assert.deepEqual(await get(bundle, `/api/v1/budgets/${account}/alerts`), [])
    assert.equal((await get(bundle, `/api/v1/budgets/${account}`)).actual_minor, 0)
    assert.deepEqual(await get(bundle, `/api/v1/budgets/${own}`), shown)
  },
)

test('a late event of a month that the clock has closed becomes an adjustment when the clock is moved, and not before', async t => {
  const bundle = await setup(t)
  await meterOf(bundle, { code: 'llm_tokens' })
  const items = [
    { resource_kind: 'llm_tokens', included_qty: 0, overage_unit: 'unit', overage_price_cents: 1 },
  ]
  const code = await plan(bundle, { price: 3100, items })
  const clock = await testClock(bundle, 'acme', '2027-01-01T00:00:00Z')
  const { id } = await deployment(bundle)
  await subscribe(bundle, id, { plan_code: code })
  await advance(bundle, clock, { to: '2027-02-10T00:00:00Z' })
  await send(bundle, event(id, { id: 'late', time: '2027-01-20T00:00:00Z', data: { value: 50 } }))
  bundle.clock.set('2027-03-10T00:00:00Z')
  assert.equal(await adjustMonths(bundle.ctx, jobPart()), 0)
  await advance(bundle, clock, { to: '2027-02-10T01:00:00Z' })
  assert.deepEqual(await statements(bundle, id), [
    ['test-2027-01-000001', 3100, '2027-02-04T00:00:00.000Z'],
    ['test-2027-01-000002', 50, '2027-02-10T00:00:00.000Z'],
  ])
})

test('changes count by the clock: now, from the next period, and called off while the service’s own hours are metered', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const code = await plan(bundle, { price: 3000 })
  const dearer = await plan(bundle, { price: 6000 })
  const seats = await addon(bundle, { resource_kind: 'seats', price_cents: 280 })
  await deployment(bundle, 'globex')
  bundle.clock.set('2026-11-20T12:10:00Z')
  await meter(bundle)
  const clock = await testClock(bundle, 'acme', '2026-02-01T00:00:00Z')
  const { id } = await deployment(bundle)
  await subscribe(bundle, id, { plan_code: code })
  const change = async (body: object) => {
    const { status, body: answer, text } = await call('POST', `${path(id)}/change-plan-version`, { body })
    assert.equal(status, 200, text)
    return answer.data.effective_from
  }
  assert.equal(await change({ plan_code: dearer, effective_from: 'next_period' }), '2026-03-01T00:00:00.000Z')
  // By the service's hours March has long been metered, by the clock's it is still to come.
  assert.equal(await change({ plan_code: code, effective_from: 'next_period' }), '2026-03-01T00:00:00.000Z')
  await advance(bundle, clock, { to: '2026-02-15T00:00:00Z' })
  const added = await call('POST', `${path(id)}/addons`, { body: { code: seats } })
  assert.equal(added.body.data.valid_from, '2026-02-15T00:00:00.000Z')
  await advance(bundle, clock, { to: '2026-04-04T00:00:00Z' })
  // 3,000 + 280 × 14/28; 3,000 + 280.
  assert.deepEqual(await statements(bundle, id), [
    ['test-2026-02-000001', 3140, '2026-03-04T00:00:00.000Z'],
    ['test-2026-03-000001', 3280, '2026-04-04T00:00:00.000Z'],
  ])
  const late = { slug: 'late', tenant_id: 'acme', created_at: '2026-03-20' }
  assert.equal((await call('POST', '/api/v1/deployments', { body: late })).body.code, 'month_closed')
  const open = { ...late, created_at: '2026-04-01' }
  assert.equal((await call('POST', '/api/v1/deployments', { body: open })).status, 201)
  const moved = await call('POST', `${path(id)}/transition`, { body: { state: 'cancelled' } })
  assert.equal(moved.body.data.event.created_at, '2026-04-04T00:00:00.000Z')
})

test('a tenant that has been there goes on where it is metered, and after the clock no hour is metered twice', async t => {
  const bundle = await setup(t)
  const { call, clock: service } = bundle
  const code = await plan(bundle, { price: 3000, items: [droplets] })
  const id = await customer(bundle, 'acme', code)
  service.set('2026-11-15T14:10:00Z')
  await meter(bundle)
  const early = await call('POST', base, { body: { tenant_id: 'acme', now: '2026-11-15T13:59:00Z' } })
  assert.deepEqual([early.status, early.body.errors[0].pointer], [422, '/now'])
  const clock = await testClock(bundle, 'acme', '2026-11-15T16:00:00Z')
  assert.deepEqual((await get(bundle, `${base}/${clock}`)).status, 'advancing')
  await arrive(bundle, clock)
  service.set('2026-11-15T15:10:00Z')
  await meter(bundle)
  const used = async () => (await get(bundle, `${path(id)}/usage?period=2026-11`)).kinds[0].used_seconds
  assert.equal(await used(), 4 * 3600)
  assert.equal((await call('DELETE', `${base}/${clock}`)).status, 204)
  assert.equal((await call('GET', `${base}/${clock}`)).status, 404)
  service.set('2026-11-15T18:10:00Z')
  await meter(bundle)
  assert.equal(await used(), 6 * 3600)
  const { rows } = await sql`
    select hour, count(*)::int from usage_hours group by hour having count(*) <> 1`.execute(bundle.ctx.db)
  assert.deepEqual(rows, [])
  // A second clock goes on behind the first.
  const again = await testClock(bundle, 'acme', '2026-11-15T20:00:00Z')
  await arrive(bundle, again)
  assert.equal(await used(), 8 * 3600)
})

test('a clock is one for a tenant, moves forward alone, is listed, and is a platform_admin’s', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const clock = await testClock(bundle, 'acme', '2027-01-15T10:00:00Z')
  const again = await call('POST', base, { body: { tenant_id: 'acme' } })
  assert.deepEqual([again.status, again.body.code], [409, 'tenant_has_test_clock'])
  for (const body of [
    { to: '2027-01-15T10:30:00Z' },
    { months: 25 },
    {},
    { months: 1, to: '2027-03-01T00:00:00Z' },
  ])
    assert.equal((await call('POST', `${base}/${clock}/advance`, { body })).status, 422, JSON.stringify(body))
  const other = await call('POST', base, { body: { tenant_id: 'globex' } })
  assert.equal(other.body.data.now, '2026-11-15T12:00:00.000Z')
  assert.deepEqual(
    (await get(bundle, base)).map(({ tenant_id }: Any) => tenant_id),
    ['acme', 'globex'],
  )
  assert.equal((await get(bundle, `${base}?tenant_id=globex`)).length, 1)
  const token = await tokens.tenant('acme')
  assert.equal((await call('GET', `${base}/${clock}`, { token })).status, 403)
  assert.equal((await call('POST', base, { token, body: { tenant_id: 'acme' } })).status, 403)
  await call('DELETE', `${base}/${clock}`)
  for (const [method, url] of [
    ['DELETE', `${base}/${clock}`],
    ['GET', `${base}/${clock}`],
  ] as const)
    assert.equal((await call(method, url)).status, 404)
  assert.equal((await call('POST', `${base}/${clock}/advance`, { body: { months: 1 } })).status, 404)
})

test('in production clocks are refused, those of a sandbox’s database end, and nothing is asked of them', async t => {
  const bundle = await setup(t, { env: { NODE_ENV: 'production', DATABASE_URL: 'postgres://not-used/here' } })
  const { call, ctx } = bundle
  for (const [method, url, body] of [
    ['GET', base],
    ['POST', base, { tenant_id: 'acme' }],
    ['GET', `${base}/0197a000-0000-7000-8000-000000000000`],
    ['POST', `${base}/0197a000-0000-7000-8000-000000000000/advance`, { months: 1 }],
    ['DELETE', `${base}/0197a000-0000-7000-8000-000000000000`],
  ] as const) {
    const { status, body: problem } = await call(method, url, { body })
    assert.deepEqual([status, problem.code], [403, 'test_clocks_refused'], `${method} ${url}`)
  }
  await sql`insert into test_clocks (id, tenant_id, started_at, now, target, created_by, created_at) values
    (gen_random_uuid(), 'acme', '2030-01-01', '2030-01-01', '2030-02-01', 'someone', now())`.execute(ctx.db)
  const made = await call('POST', '/api/v1/deployments', { body: { slug: 'app', tenant_id: 'acme' } })
  assert.equal(made.body.data.created_at, '2026-11-15T12:00:00.000Z', 'the clock is ignored')
  const { config, clock, log, engine } = ctx
  const restarted = await createContext({ config, worker: false, clock, log, engine })
  await restarted.jobs.stop(1_000)
  const { rows } = await sql`select target, ended_at is not null as ended from test_clocks`.execute(ctx.db)
  assert.deepEqual(rows, [{ target: null, ended: true }])
  assert.match(bundle.logged(), /test clocks were ended/)
})
