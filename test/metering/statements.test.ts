// Statements: when a month is closed, what is shown of it, and that nothing changes it.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { canonical, monthsToClose, numberOf } from '../../src/features/metering/statement.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { addon, deployment, move, plan } from '../support/factories.ts'
import { closeDue, meter, tied } from '../support/metering.ts'
import { type Bundle, setup } from '../support/setup.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers
type Any = any

const path = (id: string) => `/api/v1/deployments/${id}`
const subscribe = async ({ call }: Bundle, id: string, body: object) => {
  const { status, text } = await call('POST', `${path(id)}/subscribe`, { body })
  assert.equal(status, 201, text)
}
const list = async ({ call }: Bundle, id: string, query = '', token?: string) =>
  (await call('GET', `${path(id)}/statements${query}`, { token })).body

test('months are due three days after their end, when they are metered, one after the other', () => {
  const due = (open: string, metered: string, now: string) =>
    monthsToClose(open, metered, new Date(now)).map(({ period }) => period)
  const october = '2026-10-20T00:00:00.000Z'
  assert.deepEqual(due(october, '2026-11-04T00:00:00.000Z', '2026-11-03T23:59:59.999Z'), [])
  assert.deepEqual(due(october, '2026-11-04T00:00:00.000Z', '2026-11-04T00:00:00Z'), ['2026-10'])
  assert.deepEqual(due(october, '2026-10-31T23:00:00.000Z', '2026-11-04T00:00:00Z'), [])
  assert.deepEqual(due(october, '2026-11-01T00:00:00.000Z', '2026-11-04T00:00:00Z'), ['2026-10'])
  assert.deepEqual(due('2026-11-01T00:00:00.000Z', '2027-01-05T00:00:00.000Z', '2027-01-04T00:00:00Z'), [
    '2026-11',
    '2026-12',
  ])
  assert.deepEqual(
    [numberOf('2026-10', 42), numberOf('2026-10', 1234567)],
    ['2026-10-000042', '2026-10-1234567'],
  )
  assert.equal(
    canonical({ b: [1n, { d: null, c: 'ü"' }], a: true }),
    '{"a":true,"b":[1,{"c":"ü\\"","d":null}]}',
  )
})

/** October, closed: 3,000 cents and an addon of 1,139, and ten hours of a volume at 29. */
async function closedOctober(bundle: Bundle) {
  const { clock } = bundle
  clock.set('2026-10-01T00:00:00Z')
  const items = [{ resource_kind: 'volume', included_qty: 0, overage_unit: 'hour', overage_price_cents: 29 }]
  const code = await plan(bundle, { price: 3000, items })
  const seats = await addon(bundle, { resource_kind: 'seats', price_cents: 1139 })
  const { id } = await deployment(bundle)
  await subscribe(bundle, id, { plan_code: code, addons: [seats] })
  await tied(bundle, '2026-10-31T14:00:00Z', 'volume', 'disk', id)
  clock.set('2026-11-04T00:05:00Z')
  await meter(bundle)
  return { id, code, seats }
}

test('a month is closed three days into the next: a statement with number, lines, total and a hash that anyone can check', async t => {
  const bundle = await setup(t)
  const { call, clock, tokens } = bundle
  const { id, code, seats } = await closedOctober(bundle)
  clock.set('2026-11-03T23:59:59Z')
  assert.equal(await closeDue(bundle), 0)
  assert.deepEqual((await list(bundle, id)).data, [])
  clock.set('2026-11-04T00:05:00Z')
  assert.equal(await closeDue(bundle), 1)
  assert.equal(await closeDue(bundle), 0)

  const token = await tokens.tenant('acme')
  const [listed] = (await list(bundle, id, '', token)).data
  const { body } = await call('GET', `/api/v1/statements/${listed.id}`, { token })
  const { lines, ...rest } = body.data
  assert.deepEqual(rest, listed)
  assert.deepEqual(
    [rest.number, rest.period, rest.sequence, rest.adjusts, rest.currency, rest.total_cents, rest.closed_at],
    ['2026-10-000001', '2026-10', 1, null, 'USD', 4429, '2026-11-04T00:05:00.000Z'],
  )
  const whole = { from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' }
  const { subscription } = (await call('GET', path(id))).body.data
  assert.deepEqual(lines, [
    {
      ...{ kind: 'base', code, subject_id: subscription.plan_version_id, ...whole },
      ...{ quantity: '1', unit: 'month', price_cents: 3000, price_source: 'plan', amount_cents: 3000 },
    },
    {
      ...{ kind: 'addon', code: seats, subject_id: subscription.addons[0].id, ...whole },
      ...{ quantity: '1', unit: 'month', price_cents: 1139, price_source: 'addon', amount_cents: 1139 },
    },
    {
      ...{ kind: 'overage', code: 'volume', subject_id: null, ...whole },
      ...{ quantity: '10', unit: 'hour', price_cents: 29, price_source: 'plan', amount_cents: 290 },
    },
  ])
  const { content_hash, ...content } = body.data
  assert.equal(createHash('sha256').update(canonical(content)).digest('hex'), content_hash)

  const csv = await call('GET', `/api/v1/statements/${listed.id}`, { token, headers: { accept: 'text/csv' } })
  assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/)
  assert.equal(
    csv.text.split('\r\n')[3],
    `2026-10-000001,2026-10,overage,volume,,${whole.from},${whole.to},10,hour,29,plan,290,USD`,
  )
  const other = await tokens.tenant('globex')
  assert.equal((await call('GET', `/api/v1/statements/${listed.id}`, { token: other })).status, 404)
  assert.equal((await call('GET', `${path(id)}/statements`, { token: other })).status, 404)
})

