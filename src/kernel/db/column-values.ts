// How column values reach the code, the same on both engines: dates and times as ISO strings (a JavaScript Date
// would move a DATE by the local offset), bigints as numbers only where no digit is lost, numerics as text.

const OID = { int8: 20, date: 1082, timestamptz: 1184 } as const

function parseBigint(raw: string): number {
  const value = Number(raw)
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${raw} does not fit a JavaScript number`)
  return value
}

/** `2026-11-15 01:30:00.5+00` → `2026-11-15T01:30:00.500Z`. Sessions run in UTC and columns are timestamptz(3). */
export function parseTimestamp(raw: string): string {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/.exec(raw)
  // Other offsets, years past 9999 and infinity: left to Date, which throws on what is no time at all.
  if (!match) return new Date(raw).toISOString()
  return `${match[1]}T${match[2]}.${(match[3] ?? '').padEnd(3, '0').slice(0, 3)}Z`
}

export const parsers: Record<number, (raw: string) => unknown> = {
  [OID.int8]: parseBigint,
  [OID.date]: raw => raw,
  [OID.timestamptz]: parseTimestamp,
}
