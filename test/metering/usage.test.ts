import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addon, deployment, move, plan } from '../support/factories.ts'
import { meter, tied } from '../support/metering.ts'
import { type Bundle, setup } from '../support/setup.ts'

const usage = async ({ call }: Bundle, id: string, query = '', token?: string) => {
  const { status, body, text } = await call('GET', `/api/v1/deployments/${id}/usage${query}`, { token })
  assert.equal(status, 200, text)
  return body.data
}

const price = async ({ call }: Bundle, fields: object) => {
  const body = { unit: 'hour', currency: 'USD', effective_from: '2026-01-01', ...fields }
  const { status, text } = await call('POST', '/api/v1/catalog/resource-prices', { body })
  assert.equal(status, 201, text)
}

const month = (overage_price_cents: number) => ({ overage_unit: 'month', overage_price_cents })

/** Rows of a month in short: kind, used, included, overage, unit, price, its source, cents, forecast, cap. */
// biome-ignore lint/suspicious/noExplicitAny: an answer
const short = (kinds: any[]) =>
  kinds.map(k => [
    k.kind,
    k.used,
    k.live,
    k.included,
    k.overage_qty,
    k.overage_unit,
    k.overage_price_cents,
    k.price_source,
    k.overage_cents,
    k.forecast_cents,
    k.cap,
  ])

test('a month’s usage: what the plan and addons include, what the rest costs so far, and what the month will cost', async t => {
  const bundle = await setup(t)
  const { clock } = bundle
  clock.set('2026-11-01T00:00:00Z')
  await price(bundle, { resource_kind: 'database', price_cents: 7, effective_to: '2026-11-29' })
  await price(bundle, { resource_kind: 'database', price_cents: 9, effective_from: '2026-11-29' })
  await price(bundle, { resource_kind: 'reserved_ip', unit: 'month', price_cents: 500 })
  await price(bundle, { resource_kind: 'kubernetes_cluster', currency: 'EUR', price_cents: 6 })
  const code = await plan(bundle, {
    price: 7900,
    items: [
      {
        resource_kind: 'droplet',
        included_qty: 1,
        hard_cap_qty: 10,
        overage_unit: 'hour',
        overage_price_cents: 3,
      },
      { resource_kind: 'volume', included_qty: 1, ...month(450) },
      { resource_kind: 'reserved_ip', included_qty: 1, hard_cap_qty: 5 },
      { resource_kind: 'snapshot', included_qty: 0 },
      { resource_kind: 'seats', included_qty: 15, ...month(500) },
    ],
  })
  const more = await addon(bundle, { resource_kind: 'droplet', qty: 1, price_cents: 700 })
  const { id } = await deployment(bundle)
  const addons = [{ code: more, quantity: 2 }]
  const subscribed = await bundle.call('POST', `/api/v1/deployments/${id}/subscribe`, {
    body: { plan_code: code, addons },
  })
  assert.equal(subscribed.status, 201, subscribed.text)

  const at = '2026-11-28T00:00:00Z'
  await tied(bundle, at, 'droplet', ['1', '2', '3', '4', '5'], id)
  await tied(bundle, at, 'volume', ['v1', 'v2'], id)
  await tied(bundle, at, 'reserved_ip', ['ip1', 'ip2'], id)
  for (const kind of ['database', 'snapshot', 'kubernetes_cluster'] as const)
    await tied(bundle, at, kind, kind, id)
  const early = await usage(bundle, id)
  assert.deepEqual([early.metered_until, early.total_cents], [null, 7900 + 1400])

  clock.set('2026-11-29T12:05:00Z')
  await meter(bundle)
  const token = await bundle.tokens.tenant('acme')
  const { kinds, ...rest } = await usage(bundle, id, '', token)
  // 36 hours are metered, and 36 are to come: 72 of 720.
  assert.deepEqual(short(kinds), [
    ['database', '36', 1, 0, '36', 'hour', 9, 'resource_price', 24 * 7 + 12 * 9, 24 * 7 + 48 * 9, null],
    ['droplet', '180', 5, 3, '72', 'hour', 3, 'plan', 216, 432, 10],
    ['kubernetes_cluster', '36', 1, 0, null, null, null, null, 0, 0, null],
    ['reserved_ip', '72', 2, 1, '0.05', 'month', 500, 'resource_price', 25, 50, 5],
    ['seats', '0', 0, 15, '0', 'month', 500, 'plan', 0, 0, null],
    ['snapshot', '36', 1, 0, null, null, null, null, 0, 0, null],
    ['volume', '72', 2, 1, '0.05', 'month', 450, 'plan', 23, 45, null],
  ])
  assert.deepEqual([kinds[1].used_seconds, kinds[1].overage_seconds], [180 * 3600, 72 * 3600])
  const throughout = {
    from: '2026-11-01T00:00:00.000Z',
    to: '2026-12-01T00:00:00.000Z',
    seconds: 30 * 86_400,
  }
  const addonId = rest.addons[0].id
  assert.deepEqual(rest, {
    deployment_id: id,
    tenant_id: 'acme',
    period: '2026-11',
    period_start: '2026-11-01',
    period_end: '2026-11-30',
    metered_until: '2026-11-29T12:00:00.000Z',
    plan_code: code,
    plan_version_id: subscribed.body.data.plan_version_id,
    currency: 'USD',
    base_price_cents: 7900,
    versions: [
      {
        plan_code: code,
        plan_version_id: subscribed.body.data.plan_version_id,
        price_cents: 7900,
        ...throughout,
        amount_cents: 7900,
      },
    ],
    addons: [
      {
        id: addonId,
        code: more,
        resource_kind: 'droplet',
        qty: 1,
        price_cents: 700,
        quantity: 2,
        ...throughout,
        amount_cents: 1400,
      },
    ],
    meters: [],
    total_cents: 7900 + 1400 + 276 + 216 + 25 + 23,
    forecast_cents: 7900 + 1400 + 600 + 432 + 50 + 45,
  })
  assert.deepEqual(await usage(bundle, id, '?period=2026-11'), { kinds, ...rest })

  // Everything lived on: the month has cost what was foretold.
  clock.set('2026-12-01T00:05:00Z')
  await meter(bundle)
  const past = await usage(bundle, id, '?period=2026-11')
  assert.deepEqual(
    [past.total_cents, past.forecast_cents, past.metered_until, past.kinds[0].live],
    [rest.forecast_cents, rest.forecast_cents, '2026-12-01T00:00:00.000Z', null],
  )
  const next = await usage(bundle, id)
  assert.deepEqual(
    [next.period, next.metered_until, next.total_cents, next.kinds[0].used],
    ['2026-12', null, 9300, '0'],
  )
  // Cancelled in the middle of December: half of that month is paid for, of the next one nothing.
  clock.set('2026-12-16T12:00:00Z')
  await move(bundle, id, 'cancelled')
  assert.equal((await usage(bundle, id)).total_cents, 4650)
  clock.set('2027-01-01T00:00:00Z')
  const after = await usage(bundle, id)
  assert.deepEqual([after.plan_code, after.base_price_cents, after.addons], [null, 0, []])
})

