// A month as it builds up: each day by hand-written arithmetic, and the last one as usage has it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { monthAt } from '../../src/features/metering/period.ts'
import { daysOf } from '../../src/features/metering/usage-by-day.ts'
import { addon, deployment, plan } from '../support/factories.ts'
import { meter, tied } from '../support/metering.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { event, meterOf, send } from '../support/usage-events.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers
type Any = any

const path = (id: string) => `/api/v1/deployments/${id}/usage`
const read = async ({ call }: Bundle, asked: string, token?: string) => {
  const { status, body, text } = await call('GET', asked, { token })
  assert.equal(status, 200, text)
  return body.data
}
/** Base, addons, overage, meters and all of it. */
const short = ({ base_cents, addons_cents, overage_cents, meters_cents, total_cents }: Any) => [
  base_cents,
  addons_cents,
  overage_cents,
  meters_cents,
  total_cents,
]

test('a month has its days, those of a leap year too', () => {
  const days = (month: string) => daysOf(monthAt(month, new Date('2026-11-15T00:00:00Z')))
  assert.equal(days('2026-02').length, 28)
  assert.equal(days('2028-02').length, 29)
  const november = days('2026-11')
  assert.deepEqual([november[0], november[29], november.length], ['2026-11-01', '2026-11-30', 30])
})

test('a month builds up day by day: base, addons, overage and meters so far, and what is to come', async t => {
  const bundle = await setup(t)
  const { call, clock, tokens } = bundle
  clock.set('2026-11-01T00:00:00Z')
  await meterOf(bundle, { code: 'tokens', unit: 'token' })
  await meterOf(bundle, { code: 'seats', unit: 'seat', aggregation: 'max' })
  await meterOf(bundle, { code: 'users', unit: 'user', aggregation: 'unique' })
  const item = (
    resource_kind: string,
    overage_unit: string,
    overage_price_cents: number,
    included_qty = 0,
  ) => ({
    ...{ resource_kind, included_qty, overage_unit, overage_price_cents },
  })
  const items = [
    item('droplet', 'hour', 1, 1),
    item('tokens', 'token', 10, 1),
    item('seats', 'seat', 50),
    item('users', 'user', 7),
  ]
  // 100 and 300 cents a day, and from the tenth on 20.
  const small = await plan(bundle, { price: 3000, items })
  const large = await plan(bundle, { price: 9000, items })
  const more = await addon(bundle, { resource_kind: 'volume', qty: 1, price_cents: 600 })
  const { id } = await deployment(bundle)
  const act = async (what: string, body: object) => {
    const { status, text } = await call('POST', `/api/v1/deployments/${id}/${what}`, { body })
    assert.ok(status < 300, text)
  }
  await act('subscribe', { plan_code: small })
  await act('change-plan-version', { plan_code: large, effective_from: '2026-11-06' })
  await act('addons', { code: more, effective_from: '2026-11-10' })
  await tied(bundle, '2026-11-09T00:00:00Z', 'droplet', ['1', '2'], id)
  clock.set('2026-11-12T12:05:00Z')
  const told = (type: string, day: string, value: number | string) =>
    event(id, { id: `${type} ${day} ${value}`, type, time: `2026-11-${day}T12:00:00Z`, data: { value } })
  await send(bundle, [
    ...[told('tokens', '05', 3), told('tokens', '07', 1)],
    ...[told('seats', '03', 2), told('seats', '08', 5), told('seats', '09', 1)],
    ...[told('users', '02', 'ann'), told('users', '04', 'bob'), told('users', '11', 'ann')],
  ])
  await meter(bundle)

  const token = await tokens.tenant('acme')
  const { days, ...about } = await read(bundle, `${path(id)}/days`, token)
  assert.deepEqual(about, {
    ...{ deployment_id: id, tenant_id: 'acme', period: '2026-11', currency: 'USD' },
    metered_until: '2026-11-12T12:00:00.000Z',
  })
  assert.deepEqual(
    [days.length, days[0].day, days[11].forecast, days[12].forecast, days[29].day],
    [30, '2026-11-01', false, true, '2026-11-30'],
  )
  const of = (day: number) => short(days[day - 1])
  assert.deepEqual(of(1), [100, 0, 0, 14, 114], 'two different users in the month')
  assert.deepEqual(of(3), [300, 0, 0, 114, 414], 'two seats')
  assert.deepEqual(of(5), [500, 0, 0, 134, 634], 'three tokens, one of them included')
  assert.deepEqual(of(6), [800, 0, 0, 134, 934], 'the larger plan')
  assert.deepEqual(of(8), [1400, 0, 0, 294, 1694], 'one more token, five seats')
  assert.deepEqual(of(9), [1700, 0, 24, 294, 2018], 'a droplet beyond the one that is included')
  assert.deepEqual(of(10), [2000, 20, 48, 294, 2362], 'the addon')
  assert.deepEqual(of(12), [2451, 50, 84, 294, 2879], 'today up to now, and up to what is metered')
  const { forecast_cents, total_cents } = await read(bundle, path(id))
  assert.deepEqual(of(13).slice(0, 3), [2900, 80, 120])
  assert.equal(days[29].total_cents, forecast_cents)
  assert.deepEqual(of(30).slice(0, 3), [8000, 420, 22 * 24])
  assert.equal(total_cents, 8000 + 420 + 84 + 294)

  clock.set('2026-12-01T00:05:00Z')
  await meter(bundle)
  const over = await read(bundle, `${path(id)}/days?period=2026-11`)
  const whole = await read(bundle, `${path(id)}?period=2026-11`)
  assert.deepEqual(over.days[29].forecast, false)
  assert.deepEqual(short(over.days[29]), [8000, 420, 528, 294, whole.total_cents])
  assert.deepEqual(short(over.days[11]), [2600, 60, 96, 294, 3050])

  const other = await call('GET', `${path(id)}/days`, { token: await tokens.tenant('globex') })
  assert.equal(other.status, 404)
  assert.equal((await call('GET', `${path(id)}/days?period=2027-01`)).status, 422)
})
