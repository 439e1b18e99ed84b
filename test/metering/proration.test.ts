// The rules of prorating, by arithmetic that is written out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { slicesOf } from '../../src/features/metering/charge.ts'
import { monthAt } from '../../src/features/metering/period.ts'
import { dealt, fixedCharges } from '../../src/features/metering/proration.ts'
import { lastTerms, termsIn, turnsOf } from '../../src/features/metering/slice-terms.ts'
import { type UsageFacts, usageStatement } from '../../src/features/metering/usage.ts'
import type { AddonTerms, SubscriptionTerms, VersionTerms } from '../../src/features/subscriptions/index.ts'

const now = new Date('2026-11-20T00:00:00Z')
const november = monthAt('2026-11', now)
const DAY = 86_400n
const at = (time: string) => `2026-${time}Z`

const version = (
  plan_code: string,
  base_price_cents: number,
  valid_from: string,
  valid_to: string | null = null,
) =>
  ({
    plan_code,
    plan_version_id: plan_code,
    base_price_cents,
    items: [],
    valid_from,
    valid_to,
  }) as VersionTerms
const addon = (
  code: string,
  price_cents: number,
  valid_from: string,
  valid_to: string | null = null,
  quantity = 1,
) =>
  ({
    id: code,
    code,
    resource_kind: 'seats',
    qty: 5,
    price_cents,
    quantity,
    valid_from,
    valid_to,
  }) as AddonTerms
const terms = (
  versions: VersionTerms[],
  addons: AddonTerms[] = [],
  trial_ends_at: string | null = null,
): SubscriptionTerms => ({
  subscription_id: 's',
  deployment_id: 'd',
  currency: 'USD',
  trial_ends_at,
  versions,
  addons,
})
/** Lines in short: what, seconds, cents. */
const short = (held: SubscriptionTerms | null, month = november) => {
  const { base, addons } = fixedCharges(held, month)
  return [
    ...base.map(line => [line.plan_code, line.seconds, line.amount_cents]),
    ...addons.map(line => [line.code, line.seconds, line.amount_cents]),
  ]
}

test('quotients are dealt as whole numbers that add up to their rounded sum, the largest remainders first', () => {
  assert.deepEqual(dealt([], 7n), [])
  assert.deepEqual(dealt([0n, 14n], 7n), [0n, 2n])
  // 3.4 + 3.4 + 3.4 = 10.2: one cent is missing to 10, and of equals the first has it.
  assert.deepEqual(dealt([34n, 34n, 34n], 10n), [4n, 3n, 3n])
  // 0.5 + 0.5 + 0.5 = 1.5: two cents.
  assert.deepEqual(dealt([5n, 5n, 5n], 10n), [1n, 1n, 0n])
  // 1.2 + 2.7 + 0.6 = 4.5: five cents, so two are missing to the wholes.
  assert.deepEqual(dealt([12n, 27n, 6n], 10n), [1n, 3n, 1n])
  // 1.2 + 2.7 + 0.5 = 4.4: four.
  assert.deepEqual(dealt([12n, 27n, 5n], 10n), [1n, 3n, 0n])
  assert.deepEqual(dealt([49n], 100n), [0n])
  assert.deepEqual(dealt([50n], 100n), [1n])
})

test('whatever is dealt, the parts add up, and each is its quotient rounded up or down', () => {
  const parts = fc.array(fc.bigInt({ min: 0n, max: 10n ** 24n }), { maxLength: 60 })
  fc.assert(
    fc.property(parts, fc.bigInt({ min: 1n, max: 2_678_400n }), (dividends, divisor) => {
      const shares = dealt(dividends, divisor)
      const total = dividends.reduce((a, b) => a + b, 0n)
      assert.equal(
        shares.reduce((a, b) => a + b, 0n),
        (2n * total + divisor) / (2n * divisor),
      )
      for (const [index, share] of shares.entries()) {
        const down = dividends[index]! / divisor
        assert.ok(share === down || (share === down + 1n && dividends[index]! % divisor > 0n))
      }
    }),
  )
})

