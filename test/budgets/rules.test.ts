// The rules of budgets: months, thresholds, forecasts, currencies and changes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addedUp,
  beginsAnew,
  isTooEarly,
  monthsToLookAt,
  ownAmount,
  thresholdsReached,
} from '../../src/features/budgets/budget.ts'

const november = { start_at: '2026-11-01T00:00:00.000Z' }

test('a threshold is reached by its very percent of the amount, and by no cent less', () => {
  const budget = {
    amount_minor: 999,
    thresholds: [
      { percent: 50, on: 'actual' as const },
      { percent: 100, on: 'forecast' as const },
      { percent: 150, on: 'actual' as const },
    ],
  }
  const reached = (actual: bigint, forecast: bigint | null) =>
    thresholdsReached(budget, { actual, forecast }).map(({ percent, on, reached_minor }) => [
      percent,
      on,
      reached_minor,
    ])
  // 50 % of 999 is 499.5.
  assert.deepEqual(reached(499n, 998n), [])
  assert.deepEqual(reached(500n, 999n), [
    [50, 'actual', 500n],
    [100, 'forecast', 999n],
  ])
  assert.deepEqual(reached(1498n, null), [[50, 'actual', 1498n]])
  assert.deepEqual(reached(1499n, 1499n), [
    [50, 'actual', 1499n],
    [100, 'forecast', 1499n],
    [150, 'actual', 1499n],
  ])
})

test('amounts of one currency are added up, those of another stand beside them', () => {
  const amounts = [
    { currency: 'USD', actual: 5n, forecast: 7n },
    { currency: 'EUR', actual: 1n, forecast: 2n },
    { currency: 'USD', actual: 10n, forecast: 20n },
  ]
  const sums = [
    { currency: 'EUR', actual: 1n, forecast: 2n },
    { currency: 'USD', actual: 15n, forecast: 27n },
  ]
  assert.deepEqual(addedUp(amounts), sums)
  assert.deepEqual(addedUp([]), [])
  assert.deepEqual(addedUp([...amounts, { currency: 'EUR', actual: 3n, forecast: null }])[0], {
    currency: 'EUR',
    actual: 4n,
    forecast: null,
  })
  const spending = { amounts: sums, estimated: false }
  assert.deepEqual(ownAmount('USD', spending), sums[1])
  assert.deepEqual(ownAmount('CHF', spending), { currency: 'CHF', actual: 0n, forecast: 0n })
})

test('on the first day of a month nobody can tell how it ends', () => {
  const tooEarly = (asOf: string) => isTooEarly(november, asOf)
  assert.equal(tooEarly('2026-11-01T23:59:59.999Z'), true)
  assert.equal(tooEarly('2026-11-02T00:00:00.000Z'), false)
})

test('the month before is looked at for five days more', () => {
  const months = (now: string) => monthsToLookAt(new Date(now)).map(({ period }) => period)
  assert.deepEqual(months('2026-12-01T00:00:00.000Z'), ['2026-11', '2026-12'])
  assert.deepEqual(months('2026-12-05T23:59:59.999Z'), ['2026-11', '2026-12'])
  assert.deepEqual(months('2026-12-06T00:00:00.000Z'), ['2026-12'])
  assert.deepEqual(months('2027-01-01T00:00:00.000Z'), ['2026-12', '2027-01'])
})

test('a higher amount or another currency begins anew, a lower or the same does not', () => {
  const before = { amount_minor: 100, currency: 'USD' }
  assert.equal(beginsAnew(before, {}), false)
  assert.equal(beginsAnew(before, { amount_minor: 100, currency: 'USD' }), false)
  assert.equal(beginsAnew(before, { amount_minor: 99 }), false)
  assert.equal(beginsAnew(before, { amount_minor: 101 }), true)
  assert.equal(beginsAnew(before, { currency: 'EUR' }), true)
})
