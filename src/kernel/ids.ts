// Ids of our own rows: UUIDv7, so that they sort by the time they were made, whichever node made them.
import { randomFillSync, randomInt } from 'node:crypto'
import { v7 } from 'uuid'
import { processTime } from './time.ts'

let [millis, order] = [0, 0]

const RANDOM_BYTES = 16
/** Drawn for many ids at once: drawing for each takes four fifths of an id's time. */
const pool = new Uint8Array(256 * RANDOM_BYTES)
let used = pool.length

function randomBytes(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += RANDOM_BYTES
  return pool.subarray(used - RANDOM_BYTES, used)
}

/** Those of one process sort in the order they were made in, also within a millisecond or when the clock goes back. */
export function newId(): string {
  const now = processTime()
  if (now > millis) [millis, order] = [now, randomInt(2 ** 31)]
  else {
    order = (order + 1) | 0
    if (order === 0) millis++
  }
  return v7({ msecs: millis, seq: order, random: randomBytes() })
}

// An id begins with the millisecond it was made in: a span of time is a span of ids, and needs no index of its own.

/** Six bytes of milliseconds: until the year 10889. */
const LAST = 2 ** 48 - 1

/** The smallest id that something of this moment or later can have. */
export function firstIdAt(milliseconds: number): string {
  const hex = Math.min(Math.max(milliseconds, 0), LAST).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** The moment that an id says it was made in. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isUuid = (value: string): boolean => UUID.test(value)
