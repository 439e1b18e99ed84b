// Months that have no invoice yet: estimated by list prices and by what the provider says, and compared when the invoice is in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { costEstimate } from '../../src/features/billing/index.ts'
import { insertBalance } from '../../src/features/billing/invoice-store.ts'
import { sizeSync } from '../../src/features/inventory/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { changedHands, haveIngested, haveResource } from '../support/billing.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { deployment } from '../support/factories.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { jobPart } from '../support/sweep.ts'

const run = { ...jobPart(), id: 'run', attempt: 1 }
const estimate = ({ ctx }: Bundle) => costEstimate(ctx).run(run)
const dollars = (text: string) => ({ amount: text, minor: Math.round(Number(text) * 100) })

async function haveBalance({ ctx }: Bundle, month_to_date_usage: string, generated_at: string) {
  const amounts = { month_to_date_balance: '0', account_balance: '0', month_to_date_usage }
  const times = { generated_at, recorded_at: ctx.clock.now().toISOString() }
  await insertBalance(ctx.db, {
    id: newId(),
    provider: 'digitalocean',
    currency: 'USD',
    ...amounts,
    ...times,
  })
}

const small = { size_slug: 's-1vcpu-1gb' } // 6 dollars a month, 0.00893 an hour

/** Ten days into November: a droplet all along, one that is gone, a volume of acme's, what is free and what has no price. */
async function haveNovember(bundle: Bundle) {
  bundle.clock.set('2026-11-11T00:30:00Z')
  await sizeSync(bundle.ctx).run(run)
  const shop = await deployment(bundle, 'acme')
  const web = { tenant: 'acme', deployment: shop.id, attrs: small }
  await haveResource(bundle, { name: 'web', tags: ['env:prod'], ...web })
  const gone = {
    first: '2026-10-02T00:00:00Z',
    last: '2026-11-03T11:00:00Z',
    deleted: '2026-11-03T12:00:00Z',
  }
  await haveResource(bundle, { name: 'old', tenant: 'globex', attrs: small, ...gone })
  const volume = { kind: 'volume', first: '2026-11-06T00:00:00Z', attrs: { size_gigabytes: 100 } }
  await haveResource(bundle, { name: 'data', tenant: 'acme', ...volume })
  await haveResource(bundle, { name: 'bad', tenant: 'acme', attrs: { size_slug: 'nobody-lists-it' } })
  await haveResource(bundle, { name: 'net', kind: 'vpc' })
  await haveResource(bundle, { name: '2001:db8::1', kind: 'reserved_ip', attrs: { droplet: null } })
  await haveBalance(bundle, '5.00', '2026-11-11T00:00:00Z')
  return shop
}

test('the running month is what the provider says it has cost, by resources at their list prices', async t => {
  const bundle = await setup(t, { provider: {} })
  const shop = await haveNovember(bundle)
  assert.equal((await bundle.call('GET', '/api/v1/billing/costs/estimate')).body.data, null)
  await estimate(bundle)
  const rows = async (query: string, token?: string) => {
    const path = `/api/v1/${token ? '' : 'billing/'}costs?from=2026-11-01&to=2026-11-30&${query}`
    const { body } = await bundle.call('GET', path, token ? { token } : {})
    return body.data as Record<string, string | number | boolean | null>[]
  }
  const [all] = await rows('')
  assert.deepEqual([all!.period, all!.estimate, all!.amount_minor, all!.lines], ['2026-11-01', true, 500, 4])
  // 240 and 60 hours at 0.00893, 120 hours of 10 dollars a month of 672, and what is left of the provider's 5 dollars.
  const parts = { web: dollars('2.143200'), old: dollars('0.535800'), data: dollars('1.785714') }
  const shown = (list: (typeof all)[], dimension: string) =>
    list.map(row => [row![dimension], row!.amount, row!.amount_minor])
  assert.deepEqual(shown(await rows('group_by=kind'), 'kind'), [
    ['droplet', '2.679000', parts.web.minor + parts.old.minor],
    ['other', '0.530000', 53],
    ['volume', parts.data.amount, parts.data.minor],
  ])
  assert.deepEqual(shown(await rows('group_by=tenant'), 'tenant_id'), [
    [null, '0.530000', 53],
    ['acme', '3.928914', parts.web.minor + parts.data.minor],
    ['globex', parts.old.amount, parts.old.minor],
  ])
  assert.deepEqual(shown(await rows('group_by=deployment&kind=droplet'), 'deployment_id'), [
    [null, parts.old.amount, parts.old.minor],
    [shop.id, parts.web.amount, parts.web.minor],
  ])
  assert.deepEqual(shown(await rows('group_by=tag&kind=droplet'), 'tag'), [
    [null, parts.old.amount, parts.old.minor],
    ['env:prod', parts.web.amount, parts.web.minor],
  ])
  const days = await rows('granularity=day')
  assert.deepEqual([days.length, days[0]!.period, days.at(-1)!.period], [10, '2026-11-01', '2026-11-10'])
  assert.equal(
    days.reduce((sum, row) => sum + Number(row.amount_minor), 0),
    500,
  )
  assert.deepEqual(await rows('estimates=false'), [])
  const token = await bundle.tokens.tenant('acme')
  const own = await rows('', token)
  assert.deepEqual(shown(own, 'estimate'), [[true, '3.928914', parts.web.minor + parts.data.minor]])
  const { body } = await bundle.call('GET', '/api/v1/costs/estimate', { token })
  const { amount_minor, month_minor, listed_minor, previous } = body.data
  assert.deepEqual([amount_minor, listed_minor, month_minor, previous], [393, 393, 600 + 893, null])
})

