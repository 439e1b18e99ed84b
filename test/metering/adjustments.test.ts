// Adjusting statements: what comes of usage events whose month is closed.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { differences } from '../../src/features/metering/adjustment.ts'
import { canonical, exactAmounts } from '../../src/features/metering/statement.ts'
import type { StatementLine } from '../../src/features/subscriptions/index.ts'
import { listLateMonths } from '../../src/features/usage-events/index.ts'
import { deployment, move, plan } from '../support/factories.ts'
import { adjustDue, closeDue, meteredIdle, tied } from '../support/metering.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { event, meterOf, send } from '../support/usage-events.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers
type Any = any

const line = (fields: Partial<StatementLine> = {}): StatementLine => ({
  ...{ kind: 'meter', code: 'llm_tokens', subject_id: null, from: '2026-10-01', to: '2026-11-01' },
  ...{ quantity: '1.5', unit: 'token', price_cents: 90, price_source: 'plan', amount_cents: 135n, ...fields },
})

test('an adjustment has the difference of every line, and takes back what the month no longer has', () => {
  const base = line({ kind: 'base', code: 'starter', quantity: '1', amount_cents: 7900n })
  assert.deepEqual(differences([base, line()], [base, line()]), [])
  assert.deepEqual(differences([base, line()], []), [base, line()])
  // What several statements have told counts together, whatever the order.
  assert.deepEqual(
    differences(
      [base, line({ quantity: '3', amount_cents: 270n })],
      [line(), base, line({ quantity: '-0.25', amount_cents: -23n })],
    ),
    [line({ quantity: '1.75', amount_cents: 158n })],
  )
  const taken = line({ quantity: '-1.5', amount_cents: -135n })
  for (const other of [
    ...[{ kind: 'overage' }, { code: 'seats' }, { subject_id: 'x' }, { from: '2026-10-02' }],
    ...[{ to: '2026-10-31' }, { unit: 'seat' }, { price_cents: 91 }, { price_source: 'resource_price' }],
  ] as Partial<StatementLine>[])
    assert.deepEqual(differences([line(other)], [line()]), [line(other), taken], JSON.stringify(other))
})

test('a line is told when its quantity alone or its amount alone differs, and a quantity that nothing measures stays null', () => {
  const included = line({ kind: 'included', amount_cents: 0n, quantity: '2' })
  assert.deepEqual(differences([included], [{ ...included, quantity: '1.999999' }]), [
    { ...included, quantity: '0.000001' },
  ])
  assert.deepEqual(differences([line({ amount_cents: 136n })], [line()]), [
    line({ quantity: '0', amount_cents: 1n }),
  ])
  const unmetered = line({ quantity: null, amount_cents: 0n })
  assert.deepEqual(differences([unmetered], [unmetered]), [])
  assert.deepEqual(differences([{ ...unmetered, amount_cents: 4n }], [unmetered]), [
    { ...unmetered, amount_cents: 4n },
  ])
  const large = '{"amount_cents":9007199254740993,"price_cents":3}'
  assert.deepEqual(JSON.parse(large, exactAmounts), { amount_cents: 9007199254740993n, price_cents: 3 })
})

const path = (id: string) => `/api/v1/deployments/${id}`
const usageOf = async ({ call }: Bundle, id: string, period = '2026-10') =>
  (await call('GET', `${path(id)}/usage?period=${period}`)).body.data
/** The first one first, with their lines. */
async function statements({ call }: Bundle, id: string): Promise<Any[]> {
  const { data } = (await call('GET', `${path(id)}/statements`)).body
  const shown = data.map(async (each: Any) => (await call('GET', `/api/v1/statements/${each.id}`)).body.data)
  return (await Promise.all(shown)).toReversed()
}
const short = (statement: Any) => [
  ...[statement.number, statement.sequence, statement.total_cents],
  statement.lines.map((each: Any) => [each.kind, each.code, each.quantity, each.amount_cents]),
]
const totalOf = (all: Any[]) => all.reduce((sum, { total_cents }) => sum + total_cents, 0)

/** October, closed: 3,000 cents, and 3,500 tokens of which 2,000 are included, the rest at 90 for a thousand. */
async function closedOctober(bundle: Bundle, more: { price?: number } = {}) {
  const { clock, call } = bundle
  clock.set('2026-10-01T00:00:00Z')
  await meterOf(bundle, { code: 'llm_tokens', unit: 'token', scale: 1_000 })
  await meterOf(bundle, { code: 'seats', aggregation: 'max', unit: 'seat' })
  await meterOf(bundle, { code: 'users', aggregation: 'unique', unit: 'user' })
  const code = await plan(bundle, {
    price: more.price ?? 3000,
    items: [
      { resource_kind: 'llm_tokens', included_qty: 2, overage_unit: 'token', overage_price_cents: 90 },
      { resource_kind: 'seats', included_qty: 1, overage_unit: 'seat', overage_price_cents: 500 },
      { resource_kind: 'users', included_qty: 1, overage_unit: 'user', overage_price_cents: 7 },
    ],
  })
  const { id } = await deployment(bundle)
  const { status, text } = await call('POST', `${path(id)}/subscribe`, { body: { plan_code: code } })
  assert.equal(status, 201, text)
  clock.set('2026-11-02T00:00:00Z')
  await send(bundle, [tell(id, 'first', 3_500), tell(id, 'seats', 3, 'seats')])
  clock.set('2026-11-04T00:05:00Z')
  await meteredIdle(bundle)
  assert.equal(await adjustDue(bundle), 0, 'the month is open: closing it counts what came late')
  assert.equal(await closeDue(bundle), 1)
  return { id, code }
}