test(
  'October’s statement and usage stay as they are when plan and addons change in November',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { call, clock } = bundle
    const { id, seats } = await closedOctober(bundle)
    await closeDue(bundle)
    const [{ id: statement }] = (await list(bundle, id)).data
    const seen = async () => [
      (await call('GET', `/api/v1/statements/${statement}`)).text,
      (await call('GET', `${path(id)}/usage?period=2026-10`)).text,
    ]
    const before = await seen()
    assert.equal(JSON.parse(before[1]!).data.total_cents, 4429)
    await call('POST', `${path(id)}/change-plan-version`, {
      body: { plan_code: await plan(bundle, { price: 90_000 }) },
    })
    assert.deepEqual(await seen(), before)
    const [held] = (await call('GET', path(id))).body.data.subscription.addons
    await call('DELETE', `${path(id)}/addons/${held.id}`)
    await call('POST', `${path(id)}/addons`, { body: { code: seats, quantity: 7 } })
    assert.deepEqual(await seen(), before)
    await move(bundle, id, 'cancelled')
    clock.set('2026-12-04T00:05:00Z')
    await meter(bundle)
    assert.equal(await closeDue(bundle), 1)
    assert.deepEqual(await seen(), before)
  },
)

test(
  'statements are paged newest first, one for each month with terms or usage, and closing is the metering task’s',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { clock } = bundle
    clock.set('2026-07-10T00:00:00Z')
    const { id } = await deployment(bundle)
    const silent = await deployment(bundle)
    await subscribe(bundle, id, { plan_code: await plan(bundle, { price: 3100 }) })
    clock.set('2026-11-04T00:05:00Z')
    for (let i = 0; i < 5; i++) await meter(bundle)
    // Three and a half months at once, after an outage.
    assert.equal(await closeDue(bundle, 1), 4)
    const first = await list(bundle, id, '?limit=3')
    const second = await list(bundle, id, `?limit=3&cursor=${first.next_cursor}`)
    assert.deepEqual(
      [...first.data, ...second.data].map((each: Any) => [each.number, each.total_cents]),
      [
        ['2026-10-000001', 3100],
        ['2026-09-000001', 3100],
        ['2026-08-000001', 3100],
        ['2026-07-000001', 2200],
      ],
    )
    assert.equal(second.next_cursor, null)
    assert.deepEqual((await list(bundle, silent.id)).data, [], 'without a subscription')
  },
)

test(
  'all statements are listed by month and number, by filters, page by page, and a tenant sees its own',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { call, clock, tokens } = bundle
    clock.set('2026-09-01T00:00:00Z')
    const code = await plan(bundle, { price: 3000 })
    const [shop, blog, portal] = [
      await deployment(bundle),
      await deployment(bundle),
      await deployment(bundle, 'globex'),
    ]
    for (const { id } of [shop, blog, portal]) await subscribe(bundle, id, { plan_code: code })
    clock.set('2026-11-04T00:05:00Z')
    for (let i = 0; i < 3; i++) await meter(bundle)
    await closeDue(bundle)
    const all = async (query = '', token?: string) =>
      (await call('GET', `/api/v1/statements?${query}`, { token })).body
    const numbers = ({ data }: Any) => data.map(({ number }: Any) => number)
    const first = await all('limit=4')
    assert.deepEqual(numbers(first), ['2026-10-000003', '2026-10-000002', '2026-10-000001', '2026-09-000003'])
    const rest = await all(`limit=4&cursor=${first.next_cursor}`)
    assert.deepEqual([numbers(rest), rest.next_cursor], [['2026-09-000002', '2026-09-000001'], null])
    assert.deepEqual(first.data.at(-1), (await list(bundle, portal.id)).data[1])
    assert.deepEqual(numbers(await all('period=2026-09')), [
      '2026-09-000003',
      '2026-09-000002',
      '2026-09-000001',
    ])
    assert.deepEqual(numbers(await all('tenant_id=globex')), ['2026-10-000003', '2026-09-000003'])
    assert.deepEqual(numbers(await all(`deployment_id=${blog.id}&period=2026-10`)), ['2026-10-000002'])
    assert.deepEqual(numbers(await all(`adjusts=${first.data[0].id}`)), [])

    const token = await tokens.tenant('globex')
    assert.deepEqual(numbers(await all('', token)), ['2026-10-000003', '2026-09-000003'])
    assert.deepEqual(numbers(await all(`deployment_id=${shop.id}`, token)), [])
    const foreign = await call('GET', '/api/v1/statements?tenant_id=acme', { token })
    assert.equal(foreign.status, 403)
    assert.equal((await call('GET', '/api/v1/statements?period=2026-13')).status, 422)

    const file = await call('GET', `/api/v1/statements/${first.data[0].id}?format=csv`, { token })
    assert.match(file.headers.get('content-disposition') ?? '', /statement-2026-10-000003\.csv/)
  },
)

