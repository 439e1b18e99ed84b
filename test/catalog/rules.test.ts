import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  itemErrors,
  mayBeRewritten,
  mayMove,
  type PlanItem,
  sameTerms,
  sortedItems,
  VERSION_MOVES,
  VERSION_STATES,
} from '../../src/features/catalog/plan.ts'
import { overlap, type Period } from '../../src/features/catalog/price.ts'

test('of all pairs of version states only draft → active → retired are moves', () => {
  const moves = VERSION_STATES.flatMap(from =>
    VERSION_STATES.filter(to => mayMove(from, to)).map(to => `${from} → ${to}`),
  )
  assert.deepEqual(moves, ['draft → active', 'active → retired'])
  assert.deepEqual(Object.keys(VERSION_MOVES), [...VERSION_STATES])
  assert.deepEqual(VERSION_STATES.filter(mayBeRewritten), ['draft'])
})

test('two periods overlap exactly when some day lies in both', () => {
  const day = (n: number) => `2026-01-${String(n).padStart(2, '0')}`
  const period = fc.tuple(fc.integer({ min: 1, max: 12 }), fc.option(fc.integer({ min: 1, max: 10 }))).map(
    ([from, length]): Period => ({
      effective_from: day(from),
      effective_to: length === null ? null : day(from + length),
    }),
  )
  const holds = ({ effective_from: from, effective_to: to }: Period, on: string) =>
    from <= on && (to === null || on < to)
  fc.assert(
    fc.property(period, period, (a, b) => {
      const shared = Array.from({ length: 30 }, (_, i) => day(i + 1)).some(on => holds(a, on) && holds(b, on))
      assert.equal(overlap(a, b), shared)
    }),
  )
})

const item = (resource_kind: string, rest: Partial<PlanItem> = {}): PlanItem => ({
  resource_kind,
  included_qty: 2,
  overage_unit: null,
  overage_price_cents: null,
  hard_cap_qty: null,
  ...rest,
})

test('items of a version must not repeat a kind, cap below what is included, or give half of the overage terms', () => {
  const overage = { overage_unit: 'hour', overage_price_cents: 3 }
  const fine = [item('a'), item('b', { hard_cap_qty: 2 }), item('c', { hard_cap_qty: 3, ...overage })]
  assert.deepEqual(itemErrors(fine, '/items'), [])
  const wrong = [
    item('a'),
    item('a'),
    item('b', { hard_cap_qty: 1 }),
    item('c', { overage_unit: 'hour' }),
    item('d', { overage_price_cents: 0 }),
  ]
  assert.deepEqual(itemErrors(wrong, '/items'), [
    { pointer: '/items/1/resource_kind', message: 'a has an item already' },
    { pointer: '/items/2/hard_cap_qty', message: 'must not be less than included_qty (2)' },
    { pointer: '/items/3/overage_price_cents', message: 'is required with overage_unit' },
    { pointer: '/items/4/overage_unit', message: 'is required with overage_price_cents' },
  ])
})

test('terms are the same when price, currency and every item are, in whatever order the items stand', () => {
  const [a, b, c] = [item('a'), item('b'), item('c')]
  const terms = { base_price_cents: 100, currency: 'USD', items: [a, b, c] }
  assert.deepEqual(sortedItems([c, a, b]), [a, b, c])
  assert.ok(sameTerms(terms, { ...terms, items: [c, a, b] }))
  assert.ok(!sameTerms(terms, { ...terms, base_price_cents: 101 }))
  assert.ok(!sameTerms(terms, { ...terms, currency: 'EUR' }))
  assert.ok(!sameTerms(terms, { ...terms, items: [a, b] }))
  assert.ok(!sameTerms({ ...terms, items: [a, b] }, terms))
  for (const other of [
    item('d'),
    item('c', { included_qty: 3 }),
    item('c', { overage_unit: 'hour' }),
    item('c', { overage_price_cents: 1 }),
    item('c', { hard_cap_qty: 9 }),
  ])
    assert.ok(!sameTerms(terms, { ...terms, items: [a, b, other] }))
})
