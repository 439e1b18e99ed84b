// The month that is asked about: UTC, from its first moment to the first of the next. Pure.

export interface Month {
  /** `YYYY-MM` */
  period: string
  start_at: string
  /** The first moment that is no longer in it. */
  end_at: string
  first_day: string
  last_day: string
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
  const [year, month] = asked.split('-').map(Number) as [number, number]
  const [start, end] = [Date.UTC(year, month - 1, 1), Date.UTC(year, month, 1)]
  return {
    period: asked,
    start_at: new Date(start).toISOString(),
    end_at: new Date(end).toISOString(),
    first_day: `${asked}-01`,
    last_day: new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10),
    seconds: BigInt((end - start) / 1000),
    last_moment: new Date(Math.min(end - 1, now.getTime())).toISOString(),
    current: asked === current,
  }
}
