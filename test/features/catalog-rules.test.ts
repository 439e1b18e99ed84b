import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { overlap, type Period } from '../../src/features/catalog/price-period.ts'
import {
  mayBeRewritten,
  mayMove,
  VERSION_MOVES,
  VERSION_STATES,
} from '../../src/features/catalog/version-lifecycle.ts'

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
