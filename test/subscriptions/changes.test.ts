// Changes of a subscription that count from a day: of its plan, of its addons, and what each would make of the month.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgresAlone } from '../support/engine.ts'
import { addon, deployment, move, plan, publish } from '../support/factories.ts'
import { meter, tied } from '../support/metering.ts'
import { type Bundle, setup } from '../support/setup.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers
type Any = any

const path = (id: string) => `/api/v1/deployments/${id}`
const subscribe = async ({ call }: Bundle, id: string, body: object) => {
  const { status, body: answer, text } = await call('POST', `${path(id)}/subscribe`, { body })
  assert.equal(status, 201, text)
  return answer.data
}
const change = async ({ call }: Bundle, id: string, body: object) => {
  const { status, body: answer, text } = await call('POST', `${path(id)}/change-plan-version`, { body })
  assert.equal(status, 200, text)
  return answer.data
}
const attach = async ({ call }: Bundle, id: string, body: object) => {
  const { status, body: answer, text } = await call('POST', `${path(id)}/addons`, { body })
  assert.equal(status, 201, text)
  return answer.data
}
const detach = ({ call }: Bundle, id: string, addonId: string, query = '') =>
  call('DELETE', `${path(id)}/addons/${addonId}${query}`)
const shown = async ({ call }: Bundle, id: string) => (await call('GET', path(id))).body.data.subscription
const usage = async ({ call }: Bundle, id: string, period?: string) =>
  (await call('GET', `${path(id)}/usage${period ? `?period=${period}` : ''}`)).body.data

/** Subscribed from the first of November on, at 3,000 cents. */
async function subscribed(bundle: Bundle, more: object = {}) {
  bundle.clock.set('2026-11-01T00:00:00Z')
  const [basic, pro] = [await plan(bundle, { price: 3000 }), await plan(bundle, { price: 9000 })]
  const { id } = await deployment(bundle)
  await subscribe(bundle, id, { plan_code: basic, ...more })
  return { id, basic, pro }
}

test('a change by a node whose clock is behind the one that subscribed holds at once, and is in the audit log', async t => {
  const bundle = await setup(t)
  const { id, pro } = await subscribed(bundle)
  bundle.clock.advance(-30)
  const { subscription, effective_from } = await change(bundle, id, { plan_code: pro })
  assert.deepEqual([subscription.plan_code, effective_from], [pro, '2026-11-01T00:00:00.000Z'])
  const { body } = await bundle.call(
    'GET',
    `/api/v1/admin/audit_log?subject_type=subscriptions&subject_id=${subscription.id}`,
  )
  assert.deepEqual(
    body.data.map(({ operation, action }: Any) => [operation, action]),
    [
      ['changePlanVersion', 'updated'],
      ['subscribeDeployment', 'created'],
    ],
  )
})

test('a change of plan from a day on is shown as scheduled, charged ahead, and holds when the day has come', async t => {
  const bundle = await setup(t)
  const { id, basic, pro } = await subscribed(bundle)
  bundle.clock.set('2026-11-05T10:00:00Z')
  const done = await change(bundle, id, { plan_code: pro, effective_from: '2026-11-16' })
  assert.deepEqual([done.effective_from, done.subscription.plan_code], ['2026-11-16T00:00:00.000Z', basic])
  const before = await shown(bundle, id)
  assert.deepEqual(
    before.scheduled_versions.map((each: Any) => [
      each.effective_from,
      each.plan_code,
      each.base_price_cents,
    ]),
    [['2026-11-16T00:00:00.000Z', pro, 9000]],
  )
  const early = await usage(bundle, id)
  // 15 days of each.
  assert.deepEqual([early.plan_code, early.base_price_cents], [basic, 1500 + 4500])
  bundle.clock.set('2026-11-15T23:59:59.999Z')
  assert.equal((await shown(bundle, id)).plan_code, basic)
  bundle.clock.set('2026-11-16T00:00:00Z')
  const after = await shown(bundle, id)
  assert.deepEqual([after.plan_code, after.plan_version.base_price_cents], [pro, 9000])
  assert.deepEqual(after.scheduled_versions, [])
  assert.deepEqual(
    [(await usage(bundle, id)).plan_code, (await usage(bundle, id)).base_price_cents],
    [pro, 6000],
  )
})

