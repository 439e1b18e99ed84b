// Unusual days: what they look like, and the rule. A day is compared with the same weekday of the weeks before, for weekends are
// not like other days: by their median, which one odd day does not move, and by how far they lie from it. Pure.
import { Type } from 'typebox'
import { Id, Nullable, Time, Whole } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { MEASURES } from './budget.ts'

const UnusualLine = Type.Object({
  tenant_id: Nullable(Type.String()),
  deployment_id: Nullable(Type.String({ format: 'uuid' })),
  kind: Type.String({ description: 'Of resources, or a meter.' }),
  amount_minor: Whole(),
  usual_minor: Whole('The median of the same weekdays.'),
})

export const UnusualDay = noun(
  'UnusualDay',
  {
    id: Id,
    tenant_id: Nullable(Type.String({ description: 'Null: the whole account.' })),
    day: Type.String({ format: 'date', description: 'In UTC.' }),
    measure: Type.Enum([...MEASURES], {
      description:
        '`charge`, of a tenant: what it used beyond its plans; `cost`, of the account: what the provider’s usage of the month grew by.',
    }),
    currency: Type.String(),
    amount_minor: Whole(),
    usual_minor: Whole('The median of the same weekday in the eight weeks before.'),
    limit_minor: Whole('The most that would not have been unusual.'),
    lines: Type.Array(UnusualLine, {
      description:
        'What made it: the ten that grew most, the largest difference first. Of the account they are an estimate at the prices of the last invoice.',
    }),
    found_at: Time,
  },
  { day: '$.day::text' },
)

export const WEEKS = 8
/** Fewer weeks tell nothing. */
const FEWEST_WEEKS = 4
/** So many times as far from the median as half of the days lie from it. */
const SPREADS = 4n
/** In minor units: nobody wants to hear of less. */
const LEAST = 500n
const MOST_LINES = 10

export interface Judged {
  usual: bigint
  /** More than that is unusual. */
  limit: bigint
}

/** Null: there are too few days to compare with. At least a quarter and 5.00 above the median is asked for. */
export function judge(before: readonly bigint[]): Judged | null {
  if (before.length < FEWEST_WEEKS) return null
  const usual = median(before)
  const spread = median(before.map(amount => (amount > usual ? amount - usual : usual - amount)))
  const above = [SPREADS * spread, usual / 4n, LEAST].reduce((most, next) => (next > most ? next : most))
  return { usual, limit: usual + above }
}

/** Of an even number the mean of the two in the middle, rounded down; of none 0. */
export function median(amounts: readonly bigint[]): bigint {
  const sorted = amounts.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const half = sorted.length >> 1
  if (sorted.length === 0) return 0n
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2n
}

const DAY_MS = 24 * 3_600_000

/** `2026-11-15`, -7 → `2026-11-08` */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)

/** The same weekday of the weeks before, the latest first. */
export const sameWeekdays = (day: string): string[] =>
  Array.from({ length: WEEKS }, (_, week) => addDays(day, -7 * (week + 1)))

/** The days that are judged: yesterday, and the day before, should nobody have run yesterday. */
export function daysToJudge(now: Date): string[] {
  const today = now.toISOString().slice(0, 10)
  return [addDays(today, -2), addDays(today, -1)]
}

/** Something that costs: what it came to on a day. Days without a row are 0. */
export interface Contributor {
  tenant_id: string | null
  deployment_id: string | null
  kind: string
  /** By day. */
  amounts: ReadonlyMap<string, bigint>
}

export interface Line extends Omit<Contributor, 'amounts'> {
  amount_minor: bigint
  usual_minor: bigint
}

/** What grew most on a day, against its own median. */
export const linesOf = (
  contributors: readonly Contributor[],
  day: string,
  before: readonly string[],
): Line[] =>
  contributors
    .map(({ amounts, ...of }) => ({
      ...of,
      amount_minor: amounts.get(day) ?? 0n,
      usual_minor: median(before.map(other => amounts.get(other) ?? 0n)),
    }))
    .filter(({ amount_minor, usual_minor }) => amount_minor > usual_minor)
    .sort((a, b) => {
      const [left, right] = [a, b].map(line => line.amount_minor - line.usual_minor) as [bigint, bigint]
      return left > right ? -1 : left < right ? 1 : 0
    })
    .slice(0, MOST_LINES)

/** What the provider's usage of the month so far had come to by the end of a day. */
export type MonthToDate = ReadonlyMap<string, bigint>

/** How much it grew on a day; undefined: of this day or the one before nothing is known. A month begins at 0. */
export function grewOn(day: string, known: MonthToDate): bigint | undefined {
  const end = known.get(day)
  const start = day.endsWith('-01') ? 0n : known.get(addDays(day, -1))
  return end === undefined || start === undefined ? undefined : end - start
}
