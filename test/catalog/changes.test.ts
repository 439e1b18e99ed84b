// Changes of the catalog: which there are, and how an operator reads them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogDiff, describeChange, type StandingCatalog } from '../../src/features/catalog/catalog-diff.ts'
import { readCatalogFile, writeCatalogFile } from '../../src/features/catalog/catalog-file.ts'

const nothing: StandingCatalog = { meters: [], plans: [], addons: [], resource_prices: [] }
const addon = { code: 'x', name: 'X', resource_kind: 'seats', qty: 5, price_cents: 900, currency: 'USD' }
const seats = { resource_kind: 'seats', included_qty: 3, overage_unit: null, overage_price_cents: null }
const disks = { resource_kind: 'disks', included_qty: 0, overage_unit: 'gb', overage_price_cents: 2 }
const price = { resource_kind: 'droplet', unit: 'hour', price_cents: 3, currency: 'USD' }

const worded = (standing: StandingCatalog, wanted: Parameters<typeof catalogDiff>[1]) =>
  catalogDiff(standing, wanted)
    .changes.flatMap(describeChange)
    .map(({ sign, text }) => `${sign} ${text}`)

test('what is new is told line by line, with the items of a version in their order', () => {
  const version = {
    base_price_cents: 1900,
    currency: 'USD',
    items: [
      { ...seats, hard_cap_qty: 4 },
      { ...disks, hard_cap_qty: null },
    ],
  }
  const prices = [
    { ...price, effective_from: '2026-01-01', effective_to: '2026-02-01' },
    { ...price, effective_from: '2026-02-01', effective_to: null },
  ]
  const wanted = {
    meters: [{ code: 'disks', name: 'D', aggregation: 'sum' as const, unit: 'gb', scale: 10 }],
    plans: [{ code: 'a', name: 'A', version }],
    addons: [addon],
    resource_prices: prices,
  }
  assert.deepEqual(worded(nothing, wanted), [
    '+ meter disks: sum of gb, by 10',
    '+ plan a (A)',
    '+ version of a: 1900 USD',
    '+   0 disks, then 2 per gb',
    '+   3 seats, at most 4',
    '+ addon x: 5 seats for 900 USD',
    '+ price droplet/hour USD from 2026-01-01 to 2026-02-01: 3',
    '+ price droplet/hour USD from 2026-02-01: 3',
  ])
})

test('a version whose price stays is told by its items alone: added, changed and dropped ones, by name', () => {
  const version = (...items: object[]) => ({
    base_price_cents: 1900,
    currency: 'USD',
    items: items.map(item => ({ hard_cap_qty: null, ...seats, ...item })),
  })
  const plan = (terms: ReturnType<typeof version>) => [{ code: 'a', name: 'A', version: terms }]
  const before = { ...nothing, plans: plan(version({ resource_kind: 'z' }, { resource_kind: 'b' }, seats)) }
  const after = plan(version({ resource_kind: 'b' }, { ...seats, included_qty: 4 }, { resource_kind: 'a' }))
  assert.deepEqual(worded(before, { ...nothing, plans: after }), [
    '~ version of a: 1900 USD',
    '+   3 a',
    '~   3 seats → 4 seats',
    '-   3 z',
  ])
})

test('every field of an addon is compared, and the end of a price may be taken back', () => {
  const other = { ...addon, name: 'Y', resource_kind: 'disks', qty: 6, price_cents: 901, currency: 'EUR' }
  const ended = { ...price, id: 'p', effective_from: '2026-01-01', effective_to: '2026-02-01' }
  const standing = { ...nothing, addons: [addon], resource_prices: [ended] }
  const { id: _, ...open } = { ...ended, effective_to: null }
  assert.deepEqual(worded(standing, { ...nothing, addons: [other], resource_prices: [open] }), [
    '~ addon x: name X → Y, resource_kind seats → disks, qty 5 → 6, price_cents 900 → 901, currency USD → EUR',
    '~ price droplet/hour USD from 2026-01-01: effective_to 2026-02-01 → none',
  ])
})

test('a price that would change its amount is refused with what to do instead, and neighbours are compared too', () => {
  const known = { ...price, id: 'p', effective_from: '2026-01-01', effective_to: null }
  const { id: _, ...dearer } = { ...known, price_cents: 4, effective_to: '2026-03-01' }
  const beside = { ...price, effective_from: '2026-02-01', effective_to: null }
  const { changes, refusals } = catalogDiff(
    { ...nothing, resource_prices: [known] },
    { ...nothing, resource_prices: [dearer, beside] },
  )
  assert.deepEqual(
    changes.map(change => change.do),
    ['add price'],
  )
  assert.deepEqual(refusals, [
    'price droplet/hour USD from 2026-01-01 is 3 and stays so (the file says 4): give it an effective_to and add another that follows',
    'prices droplet/hour USD from 2026-01-01 and droplet/hour USD from 2026-02-01 would hold on the same days',
  ])
})

