// A billing period is a calendar month in UTC; any of its days names it.
import { monthOf } from './line-time.ts'

/** `2026-02-14` → `2026-02-28`. */
export function lastDay(day: string): string {
  const end = new Date(`${firstDayAfter(day)}T00:00:00Z`)
  end.setUTCDate(0)
  return end.toISOString().slice(0, 10)
}

/** `2026-12-14` → `2027-01-01`: where the month ends, when its end is not part of it. */
export function firstDayAfter(day: string): string {
  const next = new Date(`${monthOf(day)}T00:00:00Z`)
  next.setUTCMonth(next.getUTCMonth() + 1)
  return next.toISOString().slice(0, 10)
}