test('base price and addons cost their part of the month, by the second', () => {
  assert.deepEqual(short(null), [])
  assert.deepEqual(short(terms([version('basic', 3000, at('10-05T10:00:00.000'))])), [
    ['basic', 30n * DAY, 3000n],
  ])
  // From the 11th on: 20 of 30 days.
  assert.deepEqual(short(terms([version('basic', 3000, at('11-11T00:00:00.000'))])), [
    ['basic', 20n * DAY, 2000n],
  ])
  // To the 16th, then the other: 15 days of 3000 and 15 of 9000.
  const [half, changed] = [
    at('11-16T00:00:00.000'),
    [version('basic', 3000, at('10-05T10:00:00.000'), at('11-16T00:00:00.000'))],
  ]
  assert.deepEqual(short(terms([...changed, version('pro', 9000, half)])), [
    ['basic', 15n * DAY, 1500n],
    ['pro', 15n * DAY, 4500n],
  ])
  // Two at 100 cents from the 25th to the 28th: 3 of 30 days of 200.
  const two = addon('seats', 100, at('11-25T00:00:00.000'), at('11-28T00:00:00.000'), 2)
  assert.deepEqual(short(terms([version('basic', 3000, at('10-05T10:00:00.000'))], [two])), [
    ['basic', 30n * DAY, 3000n],
    ['seats', 3n * DAY, 20n],
  ])
  // February has 28 days.
  assert.deepEqual(
    short(terms([version('basic', 2800, at('02-08T00:00:00.000'))]), monthAt('2026-02', now)),
    [['basic', 21n * DAY, 2100n]],
  )
})

test('the sum is rounded once, and lines add up to it', () => {
  // 1000 for 10 days, then 1000 for 20: 333⅓ + 666⅔ = 1000, and the cent goes to the larger remainder.
  const turn = at('11-11T00:00:00.000')
  assert.deepEqual(
    short(terms([version('a', 1000, at('11-01T00:00:00.000'), turn), version('b', 1000, turn)])),
    [
      ['a', 10n * DAY, 333n],
      ['b', 20n * DAY, 667n],
    ],
  )
  // Three addons of a cent for half of the month: 1.5 cents are two, and the first two have them.
  const [start, half] = [at('11-01T00:00:00.000'), at('11-16T00:00:00.000')]
  const cents = ['x', 'y', 'z'].map(code => addon(code, 1, start, half))
  assert.deepEqual(
    short(terms([version('free', 0, start)], cents)).map(([, , amount]) => amount),
    [0n, 1n, 1n, 0n],
  )
})

test('a second counts once where terms turn within it, and one that is not over is not charged', () => {
  const turn = at('11-16T00:00:00.999')
  const held = terms([version('a', 2_592_000, at('11-01T00:00:00.000'), turn), version('b', 2_592_000, turn)])
  assert.deepEqual(short(held), [
    ['a', 15n * DAY, 15n * DAY],
    ['b', 15n * DAY, 15n * DAY],
  ])
})

test('nothing is charged in the trial, an addon ends with its subscription, and a version that follows itself is one', () => {
  const start = at('10-05T10:00:00.000')
  const seats = addon('seats', 300, start)
  const tried = (end: string) => short(terms([version('basic', 3000, start)], [seats], end))
  assert.deepEqual(tried(at('11-11T00:00:00.000')), [
    ['basic', 20n * DAY, 2000n],
    ['seats', 20n * DAY, 200n],
  ])
  assert.deepEqual(tried(at('11-01T00:00:00.000')), [
    ['basic', 30n * DAY, 3000n],
    ['seats', 30n * DAY, 300n],
  ])
  assert.deepEqual(tried(at('12-24T00:00:00.000')), [
    ['basic', 0n, 0n],
    ['seats', 0n, 0n],
  ])
  const end = at('11-11T00:00:00.000')
  assert.deepEqual(short(terms([version('basic', 3000, start, end)], [seats])), [
    ['basic', 10n * DAY, 1000n],
    ['seats', 10n * DAY, 100n],
  ])
  const early = addon('seats', 300, start, at('11-06T00:00:00.000'))
  assert.deepEqual(short(terms([version('basic', 3000, start, end)], [early]))[1], ['seats', 5n * DAY, 50n])
  const again = terms([version('basic', 3000, start, end), version('basic', 3000, end)])
  assert.deepEqual(short(again), [['basic', 30n * DAY, 3000n]])
  const other = terms([
    version('basic', 3000, start, end),
    version('pro', 0, end, half()),
    version('basic', 3000, half()),
  ])
  assert.deepEqual(
    short(other).map(([, seconds]) => seconds),
    [10n * DAY, 5n * DAY, 15n * DAY],
  )
  assert.deepEqual(short(terms([version('basic', 3000, at('12-01T00:00:00.000'))])), [], 'not yet')
  assert.deepEqual(
    short(terms([version('basic', 3000, start, at('11-01T00:00:00.000'))])),
    [],
    'not any more',
  )
})
const half = () => at('11-16T00:00:00.000')

