// Where a test clock may be moved to, and where it stops on its way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { monthsLater, nextStop, targetOf, wholeHour } from '../../src/features/test-clocks/test-clock.ts'

test('a time is taken as the hour that it is in', () => {
  const hour = (at: string) => wholeHour(new Date(at)).toISOString()
  assert.equal(hour('2027-01-15T10:00:00Z'), '2027-01-15T10:00:00.000Z')
  assert.equal(hour('2027-01-15T10:59:59.999Z'), '2027-01-15T10:00:00.000Z')
})

test('months later it is the same day and hour, or the last day of a shorter month', () => {
  const later = (at: string, months: number) => monthsLater(new Date(at), months).toISOString()
  assert.equal(later('2027-01-15T10:00:00Z', 3), '2027-04-15T10:00:00.000Z')
  assert.equal(later('2027-01-31T10:00:00Z', 1), '2027-02-28T10:00:00.000Z')
  assert.equal(later('2027-01-31T10:00:00Z', 2), '2027-03-31T10:00:00.000Z')
  assert.equal(later('2027-12-01T00:00:00Z', 14), '2029-02-01T00:00:00.000Z')
})

test('a clock is moved to a later time, by `to` or by `months`, at most 24 months at once', () => {
  const standing = { now: '2027-01-15T10:00:00.000Z', target: null }
  const target = (at: string) => ({ target: at })
  assert.deepEqual(targetOf(standing, { months: 24 }), target('2029-01-15T10:00:00.000Z'))
  assert.deepEqual(targetOf(standing, { to: '2029-01-15T10:59:00Z' }), target('2029-01-15T10:00:00.000Z'))
  assert.deepEqual(targetOf(standing, { to: '2027-01-15T11:00:00Z' }), target('2027-01-15T11:00:00.000Z'))
  const fault = (pointer: string, message: string) => ({ fault: { pointer, message } })
  const both = fault('', 'must have `to` or `months`, and not both')
  assert.deepEqual(targetOf(standing, {}), both)
  assert.deepEqual(targetOf(standing, { to: '2027-02-01T00:00:00Z', months: 1 }), both)
  const past = fault('/to', 'is not after the clock’s time (2027-01-15T10:00:00.000Z)')
  assert.deepEqual(targetOf(standing, { to: '2027-01-15T10:59:59Z' }), past)
  assert.deepEqual(targetOf(standing, { to: '2026-01-15T10:00:00Z' }), past)
  const far = fault('/to', 'is more than 24 months ahead')
  assert.deepEqual(targetOf(standing, { to: '2029-01-15T11:00:00Z' }), far)
  const moving = { ...standing, target: '2027-03-15T10:00:00.000Z' }
  const before = 'is before the time that it is being moved to (2027-03-15T10:00:00.000Z)'
  assert.deepEqual(targetOf(moving, { months: 1 }), fault('/months', before))
  assert.deepEqual(targetOf(moving, { months: 2 }), target('2027-03-15T10:00:00.000Z'))
  assert.deepEqual(targetOf(moving, { months: 3 }), target('2027-04-15T10:00:00.000Z'))
})

test('on its way it stops at the end of every month and when the month before is closed; every day where that is asked for', () => {
  const stops = (from: string, target: string, daily?: boolean) => {
    const seen: string[] = []
    for (let now = from; now < target; seen.push(now)) now = nextStop(now, target, daily)
    return seen
  }
  assert.deepEqual(stops('2027-01-31T23:00:00.000Z', '2027-03-02T01:00:00.000Z'), [
    '2027-02-01T00:00:00.000Z',
    '2027-02-04T00:00:00.000Z',
    '2027-03-01T00:00:00.000Z',
    '2027-03-02T01:00:00.000Z',
  ])
  assert.deepEqual(stops('2027-02-27T23:00:00.000Z', '2027-03-01T01:00:00.000Z', true), [
    '2027-02-28T00:00:00.000Z',
    '2027-03-01T00:00:00.000Z',
    '2027-03-01T01:00:00.000Z',
  ])
  assert.deepEqual(stops('2027-02-03T23:00:00.000Z', '2027-02-05T00:00:00.000Z'), [
    '2027-02-04T00:00:00.000Z',
    '2027-02-05T00:00:00.000Z',
  ])
})
