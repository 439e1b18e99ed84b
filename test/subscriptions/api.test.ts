import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { addon, deployment, move, plan, publish } from '../support/factories.ts'
import { type Bundle, setup } from '../support/setup.ts'

const subscribe = ({ call }: Bundle, id: string, body: object, token?: string) =>
  call('POST', `/api/v1/deployments/${id}/subscribe`, { body, token })
const change = ({ call }: Bundle, id: string, body: object, token?: string) =>
  call('POST', `/api/v1/deployments/${id}/change-plan-version`, { body, token })
const shown = async ({ call }: Bundle, id: string) =>
  (await call('GET', `/api/v1/deployments/${id}`)).body.data.subscription

test('a deployment is subscribed to the plan’s active version for the current month, with both forms of addon', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  const code = await plan(bundle, { price: 4900 })
  const [disk, seats] = [
    await addon(bundle, { qty: 100, price_cents: 500 }),
    await addon(bundle, { resource_kind: 'seats', qty: 5, price_cents: 900 }),
  ]
  const token = await bundle.tokens.tenant('acme')
  const { status, body, headers } = await subscribe(
    bundle,
    id,
    { plan_code: code, addons: [disk, { code: seats, quantity: 2 }] },
    token,
  )
  assert.equal(status, 201)
  assert.ok(headers.get('location'))
  const { data } = body
  assert.deepEqual(
    [data.deployment_id, data.plan_code, data.status, data.trial_ends_at],
    [id, code, 'active', null],
  )
  assert.deepEqual([data.current_period_start, data.current_period_end], ['2026-11-01', '2026-11-30'])
  const since = { valid_from: '2026-11-15T12:00:00.000Z', valid_to: null }
  // biome-ignore lint/suspicious/noExplicitAny: an answer
  const shownAddons = data.addons.map(({ id, ...addon }: any) => addon)
  assert.deepEqual(shownAddons, [
    {
      code: disk,
      resource_kind: 'volume',
      qty: 100,
      price_cents: 500,
      currency: 'USD',
      quantity: 1,
      ...since,
    },
    { code: seats, resource_kind: 'seats', qty: 5, price_cents: 900, currency: 'USD', quantity: 2, ...since },
  ])
  assert.deepEqual(await shown(bundle, id), data)
})

test('a later change of the catalog’s price leaves an attached addon alone', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  const disk = await addon(bundle, { qty: 100, price_cents: 500 })
  await subscribe(bundle, id, { plan_code: await plan(bundle), addons: [disk] })
  const patched = await bundle.call('PATCH', `/api/v1/catalog/addons/${disk}`, {
    body: { price_cents: 900, qty: 50 },
  })
  assert.equal(patched.status, 200, patched.text)
  const [attached] = (await shown(bundle, id)).addons
  assert.deepEqual([attached.price_cents, attached.qty], [500, 100])
})

test('a new version leaves existing subscriptions on theirs, and a new signup gets the active one', async t => {
  const bundle = await setup(t)
  const code = await plan(bundle, { price: 4900 })
  const [old, fresh] = [await deployment(bundle), await deployment(bundle)]
  await subscribe(bundle, old.id, { plan_code: code })
  const newer = await publish(bundle, code, { base_price_cents: 5900 })
  // A draft is newer still, and nobody's yet.
  await bundle.call('POST', `/api/v1/catalog/plans/${code}/versions`, {
    body: { base_price_cents: 6900, currency: 'USD', items: [] },
  })
  await subscribe(bundle, fresh.id, { plan_code: code })
  const before = await shown(bundle, old.id)
  assert.deepEqual(
    [before.plan_version.version, before.plan_version.base_price_cents, before.plan_version.status],
    [1, 4900, 'retired'],
  )
  assert.equal((await shown(bundle, fresh.id)).plan_version_id, newer)
})

test('a second subscription is 409', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  const code = await plan(bundle)
  await subscribe(bundle, id, { plan_code: code })
  const { status, body } = await subscribe(bundle, id, { plan_code: code })
  assert.equal(status, 409)
  assert.equal(body.code, 'already_subscribed')
})

