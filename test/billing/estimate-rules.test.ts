// How an estimate is worked out: exact amounts, never more for a month than its price, and how far it was off.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  accrue,
  centsOf,
  decimalText,
  hourlyOf,
  millionths,
  percentOff,
  type Stretch,
} from '../../src/features/billing/estimate.ts'

const END = '2026-12-01T00:00:00Z'
const stretch = (from_at: string, to_at: string, others: Partial<Stretch> = {}): Stretch => ({
  ...{ sku: 'size', quantity: '1', price_monthly: '6', price_hourly: '0.01', open: false },
  ...{ from_at: `2026-11-${from_at}:00:00Z`, to_at: `2026-11-${to_at}:00:00Z` },
  ...others,
})
const costs = (...stretches: Stretch[]) =>
  accrue(stretches, END).map(({ amount, month }) => [Number(amount), Number(month)])

test('a resource costs by the hour, to the millisecond, and what goes on does so until the month ends', () => {
  assert.deepEqual(costs(stretch('01T00', '02T00')), [[240_000, 240_000]])
  assert.deepEqual(costs(stretch('29T00', '30T00', { open: true })), [[240_000, 480_000]])
  assert.deepEqual(costs(stretch('01T00', '01T01', { quantity: '2.5' })), [[25_000, 25_000]])
  assert.deepEqual(costs({ ...stretch('01T00', '01T00'), to_at: '2026-11-01T00:00:00.360Z' }), [[1, 1]])
})

test('a month costs at most its price, over all stretches of the same thing, and another thing has its own', () => {
  const [a, b] = [stretch('01T00', '21T00'), stretch('21T00', '30T00', { open: true })]
  assert.deepEqual(costs(a, b), [
    [4_800_000, 4_800_000],
    [1_200_000, 1_200_000],
  ])
  assert.deepEqual(costs(stretch('01T00', '26T00')), [[6_000_000, 6_000_000]], 'exactly the price')
  assert.deepEqual(costs(a, { ...b, sku: 'other' }), [
    [4_800_000, 4_800_000],
    [2_160_000, 2_400_000],
  ])
  const cheaper = stretch('21T00', '30T00', { price_monthly: '3', open: true })
  assert.deepEqual(costs(a, cheaper)[1], [0, 0], 'what was spent stays spent')
})

test('products of exact decimals are cut, not rounded, and cents are rounded half up, away from zero', () => {
  assert.deepEqual(
    [
      millionths('0.10', '100'),
      millionths('1.5', '2.34'),
      millionths('0.0000009', '1'),
      millionths('2', '3', 12),
    ],
    [10_000_000n, 3_510_000n, 0n, 6_000_000_000_000n],
  )
  assert.deepEqual([4_999n, 5_000n, -4_999n, -5_000n, 14_999n, 15_000n].map(centsOf), [
    0n,
    1n,
    0n,
    -1n,
    1n,
    2n,
  ])
  assert.deepEqual(
    [decimalText(0n), decimalText(-1n), decimalText(1_234_567n), decimalText(15n, 1)],
    ['0.000000', '-0.000001', '1.234567', '1.5'],
  )
  assert.equal(hourlyOf('6.72'), '0.010000000000')
  assert.equal(hourlyOf('12'), '0.017857142857')
})

test('how far an estimate was off is told in tenths of a percent of the invoice', () => {
  for (const [off, invoiced, percent] of [
    [0, 100, '0.0'],
    [-94, 1800, '-5.2'],
    [94, 1800, '5.2'],
    [1, 2000, '0.1'],
    [-1, 3000, '0.0'],
    [5, 0, null],
    [100, 100, '100.0'],
    [10, -100, '-10.0'],
  ] as const)
    assert.equal(percentOff(off, invoiced), percent, `${off} of ${invoiced}`)
})
