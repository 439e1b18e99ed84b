// What a month cost when it was over is what it cost for ever.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { readMigrations } from '../../src/kernel/db/migrations.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { addon, deployment, move, plan } from '../support/factories.ts'
import { meter, tied } from '../support/metering.ts'
import { type Bundle, setup } from '../support/setup.ts'

const usage = async ({ call }: Bundle, id: string, period?: string, token?: string) => {
  const path = `/api/v1/deployments/${id}/usage${period ? `?period=${period}` : ''}`
  const { status, body, text } = await call('GET', path, { token })
  assert.equal(status, 200, text)
  return body.data
}
const margin = async ({ call }: Bundle, id: string, period: string) =>
  (await call('GET', `/api/v1/billing/margins?period=${period}&deployment_id=${id}`)).body.data[0]
const subscribe = async ({ call }: Bundle, id: string, plan_code: string, addons: object[] = []) => {
  const body = { plan_code, addons }
  const { status, text } = await call('POST', `/api/v1/deployments/${id}/subscribe`, { body })
  assert.equal(status, 201, text)
}
const change = async ({ call }: Bundle, id: string, body: object, token?: string) => {
  const answer = await call('POST', `/api/v1/deployments/${id}/change-plan-version`, { body, token })
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data
}
const volumes = (overage_price_cents: number) => [
  { resource_kind: 'volume', included_qty: 0, overage_unit: 'hour', overage_price_cents },
]

/** Subscribed throughout October, with an addon, and ten hours of a volume on the 31st: 4,429 cents. */
async function haveOctober(bundle: Bundle) {
  const { clock } = bundle
  clock.set('2026-10-01T00:00:00Z')
  const { id } = await deployment(bundle)
  const code = await plan(bundle, { price: 3000, items: volumes(29) })
  const seats = await addon(bundle, { resource_kind: 'seats', price_cents: 1139 })
  await subscribe(bundle, id, code, [{ code: seats }])
  await tied(bundle, '2026-10-31T14:00:00Z', 'volume', 'disk', id)
  clock.set('2026-11-01T00:05:00Z')
  await meter(bundle)
  const october = await usage(bundle, id, '2026-10')
  assert.equal(october.total_cents, 4429)
  return { id, code, seats, october }
}

test(
  'October stays at 4,429 cents when the plan is changed in November by an operator, by a member, or cancelled',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { clock, call } = bundle
    const { id, seats, october } = await haveOctober(bundle)
    const charged = await margin(bundle, id, '2026-10')
    assert.deepEqual(charged.charged, [{ currency: 'USD', amount_minor: 4429 }])
    const dear = await plan(bundle, { price: 20_000, items: volumes(47) })
    const cheap = await plan(bundle, { price: 515 })
    const unchanged = async (what: string) => {
      assert.deepEqual(await usage(bundle, id, '2026-10'), october, what)
      assert.deepEqual(await margin(bundle, id, '2026-10'), charged, what)
      const september = await usage(bundle, id, '2026-09')
      assert.deepEqual([september.plan_code, september.total_cents], [null, 0], 'before the first terms')
    }

    clock.set('2026-11-02T10:05:00Z')
    await meter(bundle)
    const before = (await usage(bundle, id)).total_cents
    await change(bundle, id, { plan_code: dear })
    await unchanged('an operator’s change')
    const november = await usage(bundle, id)
    // 34 hours and 5 minutes of 720 at 3,000 cents, the rest at 20,000: 142.01 and 19,053.24 cents.
    assert.deepEqual([november.plan_code, november.base_price_cents], [dear, 142 + 19_053])
    assert.ok(november.total_cents > before)

    clock.set('2026-11-20T10:00:00Z')
    await change(bundle, id, { plan_code: cheap }, await bundle.tokens.tenant('acme'))
    await unchanged('a member’s change')
    assert.equal((await usage(bundle, id)).plan_code, cheap, 'the last terms are shown')
    await call('PATCH', `/api/v1/catalog/addons/${seats}`, { body: { price_cents: 9999, qty: 1 } })
    await unchanged('the catalog’s addon')

    clock.advance(60_000)
    await move(bundle, id, 'cancelled')
    await unchanged('the end')
    clock.set('2026-12-31T23:59:59.999Z')
    const last = await usage(bundle, id, '2026-11')
    // 2,045 minutes of 43,200 at 3,000 cents (142.01), 25,915 at 20,000 (11,997.69), one at 515 (0.01), and the addon for
    // 27,961 minutes at 1,139 (737.21): together 12,876.92.
    assert.deepEqual(
      last.versions.map((version: { amount_cents: number }) => version.amount_cents),
      [142, 11_998, 0],
    )
    assert.deepEqual(
      [last.plan_code, last.base_price_cents, last.addons[0].amount_cents],
      [cheap, 12_140, 737],
    )
    const after = await usage(bundle, id, '2026-12')
    assert.deepEqual([after.plan_code, after.base_price_cents, after.addons], [null, 0, []])
    await unchanged('two months later')
  },
)

