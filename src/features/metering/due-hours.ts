// Which hours are to be metered. Pure. They are metered one after the other, so that the last one says how far it goes.

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
