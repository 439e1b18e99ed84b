// Backtests: what past months would have come to under a draft of the catalog, by hand-written arithmetic.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pricesToHold } from '../../src/features/catalog/draft-terms.ts'
import { monthsBefore } from '../../src/features/metering/backtest.ts'
import { pricesUnder, termsUnder } from '../../src/features/metering/draft-pricing.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { addon, deployment, plan, publish } from '../support/factories.ts'
import { closeDue, meter, tied } from '../support/metering.ts'
import { type Bundle, setup } from '../support/setup.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers
type Any = any

const subscribe = async ({ call }: Bundle, id: string, body: object) => {
  const { status, text } = await call('POST', `/api/v1/deployments/${id}/subscribe`, { body })
  assert.equal(status, 201, text)
}

const overage = (kind: string, overage_price_cents: number) => ({
  ...{ resource_kind: kind, included_qty: 0, overage_unit: 'hour', overage_price_cents, hard_cap_qty: null },
})
const price = (resource_kind: string, price_cents: number, effective_from = '2026-01-01') => ({
  ...{ resource_kind, unit: 'hour', price_cents, currency: 'USD', effective_from },
})

/**
 * acme: 3,000 cents a month since October, and in October an addon of 1,139 and ten hours of a volume at 29. globex: 500 cents
 * since the 16th of October, and ten hours of a droplet at 3.
 */
async function book(bundle: Bundle) {
  const { call, clock } = bundle
  clock.set('2026-10-01T00:00:00Z')
  const code = await plan(bundle, { code: 'team', price: 3000, items: [overage('volume', 29)] })
  const other = await plan(bundle, { code: 'small', price: 500 })
  const seats = await addon(bundle, { code: 'seats-10', resource_kind: 'seats', qty: 10, price_cents: 1139 })
  assert.equal(
    (await call('POST', '/api/v1/catalog/resource-prices', { body: price('droplet', 3) })).status,
    201,
  )
  const acme = await deployment(bundle)
  const globex = await deployment(bundle, 'globex')
  await subscribe(bundle, acme.id, { plan_code: code, addons: [seats] })
  clock.set('2026-10-16T12:00:00Z')
  await subscribe(bundle, globex.id, { plan_code: other })
  await tied(bundle, '2026-10-31T14:00:00Z', 'volume', 'disk', acme.id)
  await tied(bundle, '2026-10-31T14:00:00Z', 'droplet', 'web', globex.id)
  clock.set('2026-11-15T12:10:00Z')
  await meter(bundle)
  return { acme: acme.id, globex: globex.id }
}

const DRAFT = {
  plans: [
    {
      code: 'team',
      name: 'Team',
      version: { base_price_cents: 3100, currency: 'USD', items: [overage('volume', 31)] },
    },
    { code: 'small', name: 'Small', version: { base_price_cents: 500, currency: 'USD', items: [] } },
  ],
  addons: [{ code: 'seats-10', resource_kind: 'seats', qty: 10, price_cents: 1239, currency: 'USD' }],
  resource_prices: [price('droplet', 5)],
}

const backtest = async ({ call }: Bundle, catalog: object, more: object = {}) => {
  const { status, body, text } = await call('POST', '/api/v1/catalog/backtest', {
    body: { catalog, ...more },
  })
  assert.equal(status, 200, text)
  return body.data as Any
}

/** Tenant, month, before, after, difference. */
const amounts = ({ subscriptions }: Any) =>
  subscriptions.flatMap(({ tenant_id, months }: Any) =>
    months.map((month: Any) => {
      const { period, before_cents, after_cents, difference_cents } = month
      return [tenant_id, period, before_cents, after_cents, difference_cents]
    }),
  )

