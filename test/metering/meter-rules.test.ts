// What meters cost, by hand-written arithmetic.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type MeterFacts,
  type MeterSlice,
  meterLine,
  meterSlices,
  meterStatementLines,
} from '../../src/features/metering/meter-usage.ts'
import { monthAsked } from '../../src/features/metering/period.ts'

const NOW = '2026-11-16T00:00:00.000Z'
const november = monthAsked(undefined, new Date(NOW))!
const GB = 1_000_000_000n

const sumOf = (lines: { amount_cents: bigint }[]) =>
  lines.reduce((sum, { amount_cents }) => sum + amount_cents, 0n)

const plan = (price_cents: number) => ({ unit: 'token', price_cents, source: 'plan' as const })
const slice = (from: string, to: string, fields: Partial<MeterSlice> = {}): MeterSlice => ({
  ...{ from_at: `${from}T00:00:00.000Z`, to_at: `${to}T00:00:00.000Z`, included: 2n, rate: plan(90) },
  ...fields,
})
const whole = (fields: Partial<MeterSlice> = {}) => slice('2026-11-01', '2026-12-01', fields)
const sums = (slice: number, units: bigint) => ({
  slice,
  total: units * GB,
  highest: units * GB,
  last: units * GB,
})

const line = (
  fields: Partial<MeterFacts> & { aggregation?: MeterFacts['meter']['aggregation']; scale?: number },
) => {
  const { aggregation = 'sum', scale = 1_000_000, ...given } = fields
  const { slices = [whole()], now = NOW } = given
  const facts = {
    meter: { code: 'tokens', name: 'Tokens', unit: 'token', aggregation, scale },
    ...{ month: november, now, slices, sums: [], members: 0, cap: null },
    last: slices.findLast(({ from_at }) => from_at <= now)!,
    ...given,
  }
  const { used, included, overage_qty, overage_cents, forecast_cents } = meterLine(facts)
  // A statement's lines are the same money, as it stands and as it may end.
  for (const [foreseen, cents] of [
    [false, overage_cents],
    [true, forecast_cents],
  ] as const)
    assert.equal(sumOf(meterStatementLines(facts, foreseen)), cents)
  return [used, included, overage_qty, overage_cents, forecast_cents]
}

test('a line says what the meter is, what was used and included, the rest, its price and the cap', () => {
  const facts = {
    meter: { code: 'tokens', name: 'Tokens', unit: 'token', aggregation: 'sum' as const, scale: 1_000_000 },
    ...{ month: november, now: NOW, slices: [whole()], sums: [sums(0, 3_500_000n)], members: 0, cap: 9 },
    last: whole(),
  }
  assert.deepEqual(meterLine(facts), {
    ...{ meter: 'tokens', name: 'Tokens', aggregation: 'sum', unit: 'token', scale: 1_000_000 },
    ...{ used: '3500000', included: '2', overage_qty: '1.5', overage_price_cents: 90, price_source: 'plan' },
    // 1.5 × 90; half the month has passed, so 7,000,000 by its end: 5 × 90.
    ...{ overage_cents: 135n, forecast_cents: 450n, cap: 9 },
  })
  const unpriced = { ...facts, slices: [whole({ rate: null })], cap: null }
  assert.deepEqual(meterLine(unpriced), {
    ...meterLine(facts),
    ...{ overage_price_cents: null, price_source: null, overage_cents: 0n, forecast_cents: 0n, cap: null },
  })
})

test('a sum is charged to the unit, and rounded once, half a cent up', () => {
  assert.deepEqual(line({ sums: [] }), ['0', '2', '0', 0n, 0n])
  assert.deepEqual(line({ sums: [sums(0, 2_000_000n)] }), ['2000000', '2', '0', 0n, 180n])
  // 5,555 tokens at 90 for a million are 0.49995 cents, 5,556 are 0.50004; by the month’s end 2 × 2,005,55x.
  assert.deepEqual(line({ sums: [sums(0, 2_005_555n)] }), ['2005555', '2', '0.005555', 0n, 181n])
  assert.deepEqual(line({ sums: [sums(0, 2_005_556n)] }), ['2005556', '2', '0.005556', 1n, 181n])
  const fraction = [{ slice: 0, total: 2_500_000_001n, highest: 0n, last: 0n }]
  assert.deepEqual(line({ scale: 1, sums: fraction }), ['2.500000001', '2', '0.5', 45n, 270n])
})

test('a sum that has ended has its total for a forecast, and in its first second the pace of that second', () => {
  const over = { now: '2026-12-05T00:00:00.000Z', sums: [sums(0, 3_000_000n)] }
  assert.deepEqual(line(over), ['3000000', '2', '1', 90n, 90n])
  const first = { now: november.start_at, scale: 1, sums: [sums(0, 1n)] }
  // One and 2,592,000 more, less two.
  assert.deepEqual(line(first), ['1', '2', '0', 0n, 90n * 2_591_999n])
})

test('what is included is used up in the order of time, and each part of the rest costs what its days say', () => {
  const slices = [
    slice('2026-11-01', '2026-11-11', { rate: plan(90) }),
    slice('2026-11-11', '2026-11-16', { rate: plan(100) }),
    slice('2026-11-16', '2026-12-01', { rate: plan(30) }),
  ]
  const used = [sums(0, 1_500_000n), sums(1, 1_500_000n)]
  // 2 − 1.5 are left for the second part: 1 × 100. At the pace of half a month 3 more, at 30.
  assert.deepEqual(line({ slices, sums: used }), ['3000000', '2', '1', 100n, 190n])
  const early = [sums(0, 5_000_000n), sums(1, 0n)]
  assert.deepEqual(line({ slices, sums: early }), ['5000000', '2', '3', 270n, 420n])
})

