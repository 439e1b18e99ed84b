// The month that is asked about, in UTC, and the hours that are to be metered.
import { invalid } from '../../kernel/errors.ts'
import { type Month as CalendarMonth, monthOf } from '../../kernel/time.ts'

export interface Month extends CalendarMonth {
  seconds: bigint
  /** The last moment of it that there has been; its terms are those of the month. */
  last_moment: string
  /** Whether it is still running. */
  current: boolean
}

/** A month in words that fit the schema, or the current one. Undefined: it has not begun. */
export function monthAsked(period: string | undefined, now: Date): Month | undefined {
  const current = now.toISOString().slice(0, 7)
  const asked = period ?? current
  // Written alike, months sort as their names do.
  if (asked > current) return undefined
  const month = monthOf(asked)
  const [start, end] = [Date.parse(month.start_at), Date.parse(month.end_at)]
  return {
    ...month,
    seconds: BigInt((end - start) / 1000),
    last_moment: new Date(Math.min(end - 1, now.getTime())).toISOString(),
    current: asked === current,
  }
}

export function monthOfQuery(period: string | undefined, now: Date): Month {
  const month = monthAsked(period, now)
  if (month) return month
  throw invalid('The query is not acceptable.', [
    { pointer: '?period', message: 'is a month that has not begun' },
  ])
}

// Hours are metered one after the other, so that the last one says how far it goes.

const HOUR_MS = 3_600_000

/** What was asked of the provider within an hour may be written a little after its end. */
const SETTLED_AFTER_MS = 5 * 60_000

/** The hour that a time is in, by its beginning. */
export const hourOf = (at: string): string =>
  new Date(Math.floor(Date.parse(at) / HOUR_MS) * HOUR_MS).toISOString()

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
