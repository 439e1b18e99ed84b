// What a resource costs a month, worked out by the database: the same list prices as the service's own rule, and minor units of
// every currency.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { millionths } from '../../src/features/billing/estimate.ts'
import { minorOf, monthlyCostJoin, roundedOf } from '../../src/features/billing/resource-cost.ts'
import { minorDigits } from '../../src/features/billing/written-amount.ts'
import { type Kind, LIST_PRICES, listPriceOf } from '../../src/integrations/digitalocean/index.ts'
import { currencyCodes } from '../../src/kernel/currencies.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { setup } from '../support/setup.ts'
import { see } from '../support/sweep.ts'

const QUANTITIES = [0, -1, 0.5, 2.36, 100, 1_000_000_000, 1_000_000_001, '100', null, undefined, [], {}, true]

const SHAPES: [Kind, Record<string, unknown>, name?: string][] = [
  ...(['volume', 'snapshot', 'image'] as const).flatMap(kind =>
    QUANTITIES.flatMap((size_gigabytes): [Kind, Record<string, unknown>][] => [
      [kind, { size_gigabytes }],
      [kind, { size_gigabytes, type: 'custom' }],
      [kind, { size_gigabytes, type: 'snapshot' }],
    ]),
  ),
  ...['GLOBAL', 'REGIONAL_NETWORK', 'REGIONAL', undefined, null].flatMap(type =>
    QUANTITIES.map((size_unit): [Kind, Record<string, unknown>] => ['load_balancer', { type, size_unit }]),
  ),
  ...['1.2.3.4', '2604:a880::1'].flatMap(name =>
    [{ id: 1 }, null, undefined, [], 'x'].map((droplet): [Kind, Record<string, unknown>, string] => [
      'reserved_ip',
      { droplet },
      name,
    ]),
  ),
  ...[true, false, 'true', null, undefined].map((ha): [Kind, Record<string, unknown>] => [
    'kubernetes_cluster',
    { ha },
  ]),
  ...['basic', 'professional', 'starter', null].map((slug): [Kind, Record<string, unknown>] => [
    'registry',
    { subscription: { tier: { slug } } },
  ]),
  ['registry', { subscription: { tier: 'basic' } }],
  ['registry', { subscription: null }],
  ['droplet', { size_slug: 'of no price' }],
  ['domain', {}],
]

test(
  'the database lists every resource at the price that the service’s own rule says',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const kinds = new Set(SHAPES.map(([kind]) => kind))
    for (const kind of kinds) {
      const items = SHAPES.flatMap(([its, attrs, name = 'name'], n) =>
        its === kind ? [{ provider_id: String(n), name, attrs }] : [],
      )
      await see(bundle, kind, items)
    }
    const { rows } = await sql<{ n: number; cost: string | null; source: string | null }>`
    select r.provider_id::int as n, round(c.monthly_cost, 6)::text as cost, c.cost_source as source
    from cloud_resources r ${sql.raw(monthlyCostJoin('now()'))}`.execute(bundle.ctx.db)
    assert.equal(rows.length, SHAPES.length)
    const costs = new Map(rows.map(({ n, cost, source }) => [n, [cost?.replace('.', '') ?? null, source]]))
    for (const [n, [kind, attrs, name = 'name']] of SHAPES.entries()) {
      const priced = listPriceOf(kind, JSON.parse(JSON.stringify(attrs)), name)
      const expected = priced && millionths(LIST_PRICES[priced.sku], priced.quantity)
      const [cost, source] = costs.get(n)!
      assert.deepEqual(
        [cost && BigInt(cost), source],
        [expected, expected === null ? null : 'list_price'],
        `${kind} ${JSON.stringify(attrs)}`,
      )
    }
  },
)

test('amounts are rounded to the minor unit of their currency, half away from zero', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ currency: string; minor: number; shown: string }>`
    select a.currency, ${sql.raw(minorOf('a.amount', 'a.currency'))} as minor,
      ${sql.raw(roundedOf('a.amount', 'a.currency'))}::text as shown
    from (select unnest(${currencyCodes as string[]}::text[]) as currency, 12.3455::numeric as amount) a`.execute(
    ctx.db,
  )
  const expected = { 0: [12, '12'], 2: [1235, '12.35'], 3: [12346, '12.346'] }
  for (const { currency, minor, shown } of rows)
    assert.deepEqual([minor, shown], expected[minorDigits(currency) as 0 | 2 | 3], currency)
  assert.equal(rows.length, currencyCodes.length)
})