test('without a subscription only resource prices are charged, and a month before there was anything is empty', async t => {
  const bundle = await setup(t)
  await price(bundle, { resource_kind: 'droplet', unit: 'day', price_cents: 48 })
  const { id } = await deployment(bundle)
  await tied(bundle, '12:30:00', 'droplet', '1', id)
  bundle.clock.set('2026-11-15T14:40:00Z')
  await meter(bundle)
  const { kinds, ...rest } = await usage(bundle, id)
  // An hour and a half at two cents an hour; then one to the end of the 30th.
  const ahead = 48 * 15 + 2 * 10
  assert.deepEqual(short(kinds), [
    ['droplet', '1.5', 1, 0, '0.0625', 'day', 48, 'resource_price', 3, 3 + ahead, null],
  ])
  assert.deepEqual([rest.plan_code, rest.currency, rest.total_cents], [null, 'USD', 3])
  const earlier = await usage(bundle, id, '?period=2026-10')
  assert.deepEqual([earlier.kinds, earlier.total_cents, earlier.forecast_cents], [[], 0, 0])
})

test('another tenant’s usage is not there, and a month that has not begun or is none is refused', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const { id } = await deployment(bundle)
  const path = `/api/v1/deployments/${id}/usage`
  const other = await call('GET', path, { token: await tokens.tenant('globex') })
  assert.deepEqual([other.status, other.body.code], [404, 'not_found'])
  for (const period of ['2026-12', '2027-01', '2026-13', '2026-00', '2026-1', '2026-11-01', '']) {
    const { status, body } = await call('GET', `${path}?period=${period}`)
    assert.equal(status, 422, period)
    assert.deepEqual(
      body.errors.map((error: { pointer: string }) => error.pointer),
      ['?period'],
    )
  }
})

test('sums too large for a float are written whole', async t => {
  const bundle = await setup(t)
  bundle.clock.set('2026-11-01T00:00:00Z')
  const code = await plan(bundle, { price: 1_000_000_000_000 })
  const dear = await addon(bundle, { price_cents: 1_000_000_000_000, qty: 1_000_000_000_000 })
  const { id } = await deployment(bundle)
  await bundle.call('POST', `/api/v1/deployments/${id}/subscribe`, {
    body: { plan_code: code, addons: [{ code: dear, quantity: 10_000 }] },
  })
  const { text } = await bundle.call('GET', `/api/v1/deployments/${id}/usage`)
  assert.match(text, /"total_cents":10001000000000000[,}]/)
  assert.match(text, /"included":10000000000000000,/)
})