test(
  'a year of plan changes at random: each month is priced by what held in it, second by second, and never otherwise afterwards',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { clock } = bundle
    const prices = [1_000, 2_000, 4_000, 8_000]
    clock.set('2025-01-01T00:00:00Z')
    const plans = await Promise.all(prices.map(price => plan(bundle, { price })))
    // When in each month, and to which plan; the first is the signup. Also on the month's first and last moment.
    const moment = fc.oneof(fc.constantFrom(0, 1, 28 * 86_400_000 - 1), fc.nat(28 * 86_400_000 - 1))
    const step = fc.record({ month: fc.nat(11), moment, plan: fc.nat(plans.length - 1) })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), fc.boolean(), async (steps, ends) => {
        const history = steps
          .map(each => ({ ...each, at: Date.UTC(2025, each.month, 1) + each.moment }))
          .sort((a, b) => a.at - b.at)
        clock.set('2025-01-01T00:00:00Z')
        const { id } = await deployment(bundle)
        for (const [index, { at, plan: number }] of history.entries()) {
          clock.set(new Date(at).toISOString())
          if (index === 0) await subscribe(bundle, id, plans[number]!)
          else await change(bundle, id, { plan_code: plans[number]! })
        }
        clock.set('2025-12-30T00:00:00Z')
        if (ends) await move(bundle, id, 'cancelled')
        clock.set('2026-02-01T00:00:00Z')
        const shown = []
        for (let month = 1; month <= 13; month++) {
          const period = month === 13 ? '2026-01' : `2025-${String(month).padStart(2, '0')}`
          shown.push((await usage(bundle, id, period)).total_cents)
        }
        const end = ends ? Date.UTC(2025, 11, 30) : Infinity
        const held = Array.from({ length: 13 }, (_, month) => {
          const [first, last] = [Date.UTC(2025, month, 1), Date.UTC(2025, month + 1, 1)]
          const parts = history.map((each, index) => {
            const next = history[index + 1]?.at ?? Infinity
            const from = Math.floor(Math.max(each.at, first) / 1000)
            const to = Math.floor(Math.min(next, end, last) / 1000)
            return BigInt(prices[each.plan]!) * BigInt(Math.max(0, to - from))
          })
          const total = parts.reduce((a, b) => a + b, 0n)
          const seconds = BigInt((last - first) / 1000)
          return Number((2n * total + seconds) / (2n * seconds))
        })
        assert.deepEqual(shown, held)
      }),
      { seed: 13, numRuns: 8 },
    )
  },
)

test('the upgrade gives every subscription terms from its start, and to its end where it was cancelled', async t => {
  const bundle = await setup(t)
  const { clock, ctx } = bundle
  const code = await plan(bundle)
  const seats = await addon(bundle)
  clock.set('2026-10-05T10:00:00Z')
  const [living, over] = [await deployment(bundle), await deployment(bundle)]
  for (const { id } of [living, over]) await subscribe(bundle, id, code, [{ code: seats }])
  clock.set('2026-10-20T10:00:00Z')
  await move(bundle, over.id, 'cancelled', 'archived')
  const migration = readMigrations().find(({ name }) => name === 'subscription_terms')!
  const before = `drop table subscription_terms;
    drop function refuse_change_but_end, refuse_change_of_metered_terms cascade;
    drop trigger ended_is_final_whole on subscription_addons;
    drop index subscription_addons_subscription;
    alter table subscription_addons drop constraint subscription_addons_no_overlap,
      drop column valid_from, drop column valid_to, add unique (subscription_id, code)`
  const shown = `select s.deployment_id, iso8601(t.valid_from) as since, iso8601(t.valid_to) as until,
      iso8601(a.valid_from) as addon_since, iso8601(a.valid_to) as addon_until
    from subscriptions s join subscription_terms t on t.subscription_id = s.id
      and t.plan_version_id = s.plan_version_id join subscription_addons a on a.subscription_id = s.id order by 1`
  const stop = new Error('not to be kept')
  const migrated = ctx.engine.session(session =>
    session.transaction(async tx => {
      await tx.script(before)
      await tx.script(migration.sql)
      const since = '2026-10-05T10:00:00.000Z'
      const addon = { addon_since: since, addon_until: null }
      assert.deepEqual(
        (await tx.query(shown)).map(row => ({ ...row })),
        [
          { deployment_id: living.id, since, until: null, ...addon },
          { deployment_id: over.id, since, until: '2026-10-20T10:00:00.000Z', ...addon },
        ],
      )
      throw stop
    }),
  )
  await assert.rejects(migrated, stop)
})

test('an addon that has ended is shown no longer, charged for its days, and stays in the months it held in', async t => {
  const bundle = await setup(t)
  const { clock, ctx, call } = bundle
  const { id, seats, october } = await haveOctober(bundle)
  clock.set('2026-11-10T00:00:00Z')
  await sql`update subscription_addons set valid_to = ${clock.now().toISOString()} where code = ${seats}`.execute(
    ctx.db,
  )
  // Nine days of thirty at 1,139 cents.
  assert.equal((await usage(bundle, id)).addons[0].amount_cents, 342)
  assert.deepEqual((await call('GET', `/api/v1/deployments/${id}`)).body.data.subscription.addons, [])
  assert.deepEqual(await usage(bundle, id, '2026-10'), october)
})