test(
  'what a day said last is kept, and is set beside the invoice once that is in',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { provider: {} })
    const { clock, call } = bundle
    await haveNovember(bundle)
    await estimate(bundle)
    clock.set('2026-11-11T23:30:00Z')
    await estimate(bundle)
    const said = {
      ...{ period: '2026-11-01', made_at: '2026-11-11T23:30:00.000Z', as_of: '2026-11-11T00:00:00.000Z' },
      ...{ currency: 'USD', listed_minor: 447, amount_minor: 500, month_minor: 600 + 54 + 893 + 159 },
    }
    const { body: now } = await call('GET', '/api/v1/billing/costs/estimate')
    assert.deepEqual(now.data, { ...said, previous: null })
    clock.set('2026-12-02T12:00:00Z')
    await estimate(bundle)
    const { body: later } = await call('GET', '/api/v1/billing/costs/estimate')
    assert.deepEqual([later.data.period, later.data.previous], ['2026-12-01', null], 'no invoice is in')
    const lines = [
      { amount: '18.00', tenant_id: 'acme' },
      { amount: '1.50', is_tax: true },
    ]
    await haveIngested(bundle, lines, { period: '2026-11-01' })
    const { body: compared } = await call('GET', '/api/v1/billing/costs/estimate')
    const off = { invoiced_minor: 1800, off_minor: -94, off_percent: '-5.2' }
    assert.deepEqual(compared.data.previous, { ...said, ...off })
    const token = await bundle.tokens.tenant('acme')
    const { body: own } = await call('GET', '/api/v1/costs/estimate', { token })
    const { invoiced_minor, off_minor, month_minor } = own.data.previous
    assert.deepEqual([month_minor, invoiced_minor, off_minor], [1493, 1800, -307])
    const { body: list } = await call('GET', '/api/v1/billing/costs/estimates?period=2026-11-15')
    const { off_percent: _, ...found } = off
    assert.deepEqual(list.data, [{ day: '2026-11-11', ...said, usage_amount: '5.00', ...found }])
    const { body: rows } = await call('GET', '/api/v1/billing/costs?from=2026-11-01&to=2026-12-01')
    assert.deepEqual(
      rows.data.map((row: { period: string; estimate: boolean; amount: string }) => [
        row.period,
        row.estimate,
      ]),
      [
        ['2026-11-01', false],
        ['2026-12-01', true],
      ],
    )
  },
)

test('without a word of the provider’s the list prices are all there is, by the hour and never more than the month', async t => {
  const bundle = await setup(t, { provider: {} })
  bundle.clock.set('2026-11-30T12:00:00Z')
  await sizeSync(bundle.ctx).run(run)
  const id = await haveResource(bundle, { name: 'web', tenant: 'acme', attrs: small })
  await changedHands(bundle, id, '2026-11-20T00:00:00Z', { tenant_id: ['globex', 'acme'] })
  await haveBalance(bundle, '99.00', '2026-10-31T23:59:59Z')
  await estimate(bundle)
  const { body } = await bundle.call(
    'GET',
    '/api/v1/billing/costs?from=2026-11-01&to=2026-11-30&group_by=tenant',
  )
  assert.deepEqual(
    body.data.map((row: Record<string, unknown>) => [row.tenant_id, row.amount]),
    // Whoever had it first: as the invoice will have it, it is for whom it is in the end.
    [['acme', '6.000000']],
  )
  const { body: made } = await bundle.call('GET', '/api/v1/billing/costs/estimate')
  assert.deepEqual([made.data.amount_minor, made.data.month_minor], [600, 600])
})

test('at the very beginning of a month nothing has been used yet, whatever a clock that is ahead says', async t => {
  const bundle = await setup(t)
  bundle.clock.set('2026-12-01T00:00:00.000Z')
  await haveBalance(bundle, '1.00', '2026-12-01T00:00:01Z')
  await estimate(bundle)
  const { body } = await bundle.call('GET', '/api/v1/billing/costs/estimate')
  const { period, amount_minor, month_minor } = body.data
  assert.deepEqual([period, amount_minor, month_minor], ['2026-12-01', 0, 0])
})

test(
  'what is first seen in the middle of the month has cost since it was made, for whom it turns out to be',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { provider: {} })
    bundle.clock.set('2026-11-11T00:00:00Z')
    await sizeSync(bundle.ctx).run(run)
    const seen = { first: '2026-11-10T12:00:00Z', tenant: 'acme' }
    const november = { ...small, created_at: '2026-11-06T00:00:00Z' }
    const web = await haveResource(bundle, { name: 'web', attrs: november, ...seen })
    await changedHands(bundle, web, '2026-11-10T13:00:00Z', { tenant_id: [null, 'acme'] })
    await haveResource(bundle, {
      name: 'older',
      attrs: { ...small, created_at: '2025-01-01T00:00:00Z' },
      ...seen,
    })
    await haveResource(bundle, { name: 'odd', attrs: { ...small, created_at: 'yesterday' }, ...seen })
    await estimate(bundle)
    const { body } = await bundle.call(
      'GET',
      '/api/v1/billing/costs?from=2026-11-01&to=2026-11-30&group_by=tenant',
    )
    assert.deepEqual(
      body.data.map((row: Record<string, unknown>) => [row.tenant_id, row.amount]),
      // 120, 240 and 12 hours at 0.00893.
      [['acme', '3.321960']],
    )
  },
)

test('estimates of everybody are the operators’', async t => {
  const { call, tokens } = await setup(t)
  const token = await tokens.tenant('acme')
  assert.equal((await call('GET', '/api/v1/billing/costs/estimate', { token })).status, 403)
  assert.equal((await call('GET', '/api/v1/billing/costs/estimates', { token })).status, 403)
  assert.equal((await call('GET', '/api/v1/costs/estimate', { token })).body.data, null)
})