test('the database lets nobody change a statement, or terms of a month that is closed', async t => {
  const bundle = await setup(t)
  const { ctx } = bundle
  await closedOctober(bundle)
  await closeDue(bundle)
  for (const [statement, why] of [
    [sql`update statements set total_cents = 1`, /append-only/],
    [sql`delete from statements`, /append-only/],
    [sql`truncate statements`, /append-only/],
    [sql`delete from closed_months`, /append-only/],
    [
      sql`insert into statements select uuid_v7(), subscription_id, deployment_id, tenant_id, period, sequence, adjusts, 99,
        currency, total_cents, lines, content_hash, closed_at from statements`,
      /statements_subscription_id_period_sequence_key/,
    ],
    [sql`update subscription_terms set valid_to = '2026-10-20Z'`, /is closed|stays so/],
    [
      sql`insert into subscription_addons
          (id, subscription_id, code, resource_kind, qty, price_cents, currency, quantity, created_at, valid_from)
        select uuid_v7(), subscription_id, 'late', resource_kind, 1, 1, currency, 1, now(), '2026-10-31T23:59:59Z'
        from subscription_addons`,
      /is closed/,
    ],
  ] as const)
    await assert.rejects(statement.execute(ctx.db), why)
})

test(
  'what is stopped in the middle of closing goes on where it was, and nobody has two',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { clock, ctx } = bundle
    clock.set('2026-10-01T00:00:00Z')
    const code = await plan(bundle, { price: 3100 })
    const ids: string[] = []
    for (let i = 0; i < 7; i++) {
      const { id } = await deployment(bundle)
      await subscribe(bundle, id, { plan_code: code })
      ids.push(id)
    }
    clock.set('2026-11-04T00:05:00Z')
    for (let i = 0; i < 2; i++) await meter(bundle)
    // The third batch of two fails as a whole.
    await sql`create function stop() returns trigger language plpgsql as $$
    begin if new.ordinal = 6 then raise exception 'stopped'; end if; return new; end $$`.execute(ctx.db)
    await sql`create trigger stop before insert on statements for each row execute function stop()`.execute(
      ctx.db,
    )
    t.after(() => sql`drop function if exists stop cascade`.execute(ctx.db).catch(() => {}))
    await assert.rejects(closeDue(bundle, 2), /stopped/)
    const written = async () => {
      const rows = await ctx.db
        .selectFrom('statements')
        .select(['deployment_id', 'ordinal'])
        .orderBy('ordinal')
        .execute()
      return rows
    }
    assert.deepEqual(
      (await written()).map(({ ordinal }) => ordinal),
      [1, 2, 3, 4],
    )
    await sql`drop function stop cascade`.execute(ctx.db)
    assert.equal(await closeDue(bundle, 2), 3)
    const all = await written()
    assert.deepEqual(
      all.map(({ ordinal }) => ordinal),
      [1, 2, 3, 4, 5, 6, 7],
    )
    assert.deepEqual(all.map(({ deployment_id }) => deployment_id).sort(), ids.sort())
  },
)

test('a webhook is told of every statement when its month is closed, a tenant’s of its own', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const { id } = await closedOctober(bundle)
  const hook = async (base: string, token?: string) => {
    const body = { url: 'https://hooks.example.com/statements', events: ['statement.closed'] }
    const made = await call('POST', base, { body, token })
    assert.equal(made.status, 201, made.text)
    return `${base}/${made.body.data.id}/deliveries`
  }
  const [platform, acme, globex] = [
    await hook('/api/v1/admin/webhooks'),
    await hook('/api/v1/webhooks', await tokens.tenant('acme')),
    await hook('/api/v1/webhooks', await tokens.tenant('globex')),
  ]
  await closeDue(bundle)
  const [statement] = (await list(bundle, id)).data
  for (const deliveries of [platform, acme]) {
    const [told] = (await call('GET', deliveries)).body.data
    const { body } = await call('GET', `${deliveries}/${told.id}`)
    assert.deepEqual(body.data.event.data, { tenant_id: 'acme', deployment_id: id, statement })
  }
  assert.deepEqual((await call('GET', globex)).body.data, [])
})
