// Entries are ordered by their ids, and an id begins with the millisecond it was made in: a span of time is a span of
// ids, and needs no index of its own. Pure.

/** Six bytes of milliseconds: until the year 10889. */
const LAST = 2 ** 48 - 1

/** The smallest id that an entry of this moment or later can have. */
export function firstIdAt(milliseconds: number): string {
  const hex = Math.min(Math.max(milliseconds, 0), LAST).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** The moment that an id says it was made in. */
export const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
