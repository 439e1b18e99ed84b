import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type Change,
  catalogDiff,
  describeChange,
  type StandingCatalog,
} from '../../src/features/catalog/catalog-diff.ts'
import { type Catalog, readCatalogFile, writeCatalogFile } from '../../src/features/catalog/catalog-file.ts'

const example = readFileSync(join(import.meta.dirname, '../../examples/catalog.yaml'), 'utf8')

function read(text: string): Catalog {
  const { catalog, faults } = readCatalogFile(text)
  assert.deepEqual(faults, undefined)
  return catalog!
}

const faultsOf = (text: string) => readCatalogFile(text).faults

/** The catalog as it stands once a file was applied. */
const standing = (catalog: Catalog): StandingCatalog => ({
  ...structuredClone(catalog),
  resource_prices: catalog.resource_prices.map((price, index) => ({ ...price, id: `price-${index}` })),
})
const nothing: StandingCatalog = { meters: [], plans: [], addons: [], resource_prices: [] }
const worded = (changes: Change[]) =>
  changes.flatMap(describeChange).map(({ sign, text }) => `${sign} ${text}`)

test('the example catalog is read, and applied to nothing creates and publishes all of it', () => {
  const catalog = read(example)
  assert.deepEqual(
    catalog.plans.map(plan => plan.code),
    ['starter', 'growth', 'scale'],
  )
  const { changes, refusals } = catalogDiff(nothing, catalog)
  assert.deepEqual(refusals, [])
  const count = (what: Change['do']) => changes.filter(change => change.do === what).length
  assert.equal(count('create meter'), 2)
  assert.equal(count('create plan'), 3)
  assert.equal(count('publish version'), 3)
  assert.equal(count('create addon'), catalog.addons.length)
  assert.equal(count('add price'), catalog.resource_prices.length)
})

test('JSON is read as YAML is, and what may be left out has the API’s defaults', () => {
  const file = {
    plans: [{ code: 'a', name: 'A' }],
    addons: [{ code: 'x', resource_kind: 'seats', qty: 1, price_cents: 2 }],
  }
  for (const indent of [0, 2, '\t']) {
    assert.deepEqual(read(JSON.stringify(file, null, indent)), {
      meters: [],
      plans: [{ code: 'a', name: 'A', version: null }],
      addons: [{ code: 'x', name: 'x', resource_kind: 'seats', qty: 1, price_cents: 2, currency: 'USD' }],
      resource_prices: [],
    })
  }
  assert.deepEqual(read('plans: []'), { meters: [], plans: [], addons: [], resource_prices: [] })
})

test('every fault of a file is told at once, with its line and its path', () => {
  assert.deepEqual(
    faultsOf(`plans:
  - code: Starter
    name: Starter
    version:
      base_price_cents: 19.5
      items:
        - resource_kind: droplet
          included: 1
  - name: Nameless
adons: []
resource_prices:
  - resource_kind: droplet
    unit: hour
    price_cents: 1
    currency: usd
    effective_from: 2026-02-30
`),
    [
      'line 2: plans[0].code must match pattern "^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$"',
      'line 5: plans[0].version.currency is required',
      'line 5: plans[0].version.base_price_cents must be integer',
      'line 8: plans[0].version.items[0].included is not a known field',
      'line 9: plans[1].code is required',
      'line 10: adons is not a known field',
      'line 15: resource_prices[0].currency is not a currency of ISO 4217',
      'line 16: resource_prices[0].effective_from must match format "date"',
    ],
  )
})

test('what does not fit together in a file is told as well: codes twice, items, periods, overlaps', () => {
  const price = 'resource_kind: droplet, unit: hour, price_cents: 1, currency: USD'
  assert.deepEqual(
    faultsOf(`plans:
  - {code: a, name: A, version: {base_price_cents: 1, currency: USD, items: [{resource_kind: x, overage_unit: hour}]}}
  - {code: a, name: B}
addons:
  - {code: a, resource_kind: x, qty: 1, price_cents: 1}
  - {code: a, resource_kind: x, qty: 1, price_cents: 1}
resource_prices:
  - {${price}, effective_from: 2026-01-01, effective_to: 2026-01-01}
  - {${price}, effective_from: 2026-01-02}
  - {${price}, effective_from: 2026-03-01, effective_to: 2026-04-01}
`),
    [
      'line 2: plans[0].version.items[0].overage_price_cents is required with overage_unit',
      'line 3: plans[1].code a is the code of plans[0] already',
      'line 6: addons[1].code a is the code of addons[0] already',
      'line 8: resource_prices[0].effective_to must be after effective_from (2026-01-01)',
      'line 10: resource_prices[2] overlaps resource_prices[1]: droplet/hour USD would have two prices on one day',
    ],
  )
})

test('a file that is no catalog at all is refused in words, never with a stack', () => {
  assert.match(faultsOf('')![0]!, /the file must be object/)
  assert.match(faultsOf('hello')![0]!, /line 1: the file must be object/)
  assert.match(faultsOf('plans: [')![0]!, /^line 1: /)
  assert.match(faultsOf('plans: []\nplans: []')![0]!, /^line 2: Map keys must be unique/)
  assert.match(faultsOf('plans: []\n---\nplans: []')![0]!, /multiple documents/)
  assert.match(
    faultsOf(
      'a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]',
    )![0]!,
    /alias/,
  )
  assert.match(faultsOf('"__proto__": {plans: []}')![0]!, /not a known field/)
})