test('a later change calls off what was scheduled for its time or after it, also one to what holds', async t => {
  const bundle = await setup(t)
  const { id, basic, pro } = await subscribed(bundle)
  bundle.clock.set('2026-11-05T10:00:00Z')
  await change(bundle, id, { plan_code: pro, effective_from: 'next_period' })
  await change(bundle, id, { plan_code: pro, effective_from: '2026-11-16T00:00:00Z' })
  assert.deepEqual(
    (await shown(bundle, id)).scheduled_versions.map((each: Any) => each.effective_from),
    ['2026-11-16T00:00:00.000Z'],
  )
  await change(bundle, id, { plan_code: basic })
  assert.deepEqual((await shown(bundle, id)).scheduled_versions, [])
  bundle.clock.set('2026-12-24T00:00:00Z')
  assert.equal((await shown(bundle, id)).plan_code, basic)
  assert.equal((await usage(bundle, id, '2026-11')).base_price_cents, 3000)
  assert.equal((await usage(bundle, id)).base_price_cents, 3000)
})

test('a cancellation ends what holds and calls off what was scheduled', async t => {
  const bundle = await setup(t)
  const { id, basic, pro } = await subscribed(bundle)
  bundle.clock.set('2026-11-11T00:00:00Z')
  await change(bundle, id, { plan_code: pro, effective_from: 'next_period' })
  await move(bundle, id, 'cancelled')
  const ended = await shown(bundle, id)
  assert.deepEqual([ended.status, ended.plan_code, ended.scheduled_versions], ['cancelled', basic, []])
  // Ten of thirty days.
  assert.equal((await usage(bundle, id)).base_price_cents, 1000)
  bundle.clock.set('2026-12-11T00:00:00Z')
  assert.equal((await usage(bundle, id)).base_price_cents, 0)
})

test('addons are added and removed after subscribing, now or from a day on, for their part of the month', async t => {
  const bundle = await setup(t)
  const { id } = await subscribed(bundle)
  const seats = await addon(bundle, { resource_kind: 'seats', qty: 5, price_cents: 900 })
  bundle.clock.set('2026-11-11T00:00:00Z')
  const token = await bundle.tokens.tenant('acme')
  const made = await bundle.call('POST', `${path(id)}/addons`, { body: { code: seats, quantity: 2 }, token })
  assert.equal(made.status, 201, made.text)
  assert.ok(made.headers.get('location'))
  const { id: first, ...rest } = made.body.data
  assert.deepEqual(rest, {
    code: seats,
    resource_kind: 'seats',
    qty: 5,
    price_cents: 900,
    currency: 'USD',
    quantity: 2,
    valid_from: '2026-11-11T00:00:00.000Z',
    valid_to: null,
  })
  assert.deepEqual((await shown(bundle, id)).addons, [made.body.data])
  await bundle.call('PATCH', `/api/v1/catalog/addons/${seats}`, { body: { price_cents: 600 } })
  // Three instead of two from the 21st on, at the catalog's price of then: 10 days of 1,800 cents and 10 of 1,800.
  assert.equal((await detach(bundle, id, first, '?effective_from=2026-11-21')).status, 204)
  const second = await attach(bundle, id, { code: seats, quantity: 3, effective_from: '2026-11-21' })
  const scheduled = await shown(bundle, id)
  assert.deepEqual(
    [scheduled.addons[0].valid_to, scheduled.scheduled_addons],
    ['2026-11-21T00:00:00.000Z', [second]],
  )
  assert.deepEqual(
    (await usage(bundle, id)).addons.map((line: Any) => [line.quantity, line.amount_cents]),
    [
      [2, 600],
      [3, 600],
    ],
  )
  // Called off before it has begun; and the first ends now.
  assert.equal((await detach(bundle, id, second.id)).status, 204)
  assert.equal((await detach(bundle, id, second.id)).status, 404)
  bundle.clock.set('2026-11-14T00:00:00Z')
  assert.equal((await detach(bundle, id, first)).status, 204)
  assert.equal((await detach(bundle, id, first)).status, 404)
  const { addons, scheduled_addons } = await shown(bundle, id)
  assert.deepEqual([addons, scheduled_addons], [[], []])
  // Three of thirty days of 1,800.
  const last = await usage(bundle, id)
  assert.deepEqual(
    last.addons.map((line: Any) => line.amount_cents),
    [180],
  )
  assert.equal(last.kinds.find((kind: Any) => kind.kind === 'seats').included, 0)
})

