import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TIME_UNITS } from '../../src/features/catalog/index.ts'
import {
  chargeOf,
  decimal,
  hoursOf,
  isMetered,
  type Price,
  priceIn,
  quantityIn,
  rounded,
  secondsOf,
  slicesOf,
} from '../../src/features/metering/charge.ts'
import { repricedBefore } from '../../src/features/metering/finished-months.ts'
import { byCurrency, marginOf } from '../../src/features/metering/margin.ts'
import { dueHours, endOfHour, hourOf, type Month, monthAsked } from '../../src/features/metering/period.ts'
import { includedIn, kindsIn, termsIn } from '../../src/features/metering/slice-terms.ts'
import { type UsageFacts, usageStatement } from '../../src/features/metering/usage.ts'
import type { SubscriptionTerms } from '../../src/features/subscriptions/index.ts'

const HOUR = 3_600n
const february = monthAsked('2026-02', new Date('2026-11-15T12:00:00Z'))!
const november = monthAsked(undefined, new Date('2026-11-15T12:00:00Z'))!

test('hours are due one after the other, five minutes after their end, as many as are asked for', () => {
  assert.equal(hourOf('2026-11-15T10:59:59.999Z'), '2026-11-15T10:00:00.000Z')
  assert.equal(hourOf('2026-11-15T11:00:00.000Z'), '2026-11-15T11:00:00.000Z')
  assert.equal(endOfHour('2026-11-30T23:00:00.000Z'), '2026-12-01T00:00:00.000Z')
  const due = (last: string | null, firstDeployment: string | null, now: string, most = 24) =>
    dueHours({ last, firstDeployment }, new Date(now), most)
  const ten = '2026-11-15T10:00:00.000Z'
  const eleven = '2026-11-15T11:00:00.000Z'
  assert.deepEqual(due(null, null, '2026-11-15T12:00:00Z'), [])
  assert.deepEqual(due(null, '2026-11-15T10:59:59.999Z', '2026-11-15T11:04:59.999Z'), [])
  assert.deepEqual(due(null, '2026-11-15T10:59:59.999Z', '2026-11-15T11:05:00Z'), [ten])
  assert.deepEqual(due('2026-11-15T09:00:00.000Z', '2026-01-01T00:00:00Z', '2026-11-15T12:05:00Z'), [
    ten,
    eleven,
  ])
  assert.deepEqual(due('2026-11-15T09:00:00.000Z', null, '2026-11-15T12:05:00Z', 1), [ten])
  assert.deepEqual(due(ten, null, '2026-11-15T09:00:00Z'), [], 'a clock that was set back')
})

test('quotients are rounded once, half away from zero, and shown without zeros at their end', () => {
  const quotients: [bigint, bigint, bigint][] = [
    [0n, 3n, 0n],
    [1n, 2n, 1n],
    [49n, 100n, 0n],
    [50n, 100n, 1n],
    [149n, 100n, 1n],
    [150n, 100n, 2n],
    [1n, 3n, 0n],
    [2n, 3n, 1n],
    [-1n, 2n, -1n],
    [-49n, 100n, 0n],
    [-5n, 3n, -2n],
    [10n ** 30n + 1n, 2n, 5n * 10n ** 29n + 1n],
  ]
  for (const [dividend, divisor, result] of quotients) assert.equal(rounded(dividend, divisor), result)
  assert.equal(decimal(0n, 7n, 2), '0')
  assert.equal(decimal(1n, 3n, 6), '0.333333')
  assert.equal(decimal(2n, 3n, 6), '0.666667')
  assert.equal(decimal(5n, 1000n, 2), '0.01')
  assert.equal(decimal(4n, 1000n, 2), '0')
  assert.equal(decimal(-4n, 1000n, 2), '0', 'not minus nothing')
  assert.equal(decimal(1200n, 10n, 2), '120')
  assert.equal(decimal(-1250n, 100n, 2), '-12.5')
  assert.equal(decimal(123n, 100n, 2), '1.23')
  assert.equal(hoursOf(5400n), '1.5')
  assert.equal(hoursOf(1n), '0.000278')
})

