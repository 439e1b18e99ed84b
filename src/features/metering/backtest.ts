// A backtest: what past months came to, and what they would have come to under a draft of the catalog. It writes nothing. A page
// of subscriptions is worked out in a handful of queries for each month, by the rule of statements.
import { type Static, Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { type FieldError, invalid } from '../../kernel/errors.ts'
import { Id, Whole } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import type { TenantTime } from '../../kernel/tenant-time.ts'
import {
  type CatalogDocument,
  findMeters,
  readCatalogBody,
  readDraftTerms,
  unitErrors,
} from '../catalog/index.ts'
import type { SubscriptionTerms } from '../subscriptions/index.ts'
import { KEPT_REASONS, type Kept, pricesUnder, termsUnder } from './draft-pricing.ts'
import { type Month, monthAt } from './period.ts'
import { readFacts } from './read-usage.ts'
import { statementLines, totalOf } from './statement-lines.ts'
import { type Billed, listSubscribed } from './statement-store.ts'
import { currencyOf, type UsageFacts } from './usage.ts'

const AMOUNTS = {
  before_cents: Whole('What the month came to, by the terms that held.'),
  after_cents: Whole('What it would have come to under the draft.'),
  difference_cents: Whole('What the draft adds.'),
}

export const Backtested = noun('Backtested', {
  tenant_id: Type.String(),
  deployment_id: Id,
  subscription_id: Id,
  months: Type.Array(Type.Object({ period: Type.String(), currency: Type.String(), ...AMOUNTS }), {
    description: 'Those in which it had terms or used anything, oldest first.',
  }),
  kept: Type.Array(
    Type.Object({
      subject: Type.Enum(['plan', 'addon']),
      code: Type.String(),
      reason: Type.Enum([...KEPT_REASONS]),
    }),
    { description: 'Plans and addons that the draft does not price: they count as they were.' },
  ),
})

interface MonthTested {
  period: string
  currency: string
  before_cents: bigint
  after_cents: bigint
  difference_cents: bigint
}

export interface BacktestRow extends Billed {
  months: MonthTested[]
  kept: Kept[]
}

export interface BacktestQuestion {
  catalog: Static<typeof CatalogDocument>
  months: number
  limit: number
  after: string | null
}

export async function backtest(
  { db, clock, tenantTime }: Pick<Deps, 'db' | 'clock' | 'tenantTime'>,
  { catalog: document, months: count, limit, after }: BacktestQuestion,
): Promise<BacktestRow[]> {
  const { catalog, faults } = readCatalogBody(document)
  const meters = [...(await findMeters(db)), ...catalog.meters]
  const unmeasured = catalog.plans.flatMap(({ version }, index) =>
    unitErrors(version?.items ?? [], meters, `/plans/${index}/version/items`),
  )
  refuse([...faults, ...unmeasured])
  const draft = await readDraftTerms(db, catalog)
  const now = clock.now()
  const months = monthsBefore(now, count)
  const stretch = { from: months[0]!.start_at, to: months.at(-1)!.end_at }
  const subscribed = await listSubscribed(db, stretch, after, limit)
  const rows = subscribed.map((row): BacktestRow => ({ ...row, months: [], kept: [] }))
  for (const month of months) await testMonth(db, { time: tenantTime, now, month }, draft, rows)
  return rows
}

function refuse(faults: FieldError[]): void {
  if (faults.length === 0) return
  const within = faults.map(({ pointer, message }) => ({ pointer: `/catalog${pointer}`, message }))
  throw invalid('The body is not acceptable.', within)
}

/** The last ones that are over, oldest first. */
export function monthsBefore(now: Date, count: number): Month[] {
  const months: Month[] = []
  for (let month = monthAt(now.toISOString(), now); months.length < count; months.unshift(month))
    month = monthAt(new Date(Date.parse(month.start_at) - 1).toISOString(), now)
  return months
}

async function testMonth(
  db: Executor,
  { time, now, month }: { time: TenantTime; now: Date; month: Month },
  draft: Awaited<ReturnType<typeof readDraftTerms>>,
  rows: BacktestRow[],
): Promise<void> {
  if (rows.length === 0) return
  const ids = rows.map(({ deployment_id }) => deployment_id)
  const { facts } = await readFacts(db, now, month, ids, { time, forecast: false })
  const instead = new Map<string, SubscriptionTerms>()
  for (const row of rows) {
    const { terms } = facts.get(row.deployment_id)!
    if (terms === null) continue
    const under = termsUnder(draft, terms)
    instead.set(row.deployment_id, under.terms)
    row.kept = [
      ...new Map([...row.kept, ...under.kept].map(kept => [`${kept.subject} ${kept.code}`, kept])).values(),
    ]
  }
  const repriced = pricesUnder(draft)
  const { facts: drafted } = await readFacts(db, now, month, ids, {
    time,
    forecast: false,
    instead,
    repriced,
  })
  for (const row of rows) {
    const was = facts.get(row.deployment_id)!
    const [before_cents, after_cents] = [was, drafted.get(row.deployment_id)!].map(totalOfMonth) as [
      bigint,
      bigint,
    ]
    if (was.terms === null && [...was.uses, ...was.meterSums, ...was.meterCounts].length === 0) continue
    const difference_cents = after_cents - before_cents
    row.months.push({
      period: month.period,
      currency: currencyOf(was),
      before_cents,
      after_cents,
      difference_cents,
    })
  }
}

const totalOfMonth = (facts: UsageFacts): bigint => totalOf(statementLines(facts))
