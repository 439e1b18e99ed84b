// A statement as it is written down: its number, what its lines add up to, and the hash over all of it. Pure but for its id.
import { newId } from '../../kernel/ids.ts'
import type { StatementLine } from '../subscriptions/index.ts'
import type { Month } from './period.ts'
import { contentHash, numberOf } from './statement.ts'
import { totalOf } from './statement-lines.ts'
import type { Billed, NewStatement, TestBook } from './statement-store.ts'

export interface Draft {
  subscription: Billed
  currency: string
  lines: StatementLine[]
  /** The month's statements of the subscription so far: the first of them is the one that this corrects. */
  told: readonly { id: string }[]
}

/** Where it stands among the month's: everybody's, or those of a test clock. */
export interface Place {
  ordinal: number
  testClock: TestBook | null
}

export function drawUp(month: Month, now: Date, { ordinal, testClock }: Place, draft: Draft): NewStatement {
  const { subscription, currency, lines, told } = draft
  const { subscription_id, deployment_id, tenant_id } = subscription
  const statement = {
    id: newId(),
    number: numberOf(month.period, ordinal, testClock !== null),
    ...{ subscription_id, deployment_id, tenant_id },
    period: month.period,
    sequence: told.length + 1,
    adjusts: told[0]?.id ?? null,
    currency,
    total_cents: totalOf(lines),
    closed_at: now.toISOString(),
    lines,
  }
  const content_hash = contentHash(statement)
  const test_clock_id = testClock?.id ?? null
  return { ...statement, content_hash, first_day: month.first_day, ordinal, test_clock_id }
}