test('a month is as long as its days, and none that has not begun is taken', () => {
  assert.deepEqual(november, {
    period: '2026-11',
    start_at: '2026-11-01T00:00:00.000Z',
    end_at: '2026-12-01T00:00:00.000Z',
    first_day: '2026-11-01',
    last_day: '2026-11-30',
    seconds: 30n * 86_400n,
    over: false,
  })
  assert.deepEqual(february, {
    period: '2026-02',
    start_at: '2026-02-01T00:00:00.000Z',
    end_at: '2026-03-01T00:00:00.000Z',
    first_day: '2026-02-01',
    last_day: '2026-02-28',
    seconds: 28n * 86_400n,
    over: true,
  })
  const asked = (period: string | undefined, now: string) => monthAsked(period, new Date(now))
  assert.equal(asked('2024-02', '2026-11-15T00:00:00Z')!.last_day, '2024-02-29')
  assert.equal(asked('2026-12', '2026-11-30T23:59:59.999Z'), undefined)
  assert.equal(asked('2026-12', '2026-12-01T00:00:00Z')!.end_at, '2027-01-01T00:00:00.000Z')
  assert.equal(asked('2027-01', '2026-12-31T23:59:59Z'), undefined)
  assert.equal(asked(undefined, '2026-11-30T23:59:59.999Z')!.period, '2026-11')
})

test('units of time are metered; a month is the one that is charged', () => {
  assert.deepEqual([...TIME_UNITS], ['hour', 'day', 'month'])
  for (const unit of TIME_UNITS) assert.equal(isMetered(unit), true)
  for (const unit of ['gb_month', 'hours', '', null]) assert.equal(isMetered(unit), false)
  assert.deepEqual(
    TIME_UNITS.map(unit => secondsOf(unit, february.seconds)),
    [HOUR, 24n * HOUR, 672n * HOUR],
  )
})

const rate = (unit: string, price_cents: number) => ({ unit, price_cents })

test('a kind’s charge is exact over all its rates, and rounded once', () => {
  const charge = (month: Month, ...uses: [ReturnType<typeof rate> | null, bigint][]) =>
    chargeOf(
      uses.map(([each, over]) => ({ rate: each, over })),
      month.seconds,
    )
  assert.equal(charge(november), 0n)
  assert.equal(charge(november, [rate('hour', 3), 10n * HOUR]), 30n)
  assert.equal(charge(november, [rate('day', 48), 36n * HOUR]), 72n)
  assert.equal(charge(november, [rate('month', 450), 720n * HOUR]), 450n)
  assert.equal(charge(february, [rate('month', 450), 672n * HOUR]), 450n, 'February is no cheaper')
  assert.equal(charge(february, [rate('month', 450), 336n * HOUR]), 225n)
  assert.equal(charge(november, [rate('hour', 1), 1799n]), 0n)
  assert.equal(charge(november, [rate('month', 1), 360n * HOUR - 1n]), 0n)
  assert.equal(charge(november, [rate('month', 1), 360n * HOUR]), 1n)
  assert.equal(charge(november, [rate('hour', 1), 1800n]), 1n, 'half a cent goes up')
  // Each third of a cent would be lost, or two of them counted as one each.
  const third: [ReturnType<typeof rate>, bigint] = [rate('hour', 1), 1200n]
  assert.equal(charge(november, third), 0n)
  assert.equal(charge(november, third, third), 1n)
  assert.equal(charge(november, third, third, third), 1n)
  assert.equal(charge(november, [rate('hour', 7), 24n * HOUR], [rate('month', 720), 5n * HOUR]), 173n)
  assert.equal(charge(november, [null, HOUR], [rate('gb_month', 10), HOUR]), 0n)
  assert.equal(charge(november, [rate('hour', 10 ** 12), 10n ** 9n * HOUR]), 10n ** 21n, 'past any float')

  assert.equal(quantityIn('hour', 5400n, november.seconds), '1.5')
  assert.equal(quantityIn('day', 5400n, november.seconds), '0.0625')
  assert.equal(quantityIn('month', 72n * HOUR, november.seconds), '0.1')
  assert.equal(quantityIn('gb_month', 1n, november.seconds), null)
  assert.equal(quantityIn(null, 1n, november.seconds), null)
  assert.equal(quantityIn(null, 0n, november.seconds), '0')
})