test('what cannot be subscribed to is 422, naming why', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  const code = await plan(bundle)
  await bundle.call('POST', '/api/v1/catalog/plans', { body: { code: 'unpublished', name: 'x' } })
  const euro = await addon(bundle, { currency: 'EUR' })
  const disk = await addon(bundle)
  const bad: [object, string][] = [
    [{ plan_code: 'nothing' }, '/plan_code'],
    [{ plan_code: 'unpublished' }, '/plan_code'],
    [{ plan_code: code, addons: ['nothing'] }, '/addons/0'],
    [{ plan_code: code, addons: [disk, { code: disk }] }, '/addons/1'],
    [{ plan_code: code, addons: [euro] }, '/addons/0'],
    [{ plan_code: code, addons: [{ code: disk, quantity: 0 }] }, '/addons/0/quantity'],
    [{ plan_code: code, trial_ends_at: '2026-11-15T11:59:59Z' }, '/trial_ends_at'],
    [{}, '/plan_code'],
  ]
  for (const [body, pointer] of bad) {
    const answer = await subscribe(bundle, id, body)
    assert.equal(answer.status, 422, JSON.stringify(body))
    assert.ok(
      answer.body.errors.some((error: { pointer: string }) => error.pointer === pointer),
      answer.text,
    )
  }
  await move(bundle, id, 'cancelled')
  assert.equal((await subscribe(bundle, id, { plan_code: code })).status, 422)
  assert.equal(await shown(bundle, id), null)
})

test('the subscription follows its deployment: paused, active again, cancelled for good', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  await subscribe(bundle, id, { plan_code: await plan(bundle) })
  const after = async (state: string) => {
    await move(bundle, id, state)
    return (await shown(bundle, id)).status
  }
  assert.equal(await after('paused'), 'paused')
  assert.equal(await after('active'), 'active')
  assert.equal(await after('past_due'), 'active')
  assert.equal(await after('suspended'), 'paused')
  assert.equal(await after('cancelled'), 'cancelled')
  assert.equal(await after('archived'), 'cancelled')
})

test('a deployment that is paused is subscribed as paused', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  await move(bundle, id, 'paused')
  const { body } = await subscribe(bundle, id, { plan_code: await plan(bundle) })
  assert.equal(body.data.status, 'paused')
})

test('a trial’s end is a platform_admin’s to set', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  const body = { plan_code: await plan(bundle), trial_ends_at: '2026-12-01T00:00:00Z' }
  assert.equal((await subscribe(bundle, id, body, await bundle.tokens.tenant('acme'))).status, 403)
  assert.equal((await subscribe(bundle, id, body)).body.data.trial_ends_at, '2026-12-01T00:00:00.000Z')
})

test('changing the plan version moves the subscription, keeps addons, and a preview only says the difference', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  const [starter, growth] = [await plan(bundle, { price: 4900 }), await plan(bundle, { price: 9900 })]
  const disk = await addon(bundle)
  const before = (await subscribe(bundle, id, { plan_code: starter, addons: [disk] })).body.data
  const token = await bundle.tokens.tenant('acme')

  const preview = await change(bundle, id, { plan_code: growth, preview: true }, token)
  assert.equal(preview.status, 200, preview.text)
  assert.deepEqual(
    [preview.body.data.difference_cents, preview.body.data.currency, preview.body.data.preview],
    [5000, 'USD', true],
  )
  assert.deepEqual(await shown(bundle, id), before)
  const { subscription, ...said } = preview.body.data
  assert.deepEqual(subscription, before)
  assert.deepEqual(Object.keys(said), [
    ...['preview', 'from', 'to', 'currency', 'difference_cents'],
    ...['effective_from', 'month'],
  ])

  const changed = await change(bundle, id, { plan_code: growth }, token)
  assert.equal(changed.body.data.from.plan_code, starter)
  assert.equal(changed.body.data.to.plan_code, growth)
  const after = await shown(bundle, id)
  assert.equal(after.plan_code, growth)
  assert.deepEqual(
    [after.addons, after.status, after.current_period_start],
    [before.addons, before.status, before.current_period_start],
  )
  await move(bundle, id, 'paused')
  assert.equal((await change(bundle, id, { plan_code: starter }, token)).body.data.difference_cents, -5000)
  assert.equal((await shown(bundle, id)).status, 'paused', 'another version is no other state')
})

