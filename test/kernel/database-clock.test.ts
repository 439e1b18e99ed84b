// Which reading of the database's clock is kept.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aged, betterReading } from '../../src/kernel/db/database-clock.ts'

test('the first reading of the database’s clock is taken, and later a more exact one', () => {
  const known = { offset: 1_000, give: 10 }
  assert.deepEqual(betterReading(undefined, known), known)
  for (const asked of [
    { offset: 1_004, give: 10 },
    { offset: 996, give: 3 },
  ])
    assert.equal(betterReading(known, asked), asked)
})

test('a reading that is less exact is kept only when it contradicts what is known', () => {
  const known = { offset: 1_000, give: 10 }
  const reading = (offset: number) => betterReading(known, { offset, give: 50 }).offset
  assert.deepEqual([1_060, 1_061, 940, 939].map(reading), [1_000, 1_061, 1_000, 939])
})

test('what is known of the database’s clock grows less exact with time', () => {
  assert.deepEqual(aged({ offset: 5, give: 2 }, 10_000), { offset: 5, give: 3 })
  assert.deepEqual(aged({ offset: 5, give: 2 }, 0), { offset: 5, give: 2 })
})
