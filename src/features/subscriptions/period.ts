// The period of a subscription: the calendar month, UTC, first and last day. Pure.

export interface Period {
  current_period_start: string
  current_period_end: string
}

export function monthOf(at: Date): Period {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
  return {
    current_period_start: new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10),
    // Day 0 of the next month is the last day of this one.
    current_period_end: new Date(Date.UTC(year, month + 1, 0)).toISOString().slice(0, 10),
  }
}