const tokens = { code: 'tokens', name: 'T', aggregation: 'sum' as const, unit: 'token', scale: 1000 }

test('a meter is renamed and nothing else of it changes: make another', () => {
  const standing = { ...nothing, meters: [tokens] }
  assert.deepEqual(catalogDiff(standing, standing), { changes: [], refusals: [] })
  assert.deepEqual(worded(standing, { ...nothing, meters: [{ ...tokens, name: 'Tokens' }] }), [
    '~ meter tokens: name T → Tokens',
  ])
  const other = { ...tokens, aggregation: 'max' as const, unit: 'word', scale: 1 }
  assert.deepEqual(catalogDiff(standing, { ...nothing, meters: [other] }), {
    changes: [],
    refusals: [
      'meter tokens: its aggregation is sum and stays so (the file says max): make another meter',
      'meter tokens: its unit is token and stays so (the file says word): make another meter',
      'meter tokens: its scale is 1000 and stays so (the file says 1): make another meter',
    ],
  })
})

test('a unit that nothing measures is refused: by the meters that stand, those of the file, and time', () => {
  const version = (overage_unit: string) => ({
    base_price_cents: 0,
    currency: 'USD',
    items: [{ ...seats, resource_kind: 'tokens', overage_unit, overage_price_cents: 1, hard_cap_qty: null }],
  })
  const plans = (unit: string) => [{ code: 'a', name: 'A', version: version(unit) }]
  const gb = { ...price, unit: 'gb', effective_from: '2026-01-01', effective_to: null }
  const refused = (standing: StandingCatalog, wanted: object) =>
    catalogDiff(standing, { ...nothing, ...wanted }).refusals
  assert.deepEqual(refused(nothing, { plans: plans('token'), resource_prices: [gb] }), [
    'plan a: nothing measures tokens by token: it is measured by hour, day, month',
    'price droplet/gb USD from 2026-01-01: nothing measures droplet by gb: it is measured by hour, day, month',
  ])
  assert.deepEqual(refused(nothing, { plans: plans('month') }), [])
  for (const side of [
    { standing: { ...nothing, meters: [tokens] }, file: {} },
    { standing: nothing, file: { meters: [tokens] } },
  ]) {
    assert.deepEqual(refused(side.standing, { ...side.file, plans: plans('token') }), [])
    assert.deepEqual(refused(side.standing, { ...side.file, plans: plans('month') }), [
      'plan a: nothing measures tokens by month: it is measured by token',
    ])
  }
})

test('a meter of a file has a code of its own, which is no kind of the inventory', () => {
  const meter = (code: string) => `  - {code: ${code}, aggregation: sum, unit: gb}\n`
  const { faults } = readCatalogFile(`meters:\n${meter('a')}${meter('droplet')}${meter('a')}`)
  assert.deepEqual(faults, [
    'line 3: meters[1].code droplet is a kind of the inventory, which is metered by the hour',
    'line 4: meters[2].code a is the code of meters[0] already',
  ])
  assert.deepEqual(readCatalogFile(`meters:\n${meter('a')}`).catalog?.meters, [
    { code: 'a', name: 'a', aggregation: 'sum', unit: 'gb', scale: 1 },
  ])
})

test('a catalog is written as a person would: nothing that says nothing, long names on one line', () => {
  const name = 'A name of many words that would be folded '.repeat(4).trim()
  assert.equal(
    writeCatalogFile({ ...nothing, plans: [{ code: 'a', name, version: null }] }),
    `meters: []\nplans:\n  - code: a\n    name: ${name}\naddons: []\nresource_prices: []\n`,
  )
})

test('a fault is named by its path as it is written, whatever its characters', () => {
  const faults = (text: string) => readCatalogFile(text).faults
  assert.deepEqual(faults('"a/b~c": 1'), ['line 1: a/b~c is not a known field'])
  assert.deepEqual(faults('plans: []\nx1y: 1\n1x: 2\nx1: 3'), [
    'line 2: x1y is not a known field',
    'line 3: 1x is not a known field',
    'line 4: x1 is not a known field',
  ])
  const plans = Array.from({ length: 12 }, (_, index) => `  - {code: c${index % 11}, name: N}\n`).join('')
  assert.deepEqual(faults(`plans:\n${plans}`), ['line 13: plans[11].code c0 is the code of plans[0] already'])
  const twice = `{resource_kind: a, unit: b, price_cents: 1, currency: USD, effective_from: 2026-01-01}`
  assert.deepEqual(faults(`resource_prices: [${twice}, ${twice}]`), [
    'line 1: resource_prices[1] overlaps resource_prices[0]: a/b USD would have two prices on one day',
  ])
})
