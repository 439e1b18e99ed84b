// What budgets come to, and which thresholds are told when.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateMonth } from '../../src/features/billing/estimate-costs.ts'
import { haveIngested, haveResource, runTask } from '../support/billing.ts'
import { balanceAt, budget, charged, listen, look, show, told } from '../support/budgets.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { meter, tied } from '../support/metering.ts'
import { type Bundle, setup } from '../support/setup.ts'

const sums = ({ actual_minor, forecast_minor }: { actual_minor: number; forecast_minor: number }) => [
  actual_minor,
  forecast_minor,
]

const reached = ({
  thresholds,
}: {
  thresholds: { percent: number; on: string; reached_at: string | null }[]
}) => thresholds.filter(({ reached_at }) => reached_at !== null).map(({ percent, on }) => `${percent} ${on}`)

test('a threshold is told once, with the budget as the API shows it, and the next month begins anew', async t => {
  const bundle = await setup(t)
  const { call, clock } = bundle
  await listen(bundle)
  const deployment_id = await charged(bundle, 8_000)
  const { id, ...made } = await budget(bundle, { deployment_id, amount_minor: 10_000 })
  assert.deepEqual([made.measure, made.tenant_id, made.period], ['charge', 'acme', '2026-11'])
  assert.deepEqual([made.actual_minor, made.forecast_minor, made.looked_at], [null, null, null])
  assert.equal(await look(bundle), 1)
  assert.equal(await look(bundle), 0)
  const shown = await show(bundle, id)
  assert.deepEqual(sums(shown), [8_000, 8_000])
  assert.deepEqual(shown.thresholds, [
    { percent: 80, on: 'actual', reached_at: '2026-11-15T12:00:00.000Z' },
    { percent: 100, on: 'actual', reached_at: null },
    { percent: 100, on: 'forecast', reached_at: null },
  ])
  const alerts = async () => (await call('GET', `/api/v1/budgets/${id}/alerts`)).body.data
  const [alert] = await alerts()
  const expected = { percent: 80, on: 'actual', amount_minor: 10_000, reached_minor: 8_000, currency: 'USD' }
  assert.deepEqual(alert, {
    ...{ id: alert.id, budget_id: id, period: '2026-11', ...expected },
    reached_at: '2026-11-15T12:00:00.000Z',
  })
  assert.deepEqual(await told(bundle), [
    {
      type: 'budget.threshold_reached',
      tenant_id: 'acme',
      data: { tenant_id: 'acme', deployment_id, budget: shown, alert },
    },
  ])

  clock.set('2026-12-06T00:00:00Z')
  assert.deepEqual(reached(await show(bundle, id)), [])
  assert.equal((await show(bundle, id)).actual_minor, null)
  assert.equal(await look(bundle), 1)
  assert.deepEqual(
    (await alerts()).map((one: { period: string }) => one.period),
    ['2026-12', '2026-11'],
  )
})

test(
  'a higher amount begins anew; a lower one tells at the next look what it reaches',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const deployment_id = await charged(bundle, 8_000)
    const thresholds = [{ percent: 50, on: 'actual' }]
    const { id } = await budget(bundle, { deployment_id, amount_minor: 20_000, thresholds })
    const change = (body: object) => bundle.call('PATCH', `/api/v1/budgets/${id}`, { body })
    assert.equal(await look(bundle), 0)
    assert.equal((await change({ amount_minor: 16_000 })).body.data.thresholds[0].reached_at, null)
    assert.equal(await look(bundle), 1)
    assert.equal((await change({ amount_minor: 15_000, name: 'Less' })).status, 200)
    assert.equal(await look(bundle), 0)
    assert.deepEqual(reached(await show(bundle, id)), ['50 actual'])
    assert.deepEqual(reached((await change({ amount_minor: 16_000 })).body.data), [])
    assert.equal(await look(bundle), 1)
    await change({ thresholds: [...thresholds, { percent: 40, on: 'forecast' }] })
    assert.equal(await look(bundle), 1)
    assert.deepEqual(reached(await show(bundle, id)), ['40 forecast', '50 actual'])
  },
)

test(
  'a forecast is what the month ends with if what lives lives on; a tenant’s budget adds up its deployments',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { clock } = bundle
    const items = [
      { resource_kind: 'volume', included_qty: 0, overage_unit: 'hour', overage_price_cents: 10 },
    ]
    const one = await charged(bundle, 1_000, { items })
    await charged(bundle, 500)
    await charged(bundle, 70_000, { tenant: 'other' })
    await charged(bundle, 300, { currency: 'EUR' })
    await tied(bundle, '2026-11-30T00:00:00Z', 'volume', 'disk', one)
    clock.set('2026-11-30T14:05:00Z')
    await meter(bundle)
    const thresholds = [
      { percent: 100, on: 'actual' },
      { percent: 100, on: 'forecast' },
    ]
    const own = await budget(bundle, { deployment_id: one, amount_minor: 1_240, thresholds })
    const ofTenant = await budget(bundle, { tenant_id: 'acme', amount_minor: 1_741, thresholds })
    const ofAll = await budget(bundle, { measure: 'charge' })
    assert.equal(await look(bundle), 4)
    // 14 hours of a volume at 10, and 10 more to come.
    const shown = await show(bundle, own.id)
    assert.deepEqual([sums(shown), reached(shown)], [[1_140, 1_240], ['100 forecast']])
    const tenant = await show(bundle, ofTenant.id)
    assert.deepEqual([sums(tenant), reached(tenant)], [[1_640, 1_740], []])
    assert.deepEqual(tenant.other_currencies, [{ currency: 'EUR', actual_minor: 300, forecast_minor: 300 }])
    const all = await show(bundle, ofAll.id)
    assert.deepEqual([sums(all), all.tenant_id, all.estimated], [[71_640, 71_740], null, false])
    assert.deepEqual(reached(all), ['80 actual', '100 actual', '100 forecast'])
  },
)