test(
  'a draft prices past months to the cent: base, addon, overage and resource prices, before and after',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { acme, globex } = await book(bundle)
    const tested = await backtest(bundle, DRAFT, { months: 2 })
    // 3,000 + 1,139 + 10 × 29 and 3,100 + 1,239 + 10 × 31; 500 × 15.5/31 + 10 × 3 and + 10 × 5.
    assert.deepEqual(amounts(tested), [
      ['acme', '2026-10', 4429, 4649, 220],
      ['globex', '2026-10', 280, 300, 20],
    ])
    assert.deepEqual(
      tested.subscriptions.map((row: Any) => [row.deployment_id, row.kept]),
      [
        [acme, []],
        [globex, []],
      ],
    )
    assert.equal(tested.next_cursor, null)
    // What was before is what the statements say.
    await closeDue(bundle)
    const { body } = await bundle.call('GET', `/api/v1/deployments/${acme}/statements`)
    assert.deepEqual(
      body.data.map((statement: Any) => [statement.period, statement.total_cents]),
      [['2026-10', 4429]],
    )
    assert.deepEqual(amounts(await backtest(bundle, DRAFT, { months: 2 })), amounts(tested))

    const first = await backtest(bundle, DRAFT, { months: 1, limit: 1 })
    assert.deepEqual(amounts(first), [['acme', '2026-10', 4429, 4649, 220]])
    const second = await backtest(bundle, DRAFT, { months: 1, limit: 1, cursor: first.next_cursor })
    assert.deepEqual([amounts(second), second.next_cursor], [[['globex', '2026-10', 280, 300, 20]], null])
  },
)

test(
  'the catalog as it stands gives a difference of 0 for each tenant, also for those on an older version or price',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { call } = bundle
    await book(bundle)
    await publish(bundle, 'team', { base_price_cents: 9900, items: [overage('volume', 99)] })
    await call('PATCH', '/api/v1/catalog/addons/seats-10', { body: { price_cents: 9900 } })
    const { body } = await call('GET', '/api/v1/catalog/resource-prices')
    const path = `/api/v1/catalog/resource-prices/${body.data[0].id}`
    assert.equal((await call('PATCH', path, { body: { effective_to: '2026-12-01' } })).status, 200)
    const next = price('droplet', 9, '2026-12-01')
    assert.equal((await call('POST', '/api/v1/catalog/resource-prices', { body: next })).status, 201)
    const [team, small] = DRAFT.plans as Any
    const standing = {
      plans: [
        { ...team, version: { base_price_cents: 9900, currency: 'USD', items: [overage('volume', 99)] } },
        small,
      ],
      addons: [{ ...DRAFT.addons[0], price_cents: 9900 }],
      resource_prices: [{ ...price('droplet', 3), effective_to: '2026-12-01' }, next],
    }
    assert.deepEqual(amounts(await backtest(bundle, standing)), [
      ['acme', '2026-10', 4429, 4429, 0],
      ['globex', '2026-10', 280, 280, 0],
    ])
  },
)

test('a plan or addon that the draft does not have, or has in another currency, is told and counts as it was', async t => {
  const bundle = await setup(t)
  await book(bundle)
  const [team] = DRAFT.plans
  const euros = { ...team!, version: { ...team!.version, currency: 'EUR' } }
  const tested = await backtest(bundle, { plans: [euros] })
  assert.deepEqual(amounts(tested), [
    ['acme', '2026-10', 4429, 4429, 0],
    ['globex', '2026-10', 280, 280, 0],
  ])
  assert.deepEqual(
    tested.subscriptions.map(({ kept }: Any) => kept),
    [
      [
        { subject: 'plan', code: 'team', reason: 'currency_differs' },
        { subject: 'addon', code: 'seats-10', reason: 'missing' },
      ],
      [{ subject: 'plan', code: 'small', reason: 'missing' }],
    ],
  )
})

