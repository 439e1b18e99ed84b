// Usage events in what a deployment used and is charged, and months that are over when they come.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  countMembers,
  listLateMonths,
  settleLateMonths,
  sumMeters,
} from '../../src/features/usage-events/index.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { addon, deployment, plan } from '../support/factories.ts'
import { closeDue, meter } from '../support/metering.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { event, meterOf, send } from '../support/usage-events.ts'

const usage = async ({ call }: Bundle, id: string, period = '2026-11', token?: string) => {
  const { status, body, text } = await call('GET', `/api/v1/deployments/${id}/usage?period=${period}`, {
    token,
  })
  assert.equal(status, 200, text)
  return body.data
}

// biome-ignore lint/suspicious/noExplicitAny: an answer
const short = (meters: any[]) =>
  meters.map(m => [
    ...[m.meter, m.used, m.included, m.overage_qty, m.overage_price_cents],
    ...[m.price_source, m.overage_cents, m.forecast_cents, m.cap],
  ])

const price = async ({ call }: Bundle, fields: object) => {
  const body = { currency: 'USD', effective_from: '2026-01-01', ...fields }
  return call('POST', '/api/v1/catalog/resource-prices', { body })
}

test('meters are in a month’s usage: used, included, beyond, price, cap, and in its total and forecast', async t => {
  const bundle = await setup(t)
  const { clock, call, tokens } = bundle
  clock.set('2026-11-01T00:00:00Z')
  await meterOf(bundle, { code: 'llm_tokens', unit: 'token', scale: 1_000_000 })
  await meterOf(bundle, { code: 'seats', aggregation: 'max', unit: 'seat' })
  await meterOf(bundle, { code: 'users', aggregation: 'unique', unit: 'user' })
  await meterOf(bundle, { code: 'gb_transfer', unit: 'gb', scale: 10 })
  await meterOf(bundle, { code: 'unused', unit: 'gb' })
  assert.equal(
    (await price(bundle, { resource_kind: 'gb_transfer', unit: 'gb', price_cents: 7 })).status,
    201,
  )
  const code = await plan(bundle, {
    price: 7900,
    items: [
      {
        resource_kind: 'llm_tokens',
        included_qty: 2,
        hard_cap_qty: 50,
        overage_unit: 'token',
        overage_price_cents: 90,
      },
      { resource_kind: 'seats', included_qty: 3, overage_unit: 'seat', overage_price_cents: 500 },
      { resource_kind: 'users', included_qty: 1 },
      { resource_kind: 'volume', included_qty: 1 },
    ],
  })
  const more = await addon(bundle, { resource_kind: 'llm_tokens', qty: 1, price_cents: 70 })
  const { id } = await deployment(bundle)
  const { id: other } = await deployment(bundle)
  const subscribed = await call('POST', `/api/v1/deployments/${id}/subscribe`, {
    body: { plan_code: code, addons: [more] },
  })
  assert.equal(subscribed.status, 201, subscribed.text)

  clock.set('2026-11-16T00:00:00Z')
  const of = (type: string, name: string, value: unknown, time = '2026-11-10T10:00:00Z') =>
    event(id, { id: name, type, time, data: { value } })
  await send(bundle, [
    of('llm_tokens', 't1', 2_400_000),
    of('llm_tokens', 't2', 1_600_000, '2026-11-12T10:00:00Z'),
    of('llm_tokens', 't2', 1_600_000, '2026-11-12T10:00:00Z'),
    ...[of('seats', 's1', 5), of('seats', 's2', 4, '2026-11-11T10:00:00Z')],
    ...['ann', 'bob', 'ann', 'eve'].map((name, index) => of('users', `u${index}`, name)),
    of('gb_transfer', 'g1', 12.5),
    { ...of('gb_transfer', 'g2', 1000), subject: other },
  ])
  const month = await usage(bundle, id, '2026-11', await tokens.tenant('acme'))
  assert.deepEqual(short(month.meters), [
    // 1.25 × 7 = 8.75; twice as much by the month’s end: 17.5.
    ['gb_transfer', '12.5', '0', '1.25', 7, 'resource_price', 9, 18, null],
    // 4 − 3 included; 8 − 3 by the month’s end.
    ['llm_tokens', '4000000', '3', '1', 90, 'plan', 90, 450, 50],
    ['seats', '5', '3', '2', 500, 'plan', 1000, 1000, null],
    ['users', '3', '1', '2', null, null, 0, 0, null],
  ])
  assert.deepEqual(
    month.kinds.map((kind: { kind: string }) => kind.kind),
    ['volume'],
  )
  assert.equal(month.total_cents, 7900 + 70 + 9 + 90 + 1000)
  assert.equal(month.forecast_cents, 7900 + 70 + 18 + 450 + 1000)
  const { body } = await call('GET', `/api/v1/billing/margins?period=2026-11&deployment_id=${id}`)
  assert.deepEqual(body.data[0].charged, [{ currency: 'USD', amount_minor: month.total_cents }])
  assert.deepEqual(short((await usage(bundle, other)).meters), [
    ['gb_transfer', '1000', '0', '100', 7, 'resource_price', 700, 1400, null],
  ])

  clock.set('2026-12-10T00:00:00Z')
  await send(bundle, of('gb_transfer', 'g3', 7.5, '2026-11-30T23:59:59.999Z'))
  const ended = await usage(bundle, id)
  assert.deepEqual(short(ended.meters)[0], ['gb_transfer', '20', '0', '2', 7, 'resource_price', 14, 14, null])
  assert.equal(ended.forecast_cents, ended.total_cents)
  assert.deepEqual(
    short((await usage(bundle, id, '2026-12')).meters).map(row => row.slice(0, 2)),
    [
      ['llm_tokens', '0'],
      ['seats', '0'],
      ['users', '0'],
    ],
  )
})