const kind = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/)
const code = fc.stringMatching(/^[a-z0-9]([a-z0-9_-]{0,6}[a-z0-9])?$/)
const amount = fc.integer({ min: 0, max: 10 ** 12 })
const currency = fc.constantFrom('USD', 'EUR')
const name = fc
  .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
  .filter(text => /\S/.test(text) && !/\p{C}/u.test(text))
const time = fc.constantFrom('hour', 'day', 'month')
const meter = fc.record({
  code: kind.map(text => `m__${text}`),
  name,
  aggregation: fc.constantFrom('sum', 'max', 'last', 'unique'),
  unit: kind,
  scale: fc.integer({ min: 1, max: 10 ** 12 }),
})
const item = fc
  .tuple(kind, amount, fc.option(fc.tuple(time, amount)), fc.option(amount))
  .map(([resource_kind, included_qty, overage, more]) => ({
    resource_kind,
    included_qty,
    overage_unit: overage?.[0] ?? null,
    overage_price_cents: overage?.[1] ?? null,
    hard_cap_qty: more === null ? null : Math.min(included_qty + more, 10 ** 12),
  }))
const items = fc.uniqueArray(item, { selector: row => row.resource_kind, maxLength: 4 })
const version = fc.option(fc.record({ base_price_cents: amount, currency, items }))
const price = fc.record({
  resource_kind: kind,
  unit: time,
  price_cents: amount,
  currency,
  effective_from: fc.constantFrom('2026-01-01', '2027-12-31'),
  effective_to: fc.constantFrom(null, '2028-02-29'),
})
const anyCatalog: fc.Arbitrary<Catalog> = fc.record({
  meters: fc.uniqueArray(meter, { selector: row => row.code, maxLength: 4 }),
  plans: fc.uniqueArray(fc.record({ code, name, version }), { selector: row => row.code, maxLength: 4 }),
  addons: fc.uniqueArray(
    fc.record({
      code,
      name,
      resource_kind: kind,
      qty: fc.integer({ min: 1, max: 10 ** 12 }),
      price_cents: amount,
      currency,
    }),
    { selector: row => row.code, maxLength: 4 },
  ),
  resource_prices: fc.uniqueArray(price, {
    selector: row => `${row.resource_kind} ${row.unit} ${row.currency}`,
    maxLength: 4,
  }),
})

test('a catalog that is written and read again is the same, and changes nothing', () => {
  fc.assert(
    fc.property(anyCatalog, made => {
      const catalog = structuredClone(made)
      const again = read(writeCatalogFile(catalog))
      assert.deepEqual(again, catalog)
      assert.deepEqual(catalogDiff(standing(catalog), again), { changes: [], refusals: [] })
    }),
  )
})

test('a name may begin with a separator of lines that is no control character', () => {
  const catalog = {
    meters: [],
    plans: [{ code: 'a', name: '\u2028!', version: null }],
    addons: [],
    resource_prices: [],
  }
  assert.deepEqual(read(writeCatalogFile(catalog)), catalog)
})

test('the order of plans and items in a file means nothing', () => {
  const catalog = read(example)
  const turned = structuredClone(catalog)
  turned.plans.reverse()
  for (const plan of turned.plans) plan.version?.items.reverse()
  assert.deepEqual(catalogDiff(standing(catalog), turned).changes, [])
})

test('the difference is what changed and nothing else, in words', () => {
  const before = read(example)
  const after = structuredClone(before)
  const [starter, growth] = after.plans
  growth!.name = 'Growth Plus'
  starter!.version!.base_price_cents = 2100
  starter!.version!.items[0]!.hard_cap_qty = 2
  starter!.version!.items.pop()
  after.addons[0]!.price_cents = 1500
  after.resource_prices[1]!.effective_to = '2027-01-01'
  after.resource_prices.push({
    ...after.resource_prices[1]!,
    effective_from: '2027-01-01',
    effective_to: null,
    price_cents: 2,
  })
  const { changes, refusals } = catalogDiff(standing(before), after)
  assert.deepEqual(refusals, [])
  assert.deepEqual(worded(changes), [
    '~ version of starter: 1900 USD → 2100 USD',
    '~   1 droplet → 1 droplet, at most 2',
    '-   3 seats',
    '~ plan growth: name Growth → Growth Plus',
    '~ addon extra-droplet: price_cents 1400 → 1500',
    '~ price droplet/hour USD from 2026-01-01: effective_to none → 2027-01-01',
    '+ price droplet/hour USD from 2027-01-01: 2',
  ])
})

test('what a file does not mention stays: plans, addons, prices, and a plan’s version', () => {
  const { changes, refusals } = catalogDiff(
    standing(read(example)),
    read('plans: [{code: starter, name: Starter}]'),
  )
  assert.deepEqual({ changes, refusals }, { changes: [], refusals: [] })
})

test('a price that stands keeps its amount, and one that would overlap another is refused before anything is done', () => {
  const before = read(example)
  const dearer = structuredClone(before)
  dearer.resource_prices[1]!.price_cents = 9
  assert.match(catalogDiff(standing(before), dearer).refusals.join(), /from 2026-01-01 is 3 and stays so/)
  const beside = `resource_prices: [{resource_kind: droplet, unit: hour, price_cents: 9, currency: USD, effective_from: 2026-06-01}]`
  assert.match(
    catalogDiff(standing(before), read(beside)).refusals.join(),
    /droplet\/hour USD from 2026-01-01 and droplet\/hour USD from 2026-06-01 would hold on the same days/,
  )
})