test('a draft that is no catalog is refused with the place, and a backtest is for a platform_admin', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const [team] = DRAFT.plans
  const twice = { plans: [team, team] }
  const { status, body } = await call('POST', '/api/v1/catalog/backtest', { body: { catalog: twice } })
  assert.deepEqual([status, body.errors[0].pointer], [422, '/catalog/plans/1/code'])
  const items = [{ resource_kind: 'seats', included_qty: 1, overage_unit: 'gb', overage_price_cents: 1 }]
  const unmeasured = { plans: [{ ...team, version: { ...team!.version, items } }] }
  const refused = await call('POST', '/api/v1/catalog/backtest', { body: { catalog: unmeasured } })
  assert.deepEqual(
    [refused.status, refused.body.errors[0].pointer],
    [422, '/catalog/plans/0/version/items/0/overage_unit'],
  )
  for (const months of [0, 25])
    assert.equal(
      (await call('POST', '/api/v1/catalog/backtest', { body: { catalog: DRAFT, months } })).status,
      422,
    )
  const token = await tokens.tenant('acme')
  const asked = await call('POST', '/api/v1/catalog/backtest', { body: { catalog: DRAFT }, token })
  assert.equal(asked.status, 403)
  assert.deepEqual(await backtest(bundle, DRAFT), { subscriptions: [], next_cursor: null })
})

test('the months of a backtest are the last ones that are over, oldest first', () => {
  const periods = (now: string, count: number) =>
    monthsBefore(new Date(now), count).map(({ period }) => period)
  assert.deepEqual(periods('2026-03-01T00:00:00Z', 3), ['2025-12', '2026-01', '2026-02'])
  assert.deepEqual(periods('2026-02-28T23:59:59.999Z', 1), ['2026-01'])
  assert.ok(monthsBefore(new Date('2026-03-01T00:00:00Z'), 3).every(({ over }) => over))
})

test('of the prices for one thing the draft’s last holds throughout, unless they are those that stand', () => {
  const dated = (price_cents: number, effective_from: string, effective_to: string | null = null) => ({
    ...{ resource_kind: 'volume', unit: 'hour', currency: 'USD', price_cents, effective_from, effective_to },
  })
  const [old, last] = [dated(4, '2025-01-01', '2026-01-01'), dated(3, '2026-01-01')]
  const standing = new Map([['volume/hour USD', [old, last]]])
  assert.deepEqual(pricesToHold([old, last], standing), new Map())
  assert.deepEqual(pricesToHold([last], standing), new Map())
  assert.deepEqual(pricesToHold([], standing), new Map())
  for (const other of [
    dated(5, '2026-01-01'),
    dated(3, '2026-01-02'),
    dated(3, '2026-01-01', '2027-01-01'),
  ]) {
    const prices = pricesToHold([other, old], standing)
    assert.deepEqual(prices, new Map([['volume/hour USD', other]]))
    const disk = { ...old, unit: 'month' }
    assert.deepEqual(pricesUnder({ prices })([old, last, disk]), [
      disk,
      { ...other, effective_from: '0001-01-01' },
    ])
  }
  assert.deepEqual(pricesToHold([old, last], new Map()), new Map([['volume/hour USD', last]]))
})

test('terms under a draft take its price, its items and its addons, and keep when they held', () => {
  const held = { valid_from: '2026-10-01T00:00:00.000Z', valid_to: null }
  const version = { plan_code: 'team', plan_version_id: 'v', base_price_cents: 1, items: [], ...held }
  const extra = {
    id: 'a',
    code: 'seats',
    resource_kind: 'seats',
    qty: 1,
    price_cents: 2,
    currency: 'USD',
    quantity: 3,
  }
  const terms = {
    ...{ subscription_id: 's', deployment_id: 'd', currency: 'USD', trial_ends_at: null },
    versions: [version],
    addons: [{ ...extra, ...held }],
  }
  const said = { base_price_cents: 7, currency: 'USD', items: [overage('volume', 1)] }
  const more = {
    code: 'seats',
    name: 'Seats',
    resource_kind: 'desks',
    qty: 5,
    price_cents: 6,
    currency: 'USD',
  }
  assert.deepEqual(
    termsUnder({ plans: new Map([['team', said]]), addons: new Map([['seats', more]]) }, terms),
    {
      terms: {
        ...terms,
        versions: [{ ...version, base_price_cents: 7, items: said.items }],
        addons: [{ ...extra, ...held, resource_kind: 'desks', qty: 5, price_cents: 6 }],
      },
      kept: [],
    },
  )
  assert.deepEqual(
    termsUnder({ plans: new Map([['team', null]]), addons: new Map([['seats', null]]) }, terms),
    {
      terms,
      kept: [],
    },
  )
})