test('a month that was over when events came is told, until who adjusts it has settled it, and told anew afterwards', async t => {
  const bundle = await setup(t)
  const { clock, ctx } = bundle
  clock.set('2026-10-20T00:00:00Z')
  await meterOf(bundle, { code: 'llm_tokens' })
  await meterOf(bundle, { code: 'users', aggregation: 'unique' })
  const [a, b] = [(await deployment(bundle)).id, (await deployment(bundle, 'globex')).id].sort() as [
    string,
    string,
  ]
  clock.set('2026-11-30T23:59:00Z')
  const of = (id: string, name: string, time: string) => event(id, { id: name, time, source: id })
  await send(bundle, [of(a, '1', '2026-11-01T00:00:00Z'), of(b, '1', '2026-12-01T00:03:00Z')])
  assert.deepEqual(await listLateMonths(ctx.db, 10), [])
  await send(bundle, [
    of(b, '2', '2026-10-31T23:59:59.999Z'),
    { ...of(a, '2', '2026-10-01T00:00:00Z'), type: 'users' },
  ])
  clock.set('2026-12-04T00:00:00Z')
  await send(bundle, of(a, '3', '2026-11-30T00:00:00Z'))
  const october = { month: '2026-10-01' }
  const all = [
    { deployment_id: a, ...october },
    { deployment_id: b, ...october },
    { deployment_id: a, month: '2026-11-01' },
  ]
  assert.deepEqual(await listLateMonths(ctx.db, 10), all)
  assert.deepEqual(await listLateMonths(ctx.db, 1), all.slice(0, 1))
  assert.deepEqual(await listLateMonths(ctx.db, 10, all[0]), all.slice(1))

  await transaction(ctx.db, tx => settleLateMonths(tx, all.slice(0, 2)))
  assert.deepEqual(await listLateMonths(ctx.db, 10), all.slice(2))
  // Known before: nothing to adjust.
  await send(bundle, of(b, '2', '2026-10-31T23:59:59.999Z'))
  assert.deepEqual(await listLateMonths(ctx.db, 10), all.slice(2))
  await send(bundle, of(b, '4', '2026-10-31T23:59:59.999Z'))
  assert.deepEqual(await listLateMonths(ctx.db, 10), all.slice(1))
})

test('a statement has the meters’ lines and usage’s total; what comes after it is told as late', async t => {
  const bundle = await setup(t)
  const { clock, ctx, call } = bundle
  clock.set('2026-11-01T00:00:00Z')
  await meterOf(bundle, { code: 'llm_tokens', unit: 'token', scale: 1_000 })
  const items = [
    { resource_kind: 'llm_tokens', included_qty: 2, overage_unit: 'token', overage_price_cents: 90 },
  ]
  const code = await plan(bundle, { price: 7900, items })
  const { id } = await deployment(bundle)
  await call('POST', `/api/v1/deployments/${id}/subscribe`, { body: { plan_code: code } })
  const of = (name: string, value: number) =>
    event(id, { id: name, time: '2026-11-20T00:00:00Z', data: { value } })
  clock.set('2026-12-02T00:00:00Z')
  await send(bundle, [of('1', 3_000), of('2', 500)])
  assert.equal((await listLateMonths(ctx.db, 10)).length, 1)
  clock.set('2026-12-04T00:05:00Z')
  await meter(bundle)
  assert.equal(await closeDue(bundle), 1)
  assert.deepEqual(await listLateMonths(ctx.db, 10), [])

  const { total_cents } = await usage(bundle, id)
  assert.equal(total_cents, 7900 + 135)
  const [{ id: statement }] = (await call('GET', `/api/v1/deployments/${id}/statements`)).body.data
  const { body } = await call('GET', `/api/v1/statements/${statement}`)
  assert.equal(body.data.total_cents, total_cents)
  assert.deepEqual(
    body.data.lines.map((line: Record<string, unknown>) => [
      ...[line.kind, line.code, line.quantity, line.unit, line.price_cents, line.amount_cents],
    ]),
    [
      ['base', code, '1', 'month', 7900, 7900],
      ['included', 'llm_tokens', '2', '1000 token', null, 0],
      ['meter', 'llm_tokens', '1.5', '1000 token', 90, 135],
    ],
  )
  await send(bundle, of('3', 1_000))
  assert.deepEqual(await listLateMonths(ctx.db, 10), [{ deployment_id: id, month: '2026-11-01' }])
})

