// The month that is asked about: UTC, from its first moment to the first of the next.
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