test('an hour counts under the terms at its beginning, the first hour under the first terms', () => {
  const [start, turn, end] = [at('11-10T10:20:00.000'), at('11-11T08:00:00.001'), at('11-20T09:59:00.000')]
  const held = terms(
    [version('basic', 1, start, turn), version('pro', 2, turn, end)],
    [addon('x', 1, start), addon('y', 1, turn, at('11-12T00:00:00.000'))],
  )
  assert.deepEqual(turnsOf(null), [])
  assert.deepEqual([...new Set(turnsOf(held))].sort(), [
    at('11-10T10:00:00.000'),
    at('11-11T09:00:00.000'),
    at('11-12T00:00:00.000'),
    at('11-20T10:00:00.000'),
  ])
  const under = (hour: string) => {
    const found = termsIn(held, at(`11-${hour}:00:00.000`))
    return found && [found.version.plan_code, ...found.addons.map(({ code }) => code)].join(' ')
  }
  assert.deepEqual(['10T09', '10T10', '11T08', '11T09', '11T23', '12T00', '20T09', '20T10'].map(under), [
    null,
    'basic x',
    'basic x',
    'pro x y',
    'pro x y',
    'pro x',
    'pro x',
    null,
  ])
  assert.equal(termsIn(null, at('11-10T10:00:00.000')), null)
  const last = (time: string) => {
    const found = lastTerms(held, at(time))
    return found && [found.version.plan_code, ...found.addons.map(({ code }) => code)].join(' ')
  }
  assert.deepEqual(
    [
      '11-10T10:19:59.999',
      '11-10T10:20:00.000',
      '11-11T08:00:00.000',
      '11-11T08:00:00.001',
      '12-24T00:00:00.000',
    ].map(last),
    [null, 'basic x', 'basic x', 'pro x y', 'pro x'],
  )
  assert.equal(lastTerms(null, at('11-10T10:20:00.000')), null)
})

test('usage is charged by the terms of each hour, ahead as well, and the last terms are shown', () => {
  const droplets = (included_qty: number, overage_price_cents: number) => [
    { resource_kind: 'droplet', included_qty, overage_unit: 'hour', overage_price_cents, hard_cap_qty: 9 },
  ]
  const turn = at('11-25T00:00:00.000')
  const held = terms([
    { ...version('basic', 3000, at('10-05T10:00:00.000'), turn), items: droplets(1, 10) },
    { ...version('pro', 9000, turn), items: droplets(2, 4) },
  ])
  const facts: UsageFacts = {
    month: november,
    now: now.toISOString(),
    terms: held,
    slices: slicesOf(november, [], turnsOf(held)),
    prices: [],
    uses: [{ kind: 'droplet', slice: 0, seconds: 20n * 3600n, over: 7n * 3600n }],
    meters: [],
    meterSums: [],
    meterCounts: [],
    living: new Map([['droplet', 4]]),
    carriedFrom: at('11-24T00:00:00.000'),
  }
  const usage = usageStatement(facts)
  // 24 days of 3000 and 6 of 9000.
  assert.deepEqual([usage.base_price_cents, usage.plan_code], [2400n + 1800n, 'basic'])
  const [droplet] = usage.kinds
  assert.deepEqual([droplet!.included, droplet!.overage_price_cents, droplet!.overage_cents], [1n, 10, 70n])
  // A day with three more than are included at 10 cents, then six days with two at 4.
  assert.equal(droplet!.forecast_cents, 70n + 24n * 3n * 10n + 144n * 2n * 4n)
  const later = usageStatement({ ...facts, now: at('11-25T00:00:00.000') })
  assert.deepEqual(
    [later.plan_code, later.kinds[0]!.included, later.kinds[0]!.overage_price_cents],
    ['pro', 2n, 4],
  )
})
