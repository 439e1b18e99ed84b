// The month that is asked about, in UTC, and the hours that are to be metered.
import { invalid } from '../../kernel/errors.ts'
import { type Month as CalendarMonth, monthOf } from '../../kernel/time.ts'

const HOUR_MS = 3_600_000

export interface Month extends CalendarMonth {
  seconds: bigint
  /** Whether it is over; otherwise it is running, or still to come. */
  over: boolean
}

/** The month of a day, a time or a month. */
export function monthAt(at: string, now: Date): Month {
  const month = monthOf(at)
  const seconds = BigInt((Date.parse(month.end_at) - Date.parse(month.start_at)) / 1000)
  return { ...month, seconds, over: month.end_at <= now.toISOString() }
}

/** A month in words that fit the schema, or the current one. Undefined: it has not begun. */
export function monthAsked(period: string | undefined, now: Date): Month | undefined {
  const current = now.toISOString().slice(0, 7)
  const asked = period ?? current
  // Written alike, months sort as their names do.
  if (asked > current) return undefined
  return monthAt(asked, now)
}

export function monthOfQuery(period: string | undefined, now: Date): Month {
  const month = monthAsked(period, now)
  if (month) return month
  throw invalid('The query is not acceptable.', [
    { pointer: '?period', message: 'is a month that has not begun' },
  ])
}

/** The first moment of a day in UTC. */
export const startOf = (day: string): string => `${day}T00:00:00.000Z`

export const dayAfter = (day: string): string =>
  new Date(Date.parse(startOf(day)) + 24 * HOUR_MS).toISOString().slice(0, 10)

/** Whether what begins in one of the days; slices are cut by them. */
export const isWithin =
  (days: readonly string[]) =>
  ({ from_at }: { from_at: string }): boolean =>
    days.includes(from_at.slice(0, 10))

// Hours are metered one after the other, so that the last one says how far it goes.

/** What was asked of the provider within an hour may be written a little after its end. */
const SETTLED_AFTER_MS = 5 * 60_000

/** The hour that a time is in, by its beginning. */
export const hourOf = (at: string): string =>
  new Date(Math.floor(Date.parse(at) / HOUR_MS) * HOUR_MS).toISOString()

/** The first hour that begins at a time or after it. */
export const hourFrom = (at: string): string =>
  new Date(Math.ceil(Date.parse(at) / HOUR_MS) * HOUR_MS).toISOString()

export const endOfHour = (hour: string): string => new Date(Date.parse(hour) + HOUR_MS).toISOString()

/**
 * The hours that are over and not metered, oldest first: those after the last one that was; before there was any, from
 * that on in which the first deployment was made, for earlier nothing could be anybody's.
 */
export function dueHours(
  { last, firstDeployment }: { last: string | null; firstDeployment: string | null },
  now: Date,
  most: number,
): string[] {
  const start = last !== null ? endOfHour(last) : firstDeployment && hourOf(firstDeployment)
  if (start === null) return []
  const over = Math.floor((now.getTime() - SETTLED_AFTER_MS - Date.parse(start)) / HOUR_MS)
  const count = Math.max(0, Math.min(over, most))
  return Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(start) + index * HOUR_MS).toISOString(),
  )
}
