// Moving in: deployments and subscriptions that have been there before.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgresAlone } from '../support/engine.ts'
import { addon, deployment, plan } from '../support/factories.ts'
import { closeDue, meter } from '../support/metering.ts'
import { type Bundle, setup } from '../support/setup.ts'

const path = (id: string) => `/api/v1/deployments/${id}`
const subscribe = ({ call }: Bundle, id: string, body: object, token?: string) =>
  call('POST', `${path(id)}/subscribe`, { body, token })
const create = ({ call }: Bundle, fields: object, token?: string) =>
  call('POST', '/api/v1/deployments', { body: { slug: 'shop', ...fields }, token })
const total = async ({ call }: Bundle, id: string, period: string) =>
  (await call('GET', `${path(id)}/usage?period=${period}`)).body.data.total_cents

test('a platform_admin says since when a deployment and its subscription have been there, and both are charged since then', async t => {
  const bundle = await setup(t)
  const { clock } = bundle
  const made = await create(bundle, { tenant_id: 'acme', created_at: '2026-10-10' })
  assert.equal(made.status, 201, made.text)
  const { id, created_at } = made.body.data
  assert.equal(created_at, '2026-10-10T00:00:00.000Z')
  const body = {
    plan_code: await plan(bundle, { price: 3100 }),
    addons: [await addon(bundle, { price_cents: 310 })],
  }
  const since = { ...body, effective_from: '2026-10-16T12:00:00Z', trial_ends_at: '2026-10-24T06:00:00Z' }
  const preview = await subscribe(bundle, id, { ...since, preview: true })
  assert.equal(preview.status, 200, preview.text)
  // In October 186 of 744 hours are left after the trial: a quarter of 3,410 cents, 852.5.
  assert.deepEqual(
    [preview.body.data.period, preview.body.data.changed.total_cents, preview.body.data.current.total_cents],
    ['2026-10', 853, 0],
  )
  const done = await subscribe(bundle, id, since)
  assert.equal(done.status, 201, done.text)
  assert.equal(done.body.data.addons[0].valid_from, '2026-10-16T12:00:00.000Z')
  assert.deepEqual([await total(bundle, id, '2026-10'), await total(bundle, id, '2026-11')], [853, 3410])
  clock.set('2026-11-15T13:05:00Z')
  for (let i = 0; i < 2; i++) await meter(bundle)
  assert.equal(await closeDue(bundle), 1)
  const { body: statements } = await bundle.call('GET', `${path(id)}/statements`)
  assert.deepEqual([statements.data[0].period, statements.data[0].total_cents], ['2026-10', 853])
})

test('a past time is nobody else’s to give, must be one that was, and not before the deployment', async t => {
  const bundle = await setup(t)
  const token = await bundle.tokens.tenant('acme')
  const { id } = await deployment(bundle, 'acme', { created_at: '2026-11-03T08:00:00Z' })
  const plan_code = await plan(bundle)
  assert.equal((await create(bundle, { created_at: '2026-11-01' }, token)).status, 403)
  assert.equal((await subscribe(bundle, id, { plan_code, effective_from: '2026-11-04' }, token)).status, 403)
  for (const created_at of ['2026-11-16', '2026-02-30', 'now', 'yesterday', '0001-01-01']) {
    const { status, body } = await create(bundle, { tenant_id: 'acme', created_at })
    assert.deepEqual([status, body.errors?.[0].pointer], [422, '/created_at'], created_at)
  }
  const early = await subscribe(bundle, id, { plan_code, effective_from: '2026-11-03' })
  assert.deepEqual([early.status, early.body.errors[0].pointer], [422, '/effective_from'])
  assert.equal(
    (await subscribe(bundle, id, { plan_code, effective_from: '2026-11-03T08:00:00Z' })).status,
    201,
  )
})

test('nothing begins in a month that is closed, before it neither', onPostgresAlone, async t => {
  const bundle = await setup(t)
  const { clock } = bundle
  clock.set('2026-10-05T00:00:00Z')
  const plan_code = await plan(bundle)
  const { id } = await deployment(bundle)
  await subscribe(bundle, id, { plan_code })
  clock.set('2026-11-15T12:00:00Z')
  const late = await deployment(bundle, 'acme', { created_at: '2026-09-01' })
  for (let i = 0; i < 3; i++) await meter(bundle)
  assert.equal(await closeDue(bundle), 1)
  for (const day of ['2026-09-20', '2026-10-31']) {
    const made = await create(bundle, { tenant_id: 'acme', created_at: day })
    assert.deepEqual([made.status, made.body.code], [409, 'month_closed'], day)
    const { status, body } = await subscribe(bundle, late.id, { plan_code, effective_from: day })
    assert.deepEqual([status, body.code], [409, 'month_closed'], day)
  }
  assert.equal((await subscribe(bundle, late.id, { plan_code, effective_from: '2026-11-01' })).status, 201)
})