test('what meters come to is read for many deployments at once, stretch by stretch', async t => {
  const bundle = await setup(t)
  const { clock, ctx } = bundle
  clock.set('2026-11-15T12:00:00Z')
  for (const aggregation of ['sum', 'unique'])
    await meterOf(bundle, { code: `by_${aggregation}`, aggregation })
  const ids = [(await deployment(bundle)).id, (await deployment(bundle, 'globex')).id].sort() as [
    string,
    string,
  ]
  const of = (id: string, name: string, day: string, value: unknown) =>
    event(id, { id: name, type: 'by_sum', time: `2026-11-${day}T23:30:00Z`, data: { value } })
  await send(bundle, [
    ...[of(ids[0], '1', '01', 1), of(ids[0], '2', '01', 0.000000001), of(ids[0], '3', '09', 3)],
    ...[of(ids[1], '1', '10', 7), of(ids[1], '2', '11', 2)],
    { ...of(ids[1], '3', '11', 'ann'), type: 'by_unique' },
  ])
  const slices = ids.flatMap(deployment_id => [
    { deployment_id, slice: 0, from_at: '2026-11-01T00:00:00Z', to_at: '2026-11-10T00:00:00Z' },
    { deployment_id, slice: 1, from_at: '2026-11-10T00:00:00Z', to_at: '2026-12-01T00:00:00Z' },
  ])
  const nano = 1_000_000_000n
  assert.deepEqual(await sumMeters(ctx.db, slices), [
    {
      ...{ deployment_id: ids[0], meter: 'by_sum', slice: 0 },
      ...{ total: 4n * nano + 1n, highest: 3n * nano, last: 0n },
    },
    {
      ...{ deployment_id: ids[1], meter: 'by_sum', slice: 1 },
      ...{ total: 9n * nano, highest: 7n * nano, last: 0n },
    },
  ])
  await meterOf(bundle, { code: 'by_last', aggregation: 'last' })
  await send(bundle, [
    { ...of(ids[0], '4', '11', 5), type: 'by_last' },
    { ...of(ids[0], '5', '12', 4), type: 'by_last' },
  ])
  const lasts = (await sumMeters(ctx.db, slices)).filter(({ meter }) => meter === 'by_last')
  assert.deepEqual(
    lasts.map(({ slice, highest, last }) => [slice, highest, last]),
    [[1, 5n * nano, 4n * nano]],
  )
  assert.deepEqual(await countMembers(ctx.db, ids, '2026-11-01'), [
    { deployment_id: ids[1], meter: 'by_unique', members: 1 },
  ])
  assert.deepEqual(await countMembers(ctx.db, ids, '2026-12-01'), [])
  assert.deepEqual(await sumMeters(ctx.db, []), [])
})

test('a meter’s price in a month that is over and in which it was used stays: 409 month_finished', async t => {
  const bundle = await setup(t)
  const { clock } = bundle
  clock.set('2026-10-10T00:00:00Z')
  for (const [code, aggregation] of [
    ['traffic', 'sum'],
    ['users', 'unique'],
    ['idle', 'sum'],
  ] as const)
    await meterOf(bundle, { code, aggregation, unit: 'gb' })
  const { id } = await deployment(bundle)
  await send(bundle, [
    event(id, { id: '1', type: 'traffic', time: '2026-10-05T00:00:00Z' }),
    event(id, { id: '2', type: 'users', time: '2026-10-05T00:00:00Z' }),
  ])
  clock.set('2026-11-15T00:00:00Z')
  const status = async (resource_kind: string, effective_from: string) => {
    const { status, body } = await price(bundle, {
      resource_kind,
      unit: 'gb',
      price_cents: 1,
      effective_from,
    })
    return status === 201 ? 201 : body.code
  }
  for (const kind of ['traffic', 'users']) {
    assert.equal(await status(kind, '2026-10-20'), 'month_finished')
    assert.equal(await status(kind, '2026-11-01'), 201)
  }
  assert.equal(await status('idle', '2026-10-20'), 201)
})