test('each slice costs its own part, and together they cost what the line says', () => {
  const slices = [
    slice('2026-11-01', '2026-11-11'),
    slice('2026-11-11', '2026-11-12'),
    slice('2026-11-12', '2026-12-01'),
  ]
  const facts = {
    meter: { code: 'tokens', name: 'Tokens', unit: 'token', aggregation: 'sum' as const, scale: 1_000_000 },
    ...{ month: november, now: NOW, slices, members: 0, cap: null, last: slices[2]! },
    sums: [sums(0, 1_500_000n), sums(1, 1_500_000n), sums(2, 500_000n)],
  }
  const day = (from: string, to: string) => ({
    from_at: `${from}T00:00:00.000Z`,
    to_at: `${to}T00:00:00.000Z`,
  })
  assert.deepEqual(meterSlices(facts), [
    { ...day('2026-11-01', '2026-11-11'), amount_cents: 0n },
    { ...day('2026-11-11', '2026-11-12'), amount_cents: 90n },
    { ...day('2026-11-12', '2026-12-01'), amount_cents: 45n },
  ])
  assert.equal(meterLine(facts).overage_cents, 135n)
})

test('terms that hold for a part of the month include that part of their quantity', () => {
  const slices = [
    slice('2026-11-01', '2026-11-16', { included: 0n, rate: null }),
    slice('2026-11-16', '2026-12-01', { included: 3n }),
  ]
  const facts = { slices, now: '2026-12-01T00:00:00.000Z' }
  assert.deepEqual(line({ ...facts, sums: [sums(1, 2_000_000n)] }), ['2000000', '1.5', '0.5', 45n, 45n])
  assert.deepEqual(line({ ...facts, sums: [sums(0, 2_000_000n)] }), ['2000000', '1.5', '0.5', 0n, 0n])
})

test('the largest, the last and the number of different ones count once for the month, by what has held last', () => {
  const slices = [
    slice('2026-11-01', '2026-11-10', { included: 1n, rate: plan(500) }),
    slice('2026-11-10', '2026-11-20', { included: 3n, rate: plan(400) }),
    slice('2026-11-20', '2026-12-01', { included: 9n, rate: plan(1) }),
  ]
  const used = [sums(1, 5n), sums(0, 8n)]
  const scale = 1
  assert.deepEqual(line({ aggregation: 'max', scale, slices, sums: used }), ['8', '3', '5', 2000n, 2000n])
  assert.deepEqual(line({ aggregation: 'last', scale, slices, sums: used }), ['5', '3', '2', 800n, 800n])
  assert.deepEqual(line({ aggregation: 'unique', scale, slices, members: 4 }), ['4', '3', '1', 400n, 400n])
  assert.deepEqual(line({ aggregation: 'unique', scale, slices, members: 3 }), ['3', '3', '0', 0n, 0n])
  assert.deepEqual(line({ aggregation: 'last', scale, slices, sums: [] }), ['0', '3', '0', 0n, 0n])
  const over = { now: '2026-12-03T00:00:00.000Z', aggregation: 'max' as const, scale: 2, slices }
  // 30 tokens are 15 of two: 6 beyond.
  assert.deepEqual(line({ ...over, sums: [sums(0, 30n)] }), ['30', '9', '6', 6n, 6n])
})

test('a statement’s lines of a meter: what is within, and what goes beyond at each price, in times the scale', () => {
  const slices = [
    slice('2026-11-01', '2026-11-11', { rate: plan(90) }),
    slice('2026-11-11', '2026-12-01', { rate: { ...plan(100), source: 'resource_price' } }),
  ]
  const facts = {
    meter: { code: 'tokens', name: 'Tokens', unit: 'token', aggregation: 'sum' as const, scale: 1_000_000 },
    ...{ month: november, now: NOW, slices, last: slices[1]!, members: 0, cap: null },
    sums: [sums(0, 2_500_000n), sums(1, 1_000_000n)],
  }
  const line = { code: 'tokens', subject_id: null, unit: '1000000 token' }
  const times = (from: string, to: string) => ({ from: `${from}T00:00:00.000Z`, to: `${to}T00:00:00.000Z` })
  assert.deepEqual(meterStatementLines(facts, false), [
    {
      ...{ kind: 'included', ...line, ...times('2026-11-01', '2026-12-01'), quantity: '2' },
      ...{ price_cents: null, price_source: null, amount_cents: 0n },
    },
    {
      ...{ kind: 'meter', ...line, ...times('2026-11-01', '2026-11-11'), quantity: '0.5' },
      ...{ price_cents: 90, price_source: 'plan', amount_cents: 45n },
    },
    {
      ...{ kind: 'meter', ...line, ...times('2026-11-11', '2026-12-01'), quantity: '1' },
      ...{ price_cents: 100, price_source: 'resource_price', amount_cents: 100n },
    },
  ])
  // 3.5 more in the half that is to come.
  assert.deepEqual(
    meterStatementLines(facts, true).map(({ quantity, amount_cents }) => [quantity, amount_cents]),
    [
      ['2', 0n],
      ['0.5', 45n],
      ['4.5', 450n],
    ],
  )
  const seats = {
    ...facts,
    meter: { ...facts.meter, aggregation: 'max' as const, scale: 1 },
    sums: [sums(0, 2n)],
  }
  assert.deepEqual(
    meterStatementLines(seats, false).map(({ kind, quantity, unit }) => [kind, quantity, unit]),
    [['included', '2', 'token']],
  )
})