const price = (fields: Partial<Price> = {}): Price => ({
  resource_kind: 'droplet',
  unit: 'hour',
  price_cents: 3,
  currency: 'USD',
  effective_from: '2026-01-01',
  effective_to: null,
  ...fields,
})

test('a month is cut where a price begins or ends within it', () => {
  const cuts = (...prices: Price[]) => slicesOf(november, prices).map(slice => slice.from_at.slice(5, 10))
  assert.deepEqual(slicesOf(november, []), [{ from_at: november.start_at, to_at: november.end_at }])
  assert.deepEqual(cuts(price(), price({ effective_from: '2026-11-01', effective_to: '2026-12-01' })), [
    '11-01',
  ])
  assert.deepEqual(
    slicesOf(november, [
      price({ effective_from: '2026-11-20' }),
      price({ effective_to: '2026-11-02' }),
      price({ resource_kind: 'volume', effective_from: '2026-11-02', effective_to: '2026-11-30' }),
    ]),
    [
      { from_at: '2026-11-01T00:00:00.000Z', to_at: '2026-11-02T00:00:00.000Z' },
      { from_at: '2026-11-02T00:00:00.000Z', to_at: '2026-11-20T00:00:00.000Z' },
      { from_at: '2026-11-20T00:00:00.000Z', to_at: '2026-11-30T00:00:00.000Z' },
      { from_at: '2026-11-30T00:00:00.000Z', to_at: '2026-12-01T00:00:00.000Z' },
    ],
  )
})

test('the price of a kind is that of the day, in the currency asked for, by the shortest unit that is metered', () => {
  const slice = { from_at: '2026-11-02T00:00:00.000Z', to_at: '2026-11-20T00:00:00.000Z' }
  const found = (...prices: Price[]) => priceIn(slice, prices, 'droplet', 'USD')
  const holding = price({ effective_from: '2026-11-02', effective_to: '2026-11-03' })
  assert.equal(found(holding), holding)
  assert.equal(found(price({ effective_from: '2026-11-03' })), undefined)
  assert.equal(found(price({ effective_to: '2026-11-02' })), undefined)
  assert.equal(found(price({ resource_kind: 'volume' })), undefined)
  assert.equal(found(price({ currency: 'EUR' })), undefined)
  assert.equal(found(price({ unit: 'gb_month' })), undefined)
  const [month, day, hour] = [price({ unit: 'month' }), price({ unit: 'day' }), price()]
  assert.equal(found(month, day, hour), hour)
  assert.equal(found(month, day), day)
  assert.equal(found(month), month)
})

test('the months that a change of prices reaches are those before the end in which the kind would cost otherwise', () => {
  const end = '2026-11-01T00:00:00.000Z'
  const reached = (before: Price[], after: Price[]) =>
    repricedBefore(end, { resource_kind: 'droplet', currency: 'USD', before, after }).map(
      ({ from_at, to_at }) => `${from_at} ${to_at}`.replaceAll(':00:00.000Z', ''),
    )
  const standing = price({ effective_from: '2026-09-10' })
  assert.deepEqual(reached([], []), [])
  assert.deepEqual(reached([standing], [standing]), [])
  assert.deepEqual(reached([], [standing]), ['2026-09-01T00 2026-11-01T00'])
  assert.deepEqual(reached([standing], []), ['2026-09-01T00 2026-11-01T00'])
  assert.deepEqual(reached([], [price({ effective_from: '2026-10-31' })]), ['2026-10-01T00 2026-11-01T00'])
  assert.deepEqual(reached([], [price({ effective_from: '2026-11-01' })]), [], 'from the running month on')
  const ended = (effective_to: string) => reached([standing], [{ ...standing, effective_to }])
  assert.deepEqual(ended('2026-11-01'), [])
  assert.deepEqual(ended('2026-10-31'), ['2026-10-01T00 2026-11-01T00'])
  assert.deepEqual(ended('2026-09-30'), ['2026-09-01T00 2026-11-01T00'])
  const within = { effective_from: '2025-12-05', effective_to: '2026-01-01' }
  assert.deepEqual(reached([standing], [standing, price(within)]), ['2025-12-01T00 2026-01-01T00'])
  const dearer = price({ ...standing, price_cents: 4 })
  assert.deepEqual(reached([standing], [dearer]), ['2026-09-01T00 2026-11-01T00'])
  for (const other of [
    { unit: 'day' },
    { unit: 'gb_month' },
    { resource_kind: 'volume' },
    { currency: 'EUR' },
  ])
    assert.deepEqual(
      reached([standing], [standing, price({ ...standing, ...other })]),
      [],
      JSON.stringify(other),
    )
  const daily = price({ unit: 'day', effective_from: '2026-09-01' })
  assert.deepEqual(reached([daily], [daily, standing]), ['2026-09-01T00 2026-11-01T00'], 'the shorter unit')
})