const tell = (subject: string, id: string, value: unknown, type = 'llm_tokens') =>
  event(subject, { id, type, time: '2026-10-20T10:00:00Z', data: { value } })

test('events of a closed month become an adjusting statement that names the first; all of them add up to the usage', async t => {
  const bundle = await setup(t)
  const { call, clock, tokens } = bundle
  const { id, code } = await closedOctober(bundle)
  const body = { url: 'https://hooks.example.com/statements', events: ['statement.closed'] }
  const made = await call('POST', '/api/v1/webhooks', { body, token: await tokens.tenant('acme') })
  assert.equal(made.status, 201, made.text)
  const before = (await statements(bundle, id))[0]
  assert.equal(await adjustDue(bundle), 0)

  clock.set('2026-11-20T09:00:00Z')
  // Doubled, and one that was counted before: once each.
  await send(bundle, [tell(id, 'late', 2_250), tell(id, 'late', 2_250), tell(id, 'first', 3_500)])
  await send(bundle, tell(id, 'late', 2_250))
  assert.equal(await adjustDue(bundle), 1)
  assert.equal(await adjustDue(bundle), 0)
  clock.set('2026-12-20T09:00:00Z')
  await send(bundle, [...['ann', 'bob', 'eve'].map(name => tell(id, name, name, 'users'))])
  await send(bundle, tell(id, 'more', 4, 'seats'))
  assert.equal(await adjustDue(bundle), 1)

  const all = await statements(bundle, id)
  assert.deepEqual(all.map(short), [
    [
      '2026-10-000001',
      1,
      3000 + 135 + 1000,
      [
        ['base', code, '1', 3000],
        ['included', 'llm_tokens', '2', 0],
        ['meter', 'llm_tokens', '1.5', 135],
        ['included', 'seats', '1', 0],
        ['meter', 'seats', '2', 1000],
      ],
    ],
    // 2.25 at 90 are 202.5: with the 135 of before 337.5, rounded 338.
    ['2026-10-000002', 2, 203, [['meter', 'llm_tokens', '2.25', 203]]],
    [
      '2026-10-000003',
      3,
      500 + 14,
      [
        ['meter', 'seats', '1', 500],
        ['included', 'users', '1', 0],
        ['meter', 'users', '2', 14],
      ],
    ],
  ])
  assert.deepEqual(
    all.map(({ adjusts }) => adjusts),
    [null, before.id, before.id],
  )
  assert.deepEqual(all[0], before)
  assert.equal((await usageOf(bundle, id)).total_cents, totalOf(all))
  assert.deepEqual(
    all.map(({ closed_at }) => closed_at.slice(0, 10)),
    ['2026-11-04', '2026-11-20', '2026-12-20'],
  )
  for (const { content_hash, ...content } of all)
    assert.equal(createHash('sha256').update(canonical(content)).digest('hex'), content_hash)
  const csv = await call('GET', `/api/v1/statements/${all[1].id}`, { headers: { accept: 'text/csv' } })
  assert.match(csv.text, /2026-10-000002,2026-10,meter,llm_tokens,.*,2\.25,1000 token,90,plan,203,USD/)

  const deliveries = `/api/v1/webhooks/${made.body.data.id}/deliveries`
  const told = (await call('GET', deliveries)).body.data.map(async (each: Any) => {
    const { event } = (await call('GET', `${deliveries}/${each.id}`)).body.data
    return [event.type, event.data.statement.number, event.data.statement.adjusts]
  })
  assert.deepEqual(
    (await Promise.all(told)).sort((a, b) => (a[1] < b[1] ? -1 : 1)),
    [
      ['statement.closed', '2026-10-000002', before.id],
      ['statement.closed', '2026-10-000003', before.id],
    ],
  )
})

