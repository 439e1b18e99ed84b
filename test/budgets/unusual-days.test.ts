// Unusual days: the rule, and what is found and told of tenants and of the account.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { findUnusualDays } from '../../src/features/budgets/find-unusual-days.ts'
import {
  addDays,
  daysToJudge,
  grewOn,
  judge,
  linesOf,
  median,
  sameWeekdays,
} from '../../src/features/budgets/unusual-day.ts'
import { haveIngested, haveResource, runTask } from '../support/billing.ts'
import { charged, listen, told } from '../support/budgets.ts'
import { needsPostgres, onPostgresAlone } from '../support/engine.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { jobPart } from '../support/sweep.ts'
import { event, meterOf, send } from '../support/usage-events.ts'

test('the median is the middle one, or the mean of the two in the middle', () => {
  assert.equal(median([]), 0n)
  assert.equal(median([7n]), 7n)
  assert.equal(median([9n, 1n, 5n]), 5n)
  assert.equal(median([10n, 1n, 4n, 100n]), 7n)
})

test('a day is unusual above median and four spreads, and a quarter, and 5.00; four weeks are the least', () => {
  assert.equal(judge([1n, 2n, 3n]), null)
  // No spread: at least 500.
  assert.deepEqual(judge([100n, 100n, 100n, 100n]), { usual: 100n, limit: 600n })
  // A quarter of much is more than that.
  assert.deepEqual(judge([4_000n, 4_000n, 4_000n, 4_000n]), { usual: 4_000n, limit: 5_000n })
  // They lie 0, 400, 400 and 1,000 from 2,000: half of them within 400.
  assert.deepEqual(judge([1_600n, 2_000n, 2_400n, 3_000n, 2_000n]), { usual: 2_000n, limit: 3_600n })
  // One odd day moves neither.
  assert.deepEqual(judge([100n, 100n, 99_999n, 100n, 100n]), { usual: 100n, limit: 600n })
})

test('days are counted across months and years, in weeks', () => {
  assert.equal(addDays('2026-12-31', 1), '2027-01-01')
  assert.deepEqual(sameWeekdays('2026-11-14'), [
    ...['2026-11-07', '2026-10-31', '2026-10-24', '2026-10-17', '2026-10-10', '2026-10-03'],
    ...['2026-09-26', '2026-09-19'],
  ])
  assert.deepEqual(daysToJudge(new Date('2026-11-01T00:00:00Z')), ['2026-10-30', '2026-10-31'])
})

test('what a month-to-date grew by is a day’s; a month begins at nothing, and a gap tells nothing', () => {
  const known = new Map([
    ['2026-10-31', 900n],
    ['2026-11-01', 30n],
    ['2026-11-02', 70n],
    ['2026-11-04', 100n],
  ])
  const grew = (day: string) => grewOn(day, known)
  assert.deepEqual(['2026-10-31', '2026-11-01', '2026-11-02', '2026-11-03', '2026-11-04'].map(grew), [
    undefined,
    30n,
    40n,
    undefined,
    undefined,
  ])
})

test('the lines are the ten that grew most, each against its own median', () => {
  const of = (kind: string, usual: bigint, amount: bigint) => ({
    tenant_id: 'acme',
    deployment_id: null,
    kind,
    amounts: new Map([
      ['2026-11-07', usual],
      ['2026-11-14', amount],
    ]),
  })
  const many = Array.from({ length: 12 }, (_, i) => of(`kind_${i}`, 0n, BigInt(100 + i)))
  const lines = linesOf(
    [of('same', 500n, 500n), of('less', 9n, 1n), of('much', 50n, 800n), ...many],
    '2026-11-14',
    ['2026-11-07'],
  )
  assert.deepEqual(lines[0], {
    ...{ tenant_id: 'acme', deployment_id: null, kind: 'much' },
    ...{ amount_minor: 800n, usual_minor: 50n },
  })
  assert.deepEqual(
    lines.slice(1).map(({ kind }) => kind),
    [11, 10, 9, 8, 7, 6, 5, 4, 3].map(i => `kind_${i}`),
  )
})

const find = ({ ctx }: Bundle): Promise<number> => findUnusualDays(ctx, jobPart())

/** So many droplets for a deployment on each Saturday of the weeks before, and on the last, the 14th. */
async function haveSaturdays({ ctx }: Bundle, id: string, usual: number, last: number, since = '2026-09-19') {
  await sql`insert into usage_hours (deployment_id, hour, kind, seconds, resources)
    select ${id}, h, 'droplet', 3600 * n, n from (
      select h, case when h >= '2026-11-14T00:00:00Z' then ${last}::int else ${usual}::int end as n
      from generate_series(${since}::date::timestamp at time zone 'UTC', '2026-11-14T00:00:00Z', interval '7 days') d,
        generate_series(d, d + interval '23 hours', interval '1 hour') h) hours`.execute(ctx.db)
}

async function haveMetered({ ctx }: Bundle, until = '2026-11-14T23:00:00Z'): Promise<void> {
  await sql`insert into metered_hours (hour, metered_at) values ('2026-09-01T00:00:00Z', '2026-09-01T01:00:00Z'),
    (${until}, ${until}) on conflict do nothing`.execute(ctx.db)
}

const items = [{ resource_kind: 'droplet', included_qty: 0, overage_unit: 'hour', overage_price_cents: 10 }]
const SEPTEMBER = { since: '2026-09-01T00:00:00Z', items }