test('the database lets nobody rewrite, remove or double terms and addons that held', async t => {
  const bundle = await setup(t)
  const { clock, ctx } = bundle
  const { id } = await haveOctober(bundle)
  clock.set('2026-11-10T00:00:00Z')
  await change(bundle, id, { plan_code: await plan(bundle, { price: 1 }) })
  const terms = sql`insert into subscription_terms (id, subscription_id, plan_version_id, valid_from, valid_to)
    select uuid_v7(), subscription_id, plan_version_id,`
  for (const [statement, why] of [
    [sql`update subscription_terms set valid_to = '2026-10-20Z'`, /stays so/],
    [
      sql`update subscription_terms set valid_to = '2027-01-01Z', valid_from = '2026-10-01Z' where valid_to is null`,
      /stays so/,
    ],
    [sql`delete from subscription_terms`, /stays so/],
    [sql`update subscription_addons set price_cents = 1`, /stays so/],
    [sql`delete from subscription_addons`, /stays so/],
    [
      sql`${terms} valid_from, valid_to from subscription_terms where valid_to is not null`,
      /subscription_terms_no_overlap/,
    ],
    [
      sql`${terms} '2020-01-01Z', null from subscription_terms where valid_to is null`,
      /subscription_terms_(no_overlap|one_open)/,
    ],
    [
      sql`insert into subscription_addons
          (id, subscription_id, code, resource_kind, qty, price_cents, currency, quantity, created_at, valid_from)
        select uuid_v7(), subscription_id, code, resource_kind, 1, 1, currency, 1, now(), '2026-12-01Z'
        from subscription_addons`,
      /subscription_addons_no_overlap/,
    ],
  ] as const)
    await assert.rejects(statement.execute(ctx.db), why)
})

const price = ({ call }: Bundle, fields: object) =>
  call('POST', '/api/v1/catalog/resource-prices', {
    body: { resource_kind: 'droplet', unit: 'hour', currency: 'USD', price_cents: 5, ...fields },
  })
const end = ({ call }: Bundle, id: string, effective_to: string | null) =>
  call('PATCH', `/api/v1/catalog/resource-prices/${id}`, { body: { effective_to } })

test('a resource price that would change a finished month with usage of its kind is 409 month_finished, and no other', async t => {
  const bundle = await setup(t)
  const { clock } = bundle
  clock.set('2026-09-30T20:00:00Z')
  const { id } = await deployment(bundle)
  // A fresh installation enters its past.
  const first = await price(bundle, { effective_from: '2026-01-01', effective_to: '2026-10-11' })
  assert.equal(first.status, 201, first.text)
  await tied(bundle, '2026-10-10T22:00:00Z', 'droplet', '1', id)
  clock.set('2026-10-11T03:05:00Z')
  await meter(bundle)
  // Within the running month anything may still be said of it.
  const second = await price(bundle, { price_cents: 7, effective_from: '2026-10-11' })
  assert.equal(second.status, 201, second.text)
  assert.equal((await end(bundle, second.body.data.id, '2026-10-12')).status, 200)
  assert.equal((await end(bundle, second.body.data.id, null)).status, 200)

  clock.set('2026-11-15T12:00:00Z')
  const october = await usage(bundle, id, '2026-10')
  assert.equal(october.total_cents, 2 * 5 + 3 * 7)
  const [{ id: old }, { id: open }] = [first.body.data, second.body.data]
  // Ended before its last hours.
  const refused = await end(bundle, old, '2026-10-10')
  assert.deepEqual([refused.status, refused.body.code], [409, 'month_finished'], refused.text)
  assert.match(refused.body.detail, /droplet was used in 2026-10.*From 2026-11-01/)

  // Where nothing of the kind was metered, or behind a price that is taken first.
  for (const fields of [
    { effective_from: '2025-01-01', effective_to: '2026-01-01' },
    { resource_kind: 'volume', effective_from: '2026-01-01' },
    { unit: 'day', effective_from: '2026-01-01' },
    { currency: 'EUR', unit: 'month', effective_from: '2026-11-01' },
  ]) {
    const { status, text } = await price(bundle, fields)
    assert.equal(status, 201, `${JSON.stringify(fields)} ${text}`)
  }
  // The month's statement shows its last price, also where nothing was used any more.
  assert.equal((await end(bundle, open, '2026-10-20')).body.code, 'month_finished')
  assert.equal((await end(bundle, open, '2026-11-01')).status, 200)
  const euro = await price(bundle, {
    currency: 'EUR',
    effective_from: '2026-10-10',
    effective_to: '2026-11-01',
  })
  assert.deepEqual([euro.status, euro.body.code], [409, 'month_finished'])
  const overlapping = await price(bundle, { effective_from: '2026-10-10', effective_to: '2026-10-11' })
  assert.equal(overlapping.body.code, 'price_overlap')
  assert.deepEqual(await usage(bundle, id, '2026-10'), october)
})