const item = (resource_kind: string, included_qty: number, fields: object = {}) => ({
  resource_kind,
  included_qty,
  overage_unit: null,
  overage_price_cents: null,
  hard_cap_qty: null,
  ...fields,
})
const hourly = (overage_price_cents: number) => ({ overage_unit: 'hour', overage_price_cents })
const since = { valid_from: '2026-10-05T10:20:00.000Z', valid_to: null }
const addon = (resource_kind: string, fields: object = {}) => ({
  id: `a-${resource_kind}`,
  code: `more-${resource_kind}`,
  resource_kind,
  qty: 2,
  price_cents: 700,
  quantity: 3,
  ...fields,
})
const bigVolumes = addon('volume', { qty: 5, quantity: 1, price_cents: 1900 })

/** Terms of the whole month. */
const agreed = ({
  items = [item('droplet', 1, hourly(3)), item('seats', 5)],
  addons = [addon('droplet'), bigVolumes],
  currency = 'USD',
  trial_ends_at = null as string | null,
} = {}): SubscriptionTerms => ({
  subscription_id: 's',
  deployment_id: 'd',
  currency,
  trial_ends_at,
  versions: [{ plan_code: 'growth', plan_version_id: 'v', base_price_cents: 7900, items, ...since }],
  addons: addons.map(each => ({ ...each, currency, ...since })),
})

test('addons raise what is included, each as many times as it was attached', () => {
  const held = termsIn(agreed(), november.start_at)
  assert.deepEqual(kindsIn(held), ['droplet', 'seats', 'volume'])
  assert.deepEqual(kindsIn(null), [])
  assert.deepEqual(
    ['droplet', 'seats', 'volume', 'database'].map(kind => includedIn(held, kind)),
    [7n, 5n, 5n, 0n],
  )
  assert.equal(includedIn(null, 'droplet'), 0n)
})

const facts = (fields: Partial<UsageFacts> = {}): UsageFacts => {
  const prices = fields.prices ?? []
  return {
    month: november,
    now: '2026-11-15T12:00:00.000Z',
    terms: agreed(),
    slices: slicesOf(november, prices),
    prices,
    uses: [],
    meters: [],
    meterSums: [],
    meterCounts: [],
    living: null,
    carriedFrom: '2026-11-15T12:00:00.000Z',
    ...fields,
  }
}
const use = (kind: string, hours: bigint, over: bigint, slice = 0) => ({
  kind,
  slice,
  seconds: hours * HOUR,
  over: over * HOUR,
})
const lineOf = (statement: ReturnType<typeof usageStatement>, kind: string) =>
  statement.kinds.find(line => line.kind === kind)!