test('what was metered after a month’s end still counts for that month', onPostgresAlone, async t => {
  const bundle = await setup(t)
  const { clock, call } = bundle
  const items = [{ resource_kind: 'volume', included_qty: 0, overage_unit: 'hour', overage_price_cents: 10 }]
  const deployment_id = await charged(bundle, 0, { items })
  const thresholds = [{ percent: 100, on: 'actual' }]
  const { id } = await budget(bundle, { deployment_id, amount_minor: 20, thresholds })
  await tied(bundle, '2026-11-30T22:00:00Z', 'volume', 'disk', deployment_id)
  clock.set('2026-11-30T23:50:00Z')
  await meter(bundle)
  assert.equal(await look(bundle), 0)
  clock.set('2026-12-01T00:50:00Z')
  await meter(bundle)
  assert.equal(await look(bundle), 1)
  const { body } = await call('GET', `/api/v1/budgets/${id}/alerts`)
  assert.deepEqual([body.data[0].period, body.data[0].reached_minor], ['2026-11', 20])
  assert.deepEqual(reached(await show(bundle, id)), [])
})

test('the account’s costs are the month’s estimate, which says nothing of its end on the first day, until the invoice is in', async t => {
  const bundle = await setup(t)
  const { clock } = bundle
  const { id } = await budget(bundle, { amount_minor: 20_000 })
  assert.equal(await look(bundle), 0)
  assert.equal((await show(bundle, id)).looked_at, null)
  clock.set('2026-11-01T12:50:00Z')
  await estimated(bundle, '2026-11-01T12:00:00Z', '400.00')
  const { forecast_minor, estimated: isEstimate } = await show(bundle, id)
  assert.deepEqual([forecast_minor, isEstimate], [null, null])
  assert.equal(await look(bundle), 2)
  assert.deepEqual(sums(await show(bundle, id)), [40_000, null])
  await bundle.call('PATCH', `/api/v1/budgets/${id}`, { body: { amount_minor: 20_001 } })
  clock.set('2026-11-16T00:50:00Z')
  await estimated(bundle, '2026-11-16T00:00:00Z', '100.005')
  assert.equal(await look(bundle), 1)
  const shown = await show(bundle, id)
  assert.deepEqual([sums(shown), shown.measure, shown.estimated], [[10_001, 20_002], 'cost', true])
  assert.deepEqual(reached(shown), ['100 forecast'])
  await haveIngested(
    bundle,
    [{ amount: '170.00' }, { amount: '12.50', product: 'Taxes', description: 'GST' }],
    {
      period: '2026-11-01',
    },
  )
  assert.equal(await look(bundle), 1)
  const invoiced = await show(bundle, id)
  assert.deepEqual([sums(invoiced), invoiced.estimated], [[18_250, 18_250], false])
})

/** What the provider said at a time, and the estimate that is made of it. */
async function estimated(bundle: Bundle, at: string, usage: string): Promise<void> {
  await balanceAt(bundle, at, usage)
  await estimateMonth(bundle.ctx)
}

/** Load balancers at 12.00 a month for 672 hours: one of the deployment's since the first of November, one for a day. */
async function haveCosts(bundle: Bundle, deployment_id: string): Promise<void> {
  const lived = { kind: 'load_balancer', first: '2026-11-01T00:00:00Z', tenant: 'acme' }
  await haveResource(bundle, { ...lived, name: 'web', deployment: deployment_id })
  await haveResource(bundle, { ...lived, name: 'old', deleted: '2026-11-02T00:00:00Z' })
  await estimateMonth(bundle.ctx)
}

test('what a tenant or a deployment costs is what the estimate’s lines say, and then the invoice’s', async t => {
  const bundle = await setup(t)
  const deployment_id = await charged(bundle, 0)
  await haveCosts(bundle, deployment_id)
  const one = await budget(bundle, { deployment_id, measure: 'cost' })
  const all = await budget(bundle, { tenant_id: 'acme', measure: 'cost' })
  await look(bundle)
  // 348 of 672 hours, and never more than 12.00; the other lived for 24.
  assert.deepEqual(sums(await show(bundle, one.id)), [621, 1_200])
  assert.deepEqual(sums(await show(bundle, all.id)), [664, 1_243])
  await haveIngested(
    bundle,
    [
      { amount: '7.00', deployment_id, tenant_id: 'acme' },
      { amount: '1.00', tenant_id: 'acme' },
      { amount: '9.00' },
    ],
    { period: '2026-11-01' },
  )
  await look(bundle)
  assert.deepEqual(sums(await show(bundle, one.id)), [700, 700])
  assert.deepEqual(sums(await show(bundle, all.id)), [800, 800])
})

test(
  'whoever makes or changes a budget has it looked at by a worker at once, and all are looked at hourly',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { worker: true })
    const { eventually } = await import('../support/eventually.ts')
    const deployment_id = await charged(bundle, 8_000)
    const { id } = await budget(bundle, { deployment_id, amount_minor: 10_000 })
    await eventually('it is looked at', async () => (await show(bundle, id)).actual_minor === 8_000)
    await bundle.call('PATCH', `/api/v1/budgets/${id}`, { body: { amount_minor: 8_000 } })
    await eventually('it is looked at again', async () => reached(await show(bundle, id)).length === 3)
    assert.equal((await runTask(bundle, 'budgets')).status, 'completed')
  },
)