test(
  'a tenant’s unusual day is told once, with what made it, to the tenant and the operators alone',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { call, tokens } = bundle
    await listen(bundle)
    const one = await charged(bundle, 9_900, SEPTEMBER)
    const two = await charged(bundle, 0, SEPTEMBER)
    const calm = await charged(bundle, 0, { ...SEPTEMBER, tenant: 'calm' })
    const young = await charged(bundle, 0, { items, tenant: 'young', since: '2026-10-20T00:00:00Z' })
    await haveSaturdays(bundle, one, 1, 4)
    await haveSaturdays(bundle, two, 2, 3)
    await haveSaturdays(bundle, calm, 5, 6)
    await haveSaturdays(bundle, young, 1, 9, '2026-10-24')
    await haveMetered(bundle)
    assert.equal(await find(bundle), 1)
    assert.equal(await find(bundle), 0)
    const list = async (token?: string) =>
      (await call('GET', '/api/v1/budgets/unusual-days', { token })).body.data
    const [day] = await list(await tokens.tenant('acme'))
    const droplets = { tenant_id: 'acme', kind: 'droplet' }
    assert.deepEqual(day, {
      ...{ id: day.id, tenant_id: 'acme', day: '2026-11-14', measure: 'charge', currency: 'USD' },
      ...{ amount_minor: 1_680, usual_minor: 720, limit_minor: 1_220 },
      lines: [
        { ...droplets, deployment_id: one, amount_minor: 960, usual_minor: 240 },
        { ...droplets, deployment_id: two, amount_minor: 720, usual_minor: 480 },
      ],
      found_at: '2026-11-15T12:00:00.000Z',
    })
    assert.deepEqual(await list(), [day])
    assert.deepEqual(await list(await tokens.tenant('calm')), [])
    const foreign = { token: await tokens.tenant('calm') }
    assert.equal((await call('GET', '/api/v1/budgets/unusual-days?tenant_id=acme', foreign)).status, 403)
    assert.deepEqual(await told(bundle), [
      { type: 'cost.unusual_day', tenant_id: 'acme', data: { tenant_id: 'acme', unusual_day: day } },
    ])
  },
)

test(
  'a day that is not metered to its end is judged when it is; meters that add up count by their events',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    await meterOf(bundle, { code: 'llm_tokens' })
    const priced = { overage_unit: 'unit', overage_price_cents: 1 }
    const tokens = [{ resource_kind: 'llm_tokens', included_qty: 0, ...priced }]
    const id = await charged(bundle, 0, { ...SEPTEMBER, items: tokens })
    const days = ['2026-10-10', '2026-10-17', '2026-10-24', '2026-10-31', '2026-11-07']
    const on = (day: string, value: number) =>
      event(id, { id: day, time: `${day}T09:00:00Z`, data: { value } })
    await send(bundle, [...days.map(day => on(day, 1)), on('2026-11-14', 700)])
    await haveMetered(bundle, '2026-11-14T22:00:00Z')
    assert.equal(await find(bundle), 0)
    await haveMetered(bundle)
    assert.equal(await find(bundle), 1)
    const { body } = await bundle.call('GET', '/api/v1/budgets/unusual-days')
    const [{ amount_minor, lines }] = body.data
    assert.deepEqual([amount_minor, lines[0].kind, lines[0].amount_minor], [700, 'llm_tokens', 700])
  },
)

test(
  'the account’s unusual day is what the provider’s usage grew by, with an estimate of what lived',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { worker: true })
    const { ctx, call, tokens } = bundle
    await sql`insert into cloud_balance_snapshots (id, provider, month_to_date_balance, account_balance, month_to_date_usage,
      currency, generated_at, recorded_at)
    select uuid_v7(), 'digitalocean', 0, 0, extract(day from d) * 20 + case when d >= '2026-11-14' then 80 else 0 end, 'USD', at, at
    from generate_series('2026-09-10'::date, '2026-11-14'::date, interval '1 day') d,
      lateral (select (d + interval '23 hours') at time zone 'UTC' as at) t`.execute(ctx.db)
    await haveResource(bundle, { name: 'web', tenant: 'acme' })
    for (const name of ['burst-1', 'burst-2'])
      await haveResource(bundle, { name, first: '2026-11-14T00:00:00Z', tenant: 'acme' })
    await haveIngested(bundle, [{ amount: '10.00', hours: '100' }])
    assert.equal((await runTask(bundle, 'unusual_days')).status, 'completed')
    const { body } = await call('GET', '/api/v1/budgets/unusual-days')
    const [day] = body.data
    assert.deepEqual(
      [day.tenant_id, day.day, day.measure, day.amount_minor, day.usual_minor, day.limit_minor],
      [null, '2026-11-14', 'cost', 10_000, 2_000, 2_500],
    )
    assert.deepEqual(day.lines, [
      { tenant_id: 'acme', deployment_id: null, kind: 'droplet', amount_minor: 720, usual_minor: 240 },
    ])
    const token = await tokens.tenant('acme')
    assert.deepEqual((await call('GET', '/api/v1/budgets/unusual-days', { token })).body.data, [])
  },
)

test('of several who look for unusual days at once one tells each', needsPostgres, async t => {
  const bundle = await setup(t)
  await listen(bundle)
  for (const tenant of ['a', 'b', 'c'])
    await haveSaturdays(bundle, await charged(bundle, 0, { ...SEPTEMBER, tenant }), 1, 9)
  await haveMetered(bundle)
  const counts = await Promise.all([find(bundle), find(bundle), find(bundle), find(bundle)])
  assert.equal(
    counts.reduce((a, b) => a + b, 0),
    3,
  )
  assert.equal((await told(bundle)).length, 3)
})