test('a version that is not active is for a platform_admin, a draft for nobody', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  const code = await plan(bundle)
  const retired = (await subscribe(bundle, id, { plan_code: code })).body.data.plan_version_id
  await publish(bundle, code, { base_price_cents: 5900 })
  await change(bundle, id, { plan_code: code })
  const draft = (
    await bundle.call('POST', `/api/v1/catalog/plans/${code}/versions`, {
      body: { base_price_cents: 1, currency: 'USD', items: [] },
    })
  ).body.data.id
  const token = await bundle.tokens.tenant('acme')
  assert.equal((await change(bundle, id, { plan_version_id: retired }, token)).status, 403)
  assert.equal((await change(bundle, id, { plan_version_id: retired })).status, 200)
  for (const body of [
    { plan_version_id: draft },
    { plan_version_id: '01980000-0000-7000-8000-000000000000' },
    {},
    { plan_code: code, plan_version_id: retired },
    { plan_code: 'nothing' },
  ]) {
    assert.equal((await change(bundle, id, body)).status, 422, JSON.stringify(body))
  }
})

test('a tenant calls a scheduled change off by choosing the version that it has, also one that is retired', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  const code = await plan(bundle)
  const token = await bundle.tokens.tenant('acme')
  const own = (await subscribe(bundle, id, { plan_code: code }, token)).body.data.plan_version_id
  await publish(bundle, code, { base_price_cents: 5900 })
  await change(bundle, id, { plan_code: code, effective_from: 'next_period' }, token)
  assert.equal((await shown(bundle, id)).scheduled_versions.length, 1)
  const { status, text } = await change(bundle, id, { plan_version_id: own }, token)
  assert.equal(status, 200, text)
  const { plan_version_id, scheduled_versions } = await shown(bundle, id)
  assert.deepEqual([plan_version_id, scheduled_versions], [own, []])
})

test('without a subscription there is nothing to change: 409', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  const { status, body } = await change(bundle, id, { plan_code: await plan(bundle) })
  assert.equal(status, 409)
  assert.equal(body.code, 'not_subscribed')
})

test('on the first of a month the task moves living subscriptions into the new period, once', async t => {
  const bundle = await setup(t, { worker: true })
  const code = await plan(bundle)
  const [living, over] = [await deployment(bundle), await deployment(bundle)]
  for (const { id } of [living, over]) await subscribe(bundle, id, { plan_code: code })
  await move(bundle, over.id, 'cancelled')
  bundle.clock.set('2027-01-01T00:01:00Z')
  for (let i = 0; i < 2; i++) {
    const run = await bundle.call('POST', '/api/v1/admin/scheduled_tasks/subscription_periods/run')
    await eventually(
      'the task is done',
      async () =>
        (await bundle.call('GET', run.headers.get('location') ?? '')).body.data.status === 'completed',
    )
    const { current_period_start, current_period_end } = await shown(bundle, living.id)
    assert.deepEqual([current_period_start, current_period_end], ['2027-01-01', '2027-01-31'])
  }
  assert.equal((await shown(bundle, over.id)).current_period_start, '2026-11-01')
})

test('every version of a plan tells how many subscriptions have it, those that are cancelled aside', async t => {
  const bundle = await setup(t)
  const code = await plan(bundle)
  const versions = `/api/v1/catalog/plans/${code}/versions`
  const counts = async () => {
    const { body } = await bundle.call('GET', versions)
    const listed = body.data.map((version: { version: number; subscriptions: number }) => [
      version.version,
      version.subscriptions,
    ])
    for (const version of body.data)
      assert.deepEqual((await bundle.call('GET', `${versions}/${version.version}`)).body.data, version)
    return listed
  }
  assert.deepEqual(await counts(), [[1, 0]])
  const made = []
  for (let n = 0; n < 4; n++) {
    const { id } = await deployment(bundle)
    await subscribe(bundle, id, { plan_code: code })
    made.push(id)
  }
  await publish(bundle, code, { base_price_cents: 100 })
  assert.deepEqual(await counts(), [
    [2, 0],
    [1, 4],
  ])
  await change(bundle, made[0]!, { plan_code: code })
  await move(bundle, made[1]!, 'paused')
  await move(bundle, made[2]!, 'cancelled')
  assert.deepEqual(await counts(), [
    [2, 1],
    [1, 2],
  ])
})
