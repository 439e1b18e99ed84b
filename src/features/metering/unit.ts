// How long a resource lives for one unit of a price. Pure. Units that measure anything but time (`gb_month`, `request`)
// are the catalog's to name, and nothing here counts them.

/** Shortest first. */
export const METERED_UNITS = ['hour', 'day', 'month'] as const
export type MeteredUnit = (typeof METERED_UNITS)[number]

export const isMetered = (unit: string | null): unit is MeteredUnit =>
  METERED_UNITS.some(metered => metered === unit)

/** A month is as long as the one it is charged in: a resource that lives throughout costs the price, in February too. */
export function secondsOf(unit: MeteredUnit, monthSeconds: bigint): bigint {
  if (unit === 'hour') return 3_600n
  return unit === 'day' ? 86_400n : monthSeconds
}
