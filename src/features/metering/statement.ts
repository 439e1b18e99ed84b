// Statements: what they look like in the API, the text that their hash is over, and when a month is closed. The rules are pure.
import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Id, Nullable, Time, Whole } from '../../kernel/http/schemas.ts'
import { extended, noun } from '../../kernel/noun.ts'
import { StatementLine } from '../subscriptions/index.ts'
import { type Month, monthAt } from './period.ts'

/** Digits beyond the sixth are not cut off. */
const NUMBER = `case when $.test_clock_id is null then '' else 'test-' end || to_char($.period, 'YYYY-MM') || '-' || lpad($.ordinal::text, greatest(6, length($.ordinal::text)), '0')`

export const Statement = noun(
  'Statement',
  {
    id: Id,
    number: Type.String({
      description:
        'The month and a number within it, without a gap: `2026-10-000042`; of a test clock `test-2026-10-000042`.',
    }),
    deployment_id: Id,
    subscription_id: Id,
    tenant_id: Type.String(),
    period: Type.String({ description: '`YYYY-MM`.' }),
    sequence: Type.Integer({ description: '1, and counting up with every correction of the month.' }),
    adjusts: Nullable(
      Type.String({ ...Id, description: 'The statement that this one corrects: its lines are differences.' }),
    ),
    currency: Type.String(),
    total_cents: Whole('What the lines add up to.'),
    content_hash: Type.String({
      description:
        'SHA-256, in hex, over the statement as JSON without this field: names sorted, nothing between the tokens.',
    }),
    closed_at: Time,
  },
  { number: NUMBER, period: `to_char($.period, 'YYYY-MM')` },
)

export const StatementDetail = extended('StatementDetail', Statement, { lines: Type.Array(StatementLine) })
export type StatementDetail = Static<typeof StatementDetail>

export const numberOf = (period: string, ordinal: number, test = false): string =>
  `${test ? 'test-' : ''}${period}-${String(ordinal).padStart(6, '0')}`

/** JSON with the names of every object sorted, and nothing between the tokens. */
export function canonical(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
}

/** For JSON.parse: amounts may be larger than a float is exact. */
export const exactAmounts = (name: string, value: unknown, { source }: { source?: string } = {}): unknown =>
  name === 'amount_cents' && source !== undefined ? BigInt(source) : value

export const contentHash = (statement: Omit<StatementDetail, 'content_hash'>): string =>
  createHash('sha256').update(canonical(statement)).digest('hex')

/** Three days, for what comes late. */
const CLOSED_AFTER_MS = 3 * 24 * 3_600_000

/** The months that are to be closed, from the first open one on: each metered to its end, and over for three days. */
export function monthsToClose(firstOpen: string, meteredUntil: string, now: Date): Month[] {
  const months: Month[] = []
  for (let month = monthAt(firstOpen, now); ; month = monthAt(month.end_at, now)) {
    if (month.end_at > meteredUntil || Date.parse(month.end_at) + CLOSED_AFTER_MS > now.getTime())
      return months
    months.push(month)
  }
}