test('a late event that changes no line makes no statement, one that only uses what is included makes one of 0 cents', async t => {
  const bundle = await setup(t)
  const { ctx, clock } = bundle
  const { id } = await closedOctober(bundle)
  clock.set('2026-11-20T09:00:00Z')
  await send(bundle, tell(id, 'fewer', 2, 'seats'))
  assert.equal((await listLateMonths(ctx.db, 10)).length, 1)
  assert.equal(await adjustDue(bundle), 0)
  assert.deepEqual(await listLateMonths(ctx.db, 10), [], 'looked at')
  await send(bundle, tell(id, 'ann', 'ann', 'users'))
  assert.equal(await adjustDue(bundle), 1)
  const all = await statements(bundle, id)
  assert.deepEqual(all.slice(1).map(short), [['2026-10-000002', 2, 0, [['included', 'users', '1', 0]]]])
})

test('usage after the end of a subscription is on a statement: when the month is closed, or when it comes later', async t => {
  const bundle = await setup(t)
  const { clock, call } = bundle
  const { id } = await closedOctober(bundle)
  const body = { resource_kind: 'llm_tokens', unit: 'token', price_cents: 100, currency: 'USD' }
  const priced = await call('POST', '/api/v1/catalog/resource-prices', {
    body: { ...body, effective_from: '2026-11-01' },
  })
  assert.equal(priced.status, 201, priced.text)
  const unsubscribed = (await deployment(bundle)).id
  clock.set('2026-11-10T00:00:00Z')
  await move(bundle, id, 'cancelled')
  const at = (name: string, time: string, value = 1_500, subject = id) =>
    event(subject, { id: name, time, data: { value } })
  clock.set('2027-02-04T00:05:00Z')
  await send(bundle, at('december', '2026-12-10T00:00:00Z'))
  await meteredIdle(bundle)
  assert.equal(await closeDue(bundle), 2, 'November by its terms, December by its events, January has none')
  await send(bundle, [
    at('again', '2026-12-31T23:00:00Z'),
    at('january', '2027-01-01T00:00:00Z', 2_000),
    at('nobody', '2027-01-01T00:00:00Z', 2_000, unsubscribed),
  ])
  assert.equal(await adjustDue(bundle), 2)
  assert.equal(await adjustDue(bundle), 0)
  const all = await statements(bundle, id)
  assert.deepEqual(
    all.slice(2).map(each => [each.number, each.sequence, each.adjusts, each.total_cents]),
    [
      ['2026-12-000001', 1, null, 150],
      ['2026-12-000002', 2, all[2].id, 150],
      ['2027-01-000001', 1, null, 200],
    ],
  )
  assert.equal((await usageOf(bundle, id, '2026-12')).total_cents, 300)
  assert.equal((await usageOf(bundle, id, '2027-01')).total_cents, 200)
  assert.deepEqual(await statements(bundle, unsubscribed), [])
})

test('an adjustment that is stopped half-way is made by the next run, once', async t => {
  const bundle = await setup(t)
  const { ctx, clock } = bundle
  const { id } = await closedOctober(bundle)
  clock.set('2026-11-20T09:00:00Z')
  await send(bundle, tell(id, 'late', 1_000))
  await sql`create function stop() returns trigger language plpgsql as $$
    begin raise exception 'stopped'; end $$`.execute(ctx.db)
  await sql`create trigger stop after insert on statements for each row execute function stop()`.execute(
    ctx.db,
  )
  t.after(() => sql`drop function if exists stop cascade`.execute(ctx.db).catch(() => {}))
  await assert.rejects(adjustDue(bundle), /stopped/)
  assert.deepEqual(await listLateMonths(ctx.db, 10), [{ deployment_id: id, month: '2026-10-01' }])
  await sql`drop function stop cascade`.execute(ctx.db)
  assert.equal(await adjustDue(bundle), 1)
  assert.equal(await adjustDue(bundle), 0)
  assert.deepEqual(
    (await statements(bundle, id)).map(({ total_cents }) => total_cents),
    [4135, 90],
  )
})

test('what was metered stays: a resource that is tied later, or prices of another kind, adjust nothing', async t => {
  const bundle = await setup(t)
  const { call, clock } = bundle
  const { id } = await closedOctober(bundle)
  const before = await statements(bundle, id)
  await tied(bundle, '2026-11-20T09:00:00Z', 'volume', 'disk', id)
  for (const [resource_kind, unit] of [
    ['volume', 'hour'],
    ['seats', 'seat'],
  ]) {
    const body = { resource_kind, unit, price_cents: 5, currency: 'USD', effective_from: '2026-10-11' }
    const { status } = await call('POST', '/api/v1/catalog/resource-prices', { body })
    assert.equal(status, resource_kind === 'seats' ? 409 : 201)
  }
  clock.set('2026-11-20T10:00:00Z')
  await send(bundle, tell(id, 'late', 1_000))
  assert.equal(await adjustDue(bundle), 1)
  const all = await statements(bundle, id)
  assert.deepEqual(all[0], before[0])
  assert.deepEqual(short(all[1])[3], [['meter', 'llm_tokens', '1', 90]])
  assert.equal(totalOf(all), (await usageOf(bundle, id)).total_cents)
})