test('what cannot be changed is refused, naming why', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const { id, pro } = await subscribed(bundle)
  bundle.clock.set('2026-11-11T00:00:00Z')
  const [seats, euro] = [await addon(bundle), await addon(bundle, { currency: 'EUR' })]
  const { id: held } = await attach(bundle, id, { code: seats })
  const at = (effective_from: string) => ({ effective_from })
  const refused: [string, string, object | undefined, number, string][] = [
    ['POST', '/change-plan-version', { plan_code: pro, ...at('2026-11-10') }, 422, '/effective_from'],
    ['POST', '/change-plan-version', { plan_code: pro, ...at('2026-11-31') }, 422, '/effective_from'],
    ['POST', '/change-plan-version', { plan_code: pro, ...at('tomorrow') }, 422, '/effective_from'],
    ['POST', '/subscribe', { plan_code: pro, ...at('2026-02-30') }, 422, '/effective_from'],
    ['POST', '/addons', { code: seats, ...at('2026-11-10T23:59:59Z') }, 422, '/effective_from'],
    ['POST', '/addons', { code: 'nothing' }, 422, '/code'],
    ['POST', '/addons', { code: euro }, 422, '/code'],
    ['POST', '/addons', { code: seats, quantity: 0 }, 422, '/quantity'],
    ['POST', '/addons', { code: seats }, 409, 'addon_attached'],
    ['POST', '/addons', { code: seats, ...at('2026-12-24') }, 409, 'addon_attached'],
    ['DELETE', `/addons/${held}?effective_from=2026-11-01`, undefined, 422, '?effective_from'],
    ['DELETE', '/addons/01980000-0000-7000-8000-000000000000', undefined, 404, 'not_found'],
  ]
  for (const [method, where, body, status, what] of refused) {
    const answer = await call(method, `${path(id)}${where}`, { body })
    assert.equal(answer.status, status, `${where} ${JSON.stringify(body)} ${answer.text}`)
    const named = [answer.body.code, ...(answer.body.errors ?? []).map((error: Any) => error.pointer)]
    assert.ok(named.includes(what), answer.text)
  }
  await detach(bundle, id, held, '?effective_from=2026-11-20')
  const late = await detach(bundle, id, held, '?effective_from=2026-11-21')
  assert.equal(late.status, 422, 'it ends before that')
  const token = await tokens.tenant('globex')
  assert.equal((await call('POST', `${path(id)}/addons`, { body: { code: seats }, token })).status, 404)
  assert.equal((await call('DELETE', `${path(id)}/addons/${held}`, { token })).status, 404)
  const other = await deployment(bundle)
  assert.equal(
    (await call('POST', `${path(other.id)}/addons`, { body: { code: seats } })).body.code,
    'not_subscribed',
  )
  await subscribe(bundle, other.id, { plan_code: pro })
  assert.equal((await detach(bundle, other.id, held)).status, 404, 'of another subscription')
  await move(bundle, id, 'cancelled')
  assert.equal((await call('POST', `${path(id)}/addons`, { body: { code: seats } })).status, 422)
})

test('changes of terms and addons are in the audit log, the scheduled ones too', async t => {
  const bundle = await setup(t)
  const { id, pro } = await subscribed(bundle)
  const seats = await addon(bundle)
  await change(bundle, id, { plan_code: pro, effective_from: 'next_period' })
  const { id: held } = await attach(bundle, id, { code: seats })
  await detach(bundle, id, held, '?effective_from=next_period')
  const { body } = await bundle.call('GET', '/api/v1/admin/audit_log?limit=500')
  const entries = body.data
    .filter((entry: Any) => ['changePlanVersion', 'addAddon', 'removeAddon'].includes(entry.operation))
    .map((entry: Any) => `${entry.operation} ${entry.subject_type} ${entry.action}`)
  assert.deepEqual(entries.sort(), [
    'addAddon subscription_addons created',
    'changePlanVersion subscription_terms created',
    'changePlanVersion subscription_terms updated',
    'removeAddon subscription_addons updated',
  ])
})

