// The rules of terms with dates.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AddonTerms,
  effectiveAt,
  endAt,
  endedAt,
  isVoid,
  type SubscriptionTerms,
  withAddon,
  withoutAddon,
  withVersion,
} from '../../src/features/subscriptions/terms.ts'

const now = new Date('2026-11-15T12:00:00.500Z')

test('a change counts from now, from the next month, from a day’s first moment or from a time', () => {
  const times: [string, string | undefined][] = [
    ['now', '2026-11-15T12:00:00.500Z'],
    ['next_period', '2026-12-01T00:00:00.000Z'],
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T10:30:00Z', '2026-11-20T10:30:00.000Z'],
    ['2026-11-20T10:30:00.25+02:00', '2026-11-20T08:30:00.250Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2026-02-29', undefined],
    ['2026-02-30T00:00:00Z', undefined],
    ['2026-13-01', undefined],
    ['2026-11-20T25:00:00Z', undefined],
    ['2026-11-20T23:59:60Z', undefined],
  ]
  for (const [from, at] of times) assert.equal(effectiveAt(from, now), at, from)
})

const row = (valid_from: string, valid_to: string | null) => ({ valid_from, valid_to })

test('what no longer holds from a time on ends then, has ended before, or never holds', () => {
  assert.equal(endAt(row('02', null), '05'), '05')
  assert.equal(endAt(row('02', '07'), '05'), '05')
  assert.equal(endAt(row('02', '05'), '05'), '05')
  assert.equal(endAt(row('02', '04'), '05'), '04')
  assert.equal(endAt(row('05', null), '05'), '05')
  assert.equal(endAt(row('06', '09'), '05'), '06')
  assert.deepEqual([row('02', null), row('02', '03'), row('02', '02')].map(isVoid), [false, false, true])
  assert.deepEqual(endedAt([row('01', '02'), row('02', '07'), row('07', null)], '05'), [
    row('01', '02'),
    row('02', '05'),
  ])
})

const version = (plan_code: string) => ({
  plan_code,
  plan_version_id: plan_code,
  base_price_cents: 1,
  items: [],
})
const addon = (id: string, code: string, valid_from: string, valid_to: string | null = null): AddonTerms => ({
  ...{ id, code, resource_kind: 'seats', qty: 1, price_cents: 1, currency: 'USD', quantity: 1 },
  valid_from,
  valid_to,
})
const terms: SubscriptionTerms = {
  ...{ subscription_id: 's', deployment_id: 'd', currency: 'USD', trial_ends_at: null },
  versions: [
    { ...version('a'), ...row('01', '10') },
    { ...version('b'), ...row('10', null) },
  ],
  addons: [addon('1', 'm', '01')],
}

test('a version replaces what was to hold from its time on, and addons come and go by themselves', () => {
  assert.deepEqual(withVersion(terms, version('c'), '05'), {
    ...terms,
    versions: [
      { ...version('a'), ...row('01', '05') },
      { ...version('c'), ...row('05', null) },
    ],
  })
  assert.deepEqual(withVersion(terms, version('c'), '12').versions, [
    { ...version('a'), ...row('01', '10') },
    { ...version('b'), ...row('10', '12') },
    { ...version('c'), ...row('12', null) },
  ])
  const early = withAddon(terms, addon('2', 'b', '03'))
  assert.deepEqual(
    early.addons.map(({ id }) => id),
    ['2', '1'],
  )
  const again = withAddon(withoutAddon(terms, '1', '04'), addon('3', 'm', '04'))
  assert.deepEqual(
    again.addons.map(({ id, valid_from, valid_to }) => [id, valid_from, valid_to]),
    [
      ['1', '01', '04'],
      ['3', '04', null],
    ],
  )
  assert.deepEqual(withoutAddon(early, '2', '02').addons, terms.addons, 'before it has begun')
})