test('a statement has a line for every kind that is sold, used or there, and adds everything up', () => {
  const uses = [use('droplet', 800n, 100n), use('image', 5n, 5n)]
  const living = new Map([
    ['droplet', 8],
    ['database', 1],
  ])
  const statement = usageStatement(facts({ uses, living }))
  const nothing = {
    used: '0',
    used_seconds: 0n,
    live: 0,
    included: 0n,
    overage_seconds: 0n,
    overage_qty: '0',
  }
  const unpriced = { overage_unit: null, overage_price_cents: null, price_source: null }
  const free = { overage_cents: 0n, forecast_cents: 0n, cap: null }
  const throughout = { from: november.start_at, to: november.end_at, seconds: november.seconds }
  assert.deepEqual(statement, {
    plan_code: 'growth',
    plan_version_id: 'v',
    currency: 'USD',
    base_price_cents: 7900n,
    versions: [
      { plan_code: 'growth', plan_version_id: 'v', price_cents: 7900, ...throughout, amount_cents: 7900n },
    ],
    addons: [
      { ...addon('droplet'), ...throughout, amount_cents: 2100n },
      { ...bigVolumes, ...throughout, amount_cents: 1900n },
    ],
    kinds: [
      { kind: 'database', ...nothing, live: 1, ...unpriced, ...free },
      {
        kind: 'droplet',
        used: '800',
        used_seconds: 800n * HOUR,
        live: 8,
        included: 7n,
        overage_seconds: 100n * HOUR,
        overage_qty: '100',
        overage_unit: 'hour',
        overage_price_cents: 3,
        price_source: 'plan',
        overage_cents: 300n,
        // One more than is included, for the 372 hours to come.
        forecast_cents: 300n + 1116n,
        cap: null,
      },
      {
        kind: 'image',
        ...nothing,
        used: '5',
        used_seconds: 5n * HOUR,
        overage_seconds: 5n * HOUR,
        overage_qty: null,
        ...unpriced,
        ...free,
      },
      { kind: 'seats', ...nothing, included: 5n, ...unpriced, ...free },
      { kind: 'volume', ...nothing, included: 5n, ...unpriced, ...free },
    ],
    meters: [],
    total_cents: 7900n + 4000n + 300n,
    forecast_cents: 7900n + 4000n + 1416n,
  })
})

test('a month in the trial costs what is used beyond it, and one without a subscription the resource prices', () => {
  const trial = agreed({ trial_ends_at: november.end_at })
  const tried = usageStatement(facts({ terms: trial, uses: [use('droplet', 800n, 100n)] }))
  assert.deepEqual(
    [tried.base_price_cents, tried.addons.map(({ amount_cents }) => amount_cents), tried.total_cents],
    [0n, [0n, 0n], 300n],
  )
  const prices = [price({ price_cents: 4 }), price({ price_cents: 5, currency: 'EUR' })]
  const alone = usageStatement(facts({ terms: null, prices, uses: [use('droplet', 10n, 10n)] }))
  assert.deepEqual(
    [alone.plan_code, alone.plan_version_id, alone.currency, alone.addons, alone.total_cents],
    [null, null, 'USD', [], 40n],
  )
  assert.deepEqual([alone.kinds[0]!.live, alone.forecast_cents], [null, 40n], 'nothing is carried on')
  const euro = agreed({ currency: 'EUR', items: [], addons: [] })
  const there = usageStatement(facts({ terms: euro, prices, uses: [use('droplet', 10n, 10n)] }))
  assert.deepEqual([there.currency, there.total_cents], ['EUR', 7950n])
})

test('beyond what a plan includes without a price of its own the resource prices hold, each in its days', () => {
  const items = [
    item('droplet', 1, { hard_cap_qty: 9 }),
    item('volume', 0, { ...hourly(0), hard_cap_qty: 4 }),
  ]
  const terms = agreed({ items, addons: [] })
  const prices = [
    price({ price_cents: 4, effective_to: '2026-11-11' }),
    price({ price_cents: 6, effective_from: '2026-11-11', effective_to: '2026-11-21' }),
    price({ unit: 'month', price_cents: 720, effective_from: '2026-11-21' }),
    price({ resource_kind: 'volume', price_cents: 99 }),
  ]
  const uses = [use('droplet', 10n, 5n, 0), use('droplet', 20n, 10n, 1), use('volume', 3n, 3n, 1)]
  const living = new Map([
    ['droplet', 3],
    ['volume', 1],
  ])
  const statement = usageStatement(facts({ terms, prices, uses, living }))
  const droplet = lineOf(statement, 'droplet')
  assert.deepEqual(
    [droplet.used, droplet.included, droplet.overage_qty, droplet.price_source, droplet.cap],
    ['30', 1n, '15', 'resource_price', 9],
  )
  assert.deepEqual(
    [droplet.overage_unit, droplet.overage_price_cents],
    ['hour', 6],
    'the price that holds now',
  )
  assert.equal(droplet.overage_cents, 5n * 4n + 10n * 6n)
  // Two more than are included: 132 hours to the 21st at 6 cents, then 240 hours at one.
  assert.equal(droplet.forecast_cents, droplet.overage_cents + 2n * (132n * 6n + 240n))
  const volume = lineOf(statement, 'volume')
  assert.deepEqual(
    [
      volume.overage_price_cents,
      volume.price_source,
      volume.overage_cents,
      volume.forecast_cents,
      volume.cap,
    ],
    [0, 'plan', 0n, 0n, 4],
    'a price of nothing is a price',
  )
  const later = (now: string) => lineOf(usageStatement(facts({ terms, prices, uses, now })), 'droplet')
  assert.equal(later('2026-11-20T23:59:59.999Z').overage_unit, 'hour')
  assert.equal(later('2026-11-21T00:00:00.000Z').overage_unit, 'month')
  const ended = [price({ effective_to: '2026-11-11' })]
  const last = lineOf(
    usageStatement(facts({ terms, prices: ended, uses: [use('droplet', 2n, 2n)] })),
    'droplet',
  )
  assert.deepEqual([last.overage_price_cents, last.overage_cents], [3, 6n], 'the last one that held')
})