test(
  'a preview shows to the cent what the month ends with, as things stand and with the change, and changes nothing',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { call, clock } = bundle
    clock.set('2026-11-01T00:00:00Z')
    const items = (included_qty: number, overage_price_cents: number) => [
      { resource_kind: 'droplet', included_qty, overage_unit: 'hour', overage_price_cents },
    ]
    const basic = await plan(bundle, { price: 3000, items: items(1, 2) })
    const pro = await plan(bundle, { price: 9000, items: items(2, 1) })
    const seats = await addon(bundle, { resource_kind: 'droplet', qty: 1, price_cents: 301 })
    const { id } = await deployment(bundle)
    const month = (answer: Any) => [
      answer.current.total_cents,
      answer.changed.total_cents,
      answer.difference_cents,
    ]

    const first = await call('POST', `${path(id)}/subscribe`, { body: { plan_code: basic, preview: true } })
    assert.equal(first.status, 200, first.text)
    assert.deepEqual(month(first.body.data), [0, 3000, 3000])
    assert.equal(await shown(bundle, id), null)
    await subscribe(bundle, id, { plan_code: basic })
    const twice = await call('POST', `${path(id)}/subscribe`, { body: { plan_code: basic, preview: true } })
    assert.equal(twice.body.code, 'already_subscribed')

    await tied(bundle, '2026-11-10T00:00:00Z', 'droplet', ['1', '2', '3'], id)
    clock.set('2026-11-11T00:05:00Z')
    await meter(bundle)
    clock.set('2026-11-12T00:00:00Z')
    const before = await shown(bundle, id)
    // Two beyond what is included: 24 hours are metered, 480 to come, at 2 cents.
    const standing = 3000 + 2 * 2 * (24 + 480)
    assert.equal((await usage(bundle, id)).forecast_cents, standing)
    const changed = await change(bundle, id, { plan_code: pro, effective_from: '2026-11-16', preview: true })
    // 15 days of each; 144 hours with two beyond at 2 cents, then 360 with one at 1.
    const withPro = 1500 + 4500 + 2 * 2 * 144 + 360
    assert.deepEqual(month(changed.month), [standing, withPro, withPro - standing])
    assert.deepEqual(
      changed.month.changed.lines.map((line: Any) => [
        ...[line.kind, line.code, line.from.slice(5, 10), line.to.slice(5, 10)],
        ...[line.quantity, line.unit, line.price_cents, line.amount_cents],
      ]),
      [
        ['base', basic, '11-01', '11-16', '0.5', 'month', 3000, 1500],
        ['base', pro, '11-16', '12-01', '0.5', 'month', 9000, 4500],
        ['included', 'droplet', '11-01', '12-01', '24', 'hour', null, 0],
        ['overage', 'droplet', '11-01', '11-16', '288', 'hour', 2, 576],
        ['overage', 'droplet', '11-16', '12-01', '360', 'hour', 1, 360],
      ],
    )
    const next = await change(bundle, id, { plan_code: pro, effective_from: 'next_period', preview: true })
    // All of December: 744 hours.
    assert.deepEqual(
      [next.month.period, ...month(next.month)],
      ['2026-12', 3000 + 2 * 2 * 744, 9000 + 744, 9744 - 5976],
    )
    const more = await call('POST', `${path(id)}/addons`, { body: { code: seats, preview: true } })
    assert.equal(more.status, 200, more.text)
    // 19 of 30 days of 301 are 190.63 cents; one is beyond from then on, and two were on the days before.
    const withSeats = 3191 + 2 * 2 * 48 + 2 * 456
    assert.deepEqual(month(more.body.data), [standing, withSeats, withSeats - standing])
    assert.deepEqual(await shown(bundle, id), before)

    // What was foretold is what comes.
    const { id: held } = await attach(bundle, id, { code: seats })
    assert.equal((await usage(bundle, id)).forecast_cents, withSeats)
    const less = await detach(bundle, id, held, '?preview=true&effective_from=2026-11-12T00:00:00Z')
    assert.equal(less.status, 200, less.text)
    assert.deepEqual(month(less.body.data), [withSeats, standing, standing - withSeats])
    clock.set('2026-12-01T00:05:00Z')
    await meter(bundle)
    assert.equal((await usage(bundle, id, '2026-11')).total_cents, withSeats)
  },
)

test('a subscription may begin on a day to come, and is changed from then on', async t => {
  const bundle = await setup(t)
  bundle.clock.set('2026-11-05T00:00:00Z')
  const [basic, pro] = [await plan(bundle, { price: 3000 }), await plan(bundle, { price: 9000 })]
  const { id } = await deployment(bundle)
  const made = await subscribe(bundle, id, { plan_code: basic, effective_from: '2026-11-16' })
  assert.deepEqual([made.plan_code, made.scheduled_versions.length], [basic, 1])
  assert.equal((await usage(bundle, id)).base_price_cents, 1500)
  await change(bundle, id, { plan_code: pro })
  const after = await shown(bundle, id)
  assert.deepEqual(
    [after.plan_code, after.scheduled_versions[0].effective_from],
    [pro, '2026-11-16T00:00:00.000Z'],
  )
  assert.equal((await usage(bundle, id)).base_price_cents, 4500)
})

test('an old version, chosen for a day to come by a platform_admin, holds then', async t => {
  const bundle = await setup(t)
  const { id, basic } = await subscribed(bundle)
  const old = (await shown(bundle, id)).plan_version_id
  await publish(bundle, basic, { base_price_cents: 6000 })
  bundle.clock.set('2026-11-11T00:00:00Z')
  await change(bundle, id, { plan_code: basic })
  await change(bundle, id, { plan_version_id: old, effective_from: '2026-11-21' })
  // Ten days each of 3,000, 6,000 and 3,000.
  assert.equal((await usage(bundle, id)).base_price_cents, 1000 + 2000 + 1000)
})
