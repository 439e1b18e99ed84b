// When a line began and ended, as the provider's CSV writes it: `2026-10-01 00:00:00 +0000`. Strict: a day that does not
// exist is no time.
import { monthOf } from '../../kernel/time.ts'

const WRITTEN =
  /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))? ?(?:([+-])(\d\d):?(\d\d)|([A-Z]{1,3}))$/

/** The zones of RFC 822 that have a name, in hours from UTC. */
const ZONES: Record<string, number> = {
  Z: 0,
  UT: 0,
  UTC: 0,
  GMT: 0,
  EST: -5,
  EDT: -4,
  CST: -6,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7,
}

const MOST_REMEMBERED = 10_000
const remembered = new Map<string, string>()

/** In UTC, ISO 8601; undefined when it is no time. */
export function readLineTime(text: string): string | undefined {
  // Most lines of an invoice begin and end with the month.
  const known = remembered.get(text)
  if (known !== undefined) return known
  const time = read(text)
  if (time === undefined) return undefined
  if (remembered.size >= MOST_REMEMBERED) remembered.clear()
  remembered.set(text, time)
  return time
}

function read(text: string): string | undefined {
  const match = WRITTEN.exec(text)
  if (!match) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const offset = offsetMinutes(match[8], match[9], match[10], match[11])
  if (offset === undefined || hour > 23 || minute > 59 || second > 59 || year < 1900) return undefined
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3))
  const local = new Date(Date.UTC(year, month - 1, day, hour, minute, second, milliseconds))
  // Date counts on from the last day of a month; a written date does not.
  if (local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day) return undefined
  return new Date(local.getTime() - offset * 60_000).toISOString()
}

function offsetMinutes(
  sign: string | undefined,
  hours: string | undefined,
  minutes: string | undefined,
  zone: string | undefined,
): number | undefined {
  if (zone !== undefined) return Object.hasOwn(ZONES, zone) ? ZONES[zone]! * 60 : undefined
  const [h, m] = [Number(hours), Number(minutes)]
  if (h > 14 || m > 59) return undefined
  return (sign === '-' ? -1 : 1) * (h * 60 + m)
}

/** When a line ended: with its month, where its file does not say. */
export function endOf({ end_at, period }: { end_at: string | null; period: string }): string {
  return end_at ?? monthOf(period).end_at
}