test('a plan’s cap is the cap: addons raise what is included, never it', () => {
  const capped = (hard_cap_qty: number | null) => {
    const items = [item('droplet', 1, { hard_cap_qty })]
    const terms = agreed({ items })
    const { included, cap } = lineOf(usageStatement(facts({ terms })), 'droplet')
    return [included, cap]
  }
  assert.deepEqual([1, 6, 8, null].map(capped), [
    [7n, 1],
    [7n, 6],
    [7n, 8],
    [7n, null],
  ])
})

test('as many as are included are carried on for nothing, and only what is still to come', () => {
  // A cent a second: not one of them is lost.
  const terms = agreed({ items: [item('droplet', 1, hourly(3600))] })
  const forecast = (living: number, carriedFrom: string) =>
    lineOf(usageStatement(facts({ terms, living: new Map([['droplet', living]]), carriedFrom })), 'droplet')
      .forecast_cents
  assert.equal(forecast(7, '2026-11-15T12:00:00.000Z'), 0n)
  assert.equal(forecast(8, '2026-11-30T23:00:00.000Z'), HOUR)
  assert.equal(forecast(9, '2026-11-01T00:00:00.000Z'), 2n * 720n * HOUR)
  assert.equal(forecast(9, '2026-12-01T00:00:00.000Z'), 0n)
  assert.equal(forecast(9, '2026-12-01T01:00:00.000Z'), 0n, 'metered past its end')
})

test('a margin is the difference in one currency; an amount of nothing is in none', () => {
  const usd = (amount_minor: bigint) => ({ currency: 'USD', amount_minor })
  const eur = (amount_minor: bigint) => ({ currency: 'EUR', amount_minor })
  const of = (amount_minor: bigint, percent: string | null) => ({ currency: 'USD', amount_minor, percent })
  assert.deepEqual(marginOf([usd(900n)], [usd(401n)]), of(499n, '55.44'))
  assert.deepEqual(marginOf([usd(900n)], [usd(1000n)]), of(-100n, '-11.11'))
  assert.deepEqual(marginOf([usd(300n), usd(600n)], [usd(100n), usd(200n)]), of(600n, '66.67'))
  assert.deepEqual(marginOf([usd(1n)], []), of(1n, '100'))
  assert.deepEqual(marginOf([usd(0n)], [usd(5n)]), of(-5n, null))
  assert.deepEqual(marginOf([], [usd(5n)]), of(-5n, null))
  assert.deepEqual(marginOf([usd(-1n)], []), of(-1n, null))
  assert.deepEqual(marginOf([usd(900n)], [eur(401n)]), null)
  assert.deepEqual(marginOf([usd(900n), eur(1n)], []), null)
  assert.deepEqual(marginOf([eur(0n)], [usd(5n)]), of(-5n, null))
  assert.deepEqual(marginOf([usd(0n)], [eur(0n)]), of(0n, null))
  assert.deepEqual(marginOf([], []), null)
  assert.deepEqual(byCurrency([usd(1n), eur(2n), usd(3n)]), [eur(2n), usd(4n)])
  assert.deepEqual(byCurrency([]), [])
})
