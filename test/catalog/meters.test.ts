// Meters in the catalog, and what a kind may be priced by.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { plan } from '../support/factories.ts'
import { type Bundle, setup } from '../support/setup.ts'

const base = '/api/v1/catalog'
const tokens = { code: 'llm_tokens', name: 'Tokens', aggregation: 'sum', unit: 'token', scale: 1_000_000 }

const made = async ({ call }: Bundle, body: object) => {
  const { status, body: answer, text } = await call('POST', `${base}/meters`, { body })
  assert.equal(status, 201, text)
  return answer.data
}

test('a meter is created, shown to everybody and renamed; what it counts stays', async t => {
  const bundle = await setup(t)
  const { call, tokens: bearers, clock } = bundle
  clock.set('2026-11-15T12:00:00Z')
  const meter = { ...tokens, created_at: '2026-11-15T12:00:00.000Z' }
  const created = await call('POST', `${base}/meters`, { body: tokens })
  assert.deepEqual([created.status, created.body.data], [201, meter])
  assert.equal(created.headers.get('location'), `${base}/meters/llm_tokens`)
  const seats = await made(bundle, { code: 'seats', aggregation: 'unique', unit: 'user' })
  assert.deepEqual([seats.name, seats.scale], ['seats', 1])
  const taken = await call('POST', `${base}/meters`, { body: tokens })
  assert.deepEqual([taken.status, taken.body.code], [409, 'meter_code_taken'])

  const token = await bearers.tenant('acme')
  assert.deepEqual((await call('GET', `${base}/meters/llm_tokens`, { token })).body.data, meter)
  assert.equal((await call('GET', `${base}/meters/other`, { token })).status, 404)
  const first = await call('GET', `${base}/meters?limit=1`, { token })
  assert.deepEqual(first.body.data, [meter])
  const rest = await call('GET', `${base}/meters?cursor=${first.body.next_cursor}`, { token })
  assert.deepEqual(rest.body.data, [seats])
  for (const [method, path] of [
    ['POST', 'meters'],
    ['PATCH', 'meters/seats'],
  ] as const)
    assert.equal((await call(method, `${base}/${path}`, { token, body: tokens })).status, 403)

  const renamed = await call('PATCH', `${base}/meters/llm_tokens`, { body: { name: 'LLM tokens' } })
  assert.deepEqual([renamed.status, renamed.body.data], [200, { ...meter, name: 'LLM tokens' }])
  assert.deepEqual((await call('PATCH', `${base}/meters/seats`, { body: {} })).body.data, seats)
  assert.equal((await call('PATCH', `${base}/meters/other`, { body: { name: 'x' } })).status, 404)
  const changed = await call('PATCH', `${base}/meters/seats`, { body: { scale: 2 } })
  assert.deepEqual(changed.body.errors, [{ pointer: '/scale', message: 'is not a known field' }])
  await assert.rejects(sql`update meters set scale = 2 where code = 'seats'`.execute(bundle.ctx.db), /name/)
  await assert.rejects(sql`delete from meters`.execute(bundle.ctx.db), /name/)
})

test('a meter is no kind of the inventory, and adds up in one of four ways', async t => {
  const { call } = await setup(t)
  for (const [fields, pointer, message] of [
    [{ code: 'droplet' }, '/code', 'droplet is a kind of the inventory, which is metered by the hour'],
    [{ code: 'LLM' }, '/code', /pattern/],
    [{ aggregation: 'avg' }, '/aggregation', 'must be one of sum, max, last, unique'],
    [{ scale: 0 }, '/scale', 'must be >= 1'],
    [{ scale: 1.5 }, '/scale', 'must be integer'],
    [{ unit: '' }, '/unit', /pattern/],
    [{ name: ' ' }, '/name', /pattern/],
  ] as const) {
    const { status, body } = await call('POST', `${base}/meters`, { body: { ...tokens, ...fields } })
    assert.deepEqual([status, body.errors.length, body.errors[0].pointer], [422, 1, pointer])
    if (typeof message === 'string') assert.equal(body.errors[0].message, message)
    else assert.match(body.errors[0].message, message)
  }
})

test('a unit that nothing measures is refused when the catalog is written: in drafts, their changes and prices', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const code = await plan(bundle)
  await made(bundle, tokens)
  const versions = `${base}/plans/${code}/versions`
  const version = (resource_kind: string, overage_unit: string) => ({
    base_price_cents: 0,
    currency: 'USD',
    items: [{ resource_kind: 'snapshot' }, { resource_kind, overage_unit, overage_price_cents: 90 }],
  })
  const price = (resource_kind: string, unit: string) => ({
    ...{ resource_kind, unit, price_cents: 120, currency: 'USD', effective_from: '2026-01-01' },
  })
  for (const [kind, unit] of [
    ['llm_tokens', 'token'],
    ['volume', 'month'],
    ['seats', 'day'],
  ] as const) {
    const draft = await call('POST', versions, { body: version(kind, unit) })
    assert.equal(draft.status, 201, draft.text)
    const priced = await call('POST', `${base}/resource-prices`, { body: price(kind, unit) })
    assert.equal(priced.status, 201, priced.text)
  }
  const time = 'it is measured by hour, day, month'
  for (const [kind, unit, message] of [
    ['volume', 'gb', `nothing measures volume by gb: ${time}`],
    ['seats', 'token', `nothing measures seats by token: ${time}`],
    ['llm_tokens', 'month', 'nothing measures llm_tokens by month: it is measured by token'],
  ] as const) {
    for (const [method, path] of [
      ['POST', versions],
      ['PUT', `${versions}/2`],
    ] as const) {
      const { status, body } = await call(method, path, { body: version(kind, unit) })
      assert.deepEqual([status, body.errors], [422, [{ pointer: '/items/1/overage_unit', message }]])
    }
    const { status, body } = await call('POST', `${base}/resource-prices`, { body: price(kind, unit) })
    assert.deepEqual([status, body.errors], [422, [{ pointer: '/unit', message }]])
  }
})

test('a currency that ISO 4217 does not know is refused wherever the catalog has one', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const code = await plan(bundle)
  const addon = { code: 'more', resource_kind: 'volume', qty: 1, price_cents: 1 }
  const price = { resource_kind: 'volume', unit: 'hour', price_cents: 1, effective_from: '2026-01-01' }
  for (const currency of ['XYZ', 'usd', 'US', 'DEM', 'XXX', '']) {
    for (const [path, body] of [
      [`plans/${code}/versions`, { base_price_cents: 0 }],
      ['addons', addon],
      ['resource-prices', price],
    ] as const) {
      const answer = await call('POST', `${base}/${path}`, { body: { ...body, currency } })
      assert.equal(answer.status, 422)
      assert.deepEqual(answer.body.errors, [
        { pointer: '/currency', message: 'is not a currency of ISO 4217' },
      ])
    }
  }
  for (const currency of ['EUR', 'JPY', 'CHF'])
    assert.equal(
      (await call('POST', `${base}/resource-prices`, { body: { ...price, currency } })).status,
      201,
    )
})
