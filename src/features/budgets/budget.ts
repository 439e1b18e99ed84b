// Budgets: what they look like, in the API, in webhooks and in the tables, and the rules: which months are looked at, how a month
// may end, and which thresholds are reached. The rules are pure, and amounts whole numbers of minor units.
import type { ColumnType } from 'kysely'
import { Type } from 'typebox'
import type { Row } from '../../kernel/db/tables.ts'
import { Id, Nullable, Time, Whole } from '../../kernel/http/schemas.ts'
import { jsonOf, noun } from '../../kernel/noun.ts'
import { type Month, monthOf } from '../../kernel/time.ts'

export const MEASURES = ['charge', 'cost'] as const
export type Measure = (typeof MEASURES)[number]
export const BASES = ['actual', 'forecast'] as const

export const Percent = Type.Integer({
  minimum: 1,
  maximum: 1_000,
  description: 'Of the budget’s amount.',
})
export const Basis = Type.Enum([...BASES], {
  description: 'What is compared: what the month has come to, or what it may end with.',
})

/** As it is asked for, and kept. */
export interface Threshold {
  percent: number
  on: (typeof BASES)[number]
}

const BudgetThreshold = noun(
  'BudgetThreshold',
  {
    percent: Percent,
    on: Basis,
    reached_at: Nullable(Type.String({ ...Time, description: 'When it was seen to be reached; null: not.' })),
  },
  { on: '$.basis' },
)

const OtherAmount = Type.Object({
  currency: Type.String(),
  actual_minor: Whole(),
  forecast_minor: Nullable(Whole()),
})

export const Budget = noun('Budget', {
  id: Id,
  name: Type.String(),
  tenant_id: Nullable(Type.String({ description: 'Null: of the whole account.' })),
  deployment_id: Nullable(Type.String({ ...Id, description: 'Null: of all that the tenant has.' })),
  measure: Type.Enum([...MEASURES], {
    description: '`charge`: what tenants are charged; `cost`: what the provider takes.',
  }),
  amount_minor: Type.Integer({ description: 'For a calendar month in UTC, in minor units.' }),
  currency: Type.String(),
  period: Type.String({ description: 'The current month, `YYYY-MM`, which the following fields are about.' }),
  actual_minor: Nullable(
    Whole('What it has come to; null: not looked at yet. Only amounts in the budget’s currency.'),
  ),
  forecast_minor: Nullable(Whole('What it may end with; null: too early to tell.')),
  estimated: Nullable(
    Type.Boolean({ description: 'Whether the amounts are an estimate, until the provider’s invoice is in.' }),
  ),
  other_currencies: Type.Array(OtherAmount, {
    description: 'What it comes to in other currencies: not converted, and not added up.',
  }),
  looked_at: Nullable(Time),
  thresholds: Type.Array(BudgetThreshold, { description: 'The lowest first.' }),
  created_by: Type.String(),
  created_at: Time,
  updated_at: Time,
})

export const BudgetAlert = noun(
  'BudgetAlert',
  {
    id: Id,
    budget_id: Id,
    period: Type.String({ description: '`YYYY-MM`.' }),
    percent: Percent,
    on: Basis,
    amount_minor: Type.Integer({ description: 'The budget’s amount then.' }),
    reached_minor: Whole('What the month had come to, or was to end with.'),
    currency: Type.String(),
    reached_at: Time,
  },
  { period: `to_char($.period, 'YYYY-MM')`, on: '$.basis' },
)

export type BudgetRow = Row<'budgets'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    // Written as JSON text.
    budgets: { measure: Measure; thresholds: ColumnType<Threshold[], string, string> }
    budget_alerts: { basis: Threshold['on'] }
  }
}

/** SQL: the thresholds of a budget `$` in the month that begins with `firstDay`, each with when it was reached. */
const thresholdsIn = (firstDay: string) => `(
  select coalesce(json_agg(${jsonOf(BudgetThreshold, 't')} order by t.percent, t.basis), '[]') from (
    select w.percent, w."on" as basis, a.reached_at
    from jsonb_to_recordset($.thresholds) w (percent int, "on" text)
    left join budget_alerts a on a.budget_id = $.id and a.period = date '${firstDay}' and a.revision = $.revision
      and a.basis = w."on" and a.percent = w.percent) t)`

/** SQL: a budget `b` with its look `l`, as it stands in a month. */
export const budgetJson = ({ period, first_day }: Month): string =>
  jsonOf(Budget, 'b', {
    period: `'${period}'`,
    actual_minor: 'l.actual_minor',
    forecast_minor: 'l.forecast_minor',
    estimated: 'l.estimated',
    other_currencies: `coalesce(l.other_currencies, '[]')`,
    looked_at: 'iso8601(l.looked_at)',
    thresholds: thresholdsIn(first_day),
  })

/** SQL: the look at a budget `b` in a month. */
export const lookJoin = ({ first_day }: Month): string =>
  `left join budget_looks l on l.budget_id = b.id and l.period = date '${first_day}'`

/** What a month comes to in one currency. */
export interface Amount {
  currency: string
  actual: bigint
  /** Null: it is too early to tell. */
  forecast: bigint | null
}

export interface Spending {
  amounts: readonly Amount[]
  estimated: boolean
}

/** Amounts of one currency are added; one that cannot tell how it ends keeps the sum from telling. */
export function addedUp(amounts: readonly Amount[]): Amount[] {
  const currencies = [...new Set(amounts.map(({ currency }) => currency))].sort()
  return currencies.map(currency => {
    const own = amounts.filter(amount => amount.currency === currency)
    const forecasts = own.map(({ forecast }) => forecast)
    return {
      currency,
      actual: own.reduce((sum, { actual }) => sum + actual, 0n),
      forecast: forecasts.includes(null) ? null : forecasts.reduce((sum, next) => sum! + next!, 0n),
    }
  })
}

/** What counts against the budget: the amounts in its currency, and none is 0. */
export const ownAmount = (currency: string, { amounts }: Spending): Amount =>
  amounts.find(amount => amount.currency === currency) ?? { currency, actual: 0n, forecast: 0n }

export interface Reached extends Threshold {
  reached_minor: bigint
}

/** The thresholds that an amount reaches or exceeds. */
export function thresholdsReached(
  { amount_minor, thresholds }: Pick<BudgetRow, 'amount_minor' | 'thresholds'>,
  { actual, forecast }: Pick<Amount, 'actual' | 'forecast'>,
): Reached[] {
  return thresholds.flatMap(({ percent, on }) => {
    const value = on === 'actual' ? actual : forecast
    const isReached = value !== null && value * 100n >= BigInt(amount_minor) * BigInt(percent)
    return isReached ? [{ percent, on, reached_minor: value }] : []
  })
}

const DAY_MS = 24 * 3_600_000

/** Hours are metered, and invoices come, a few days after a month's end. */
const SETTLED_AFTER_MS = 5 * DAY_MS

/** The current month, and the one before as long as something of it may still come. */
export function monthsToLookAt(now: Date): Month[] {
  const current = monthOf(now)
  const before = monthOf(new Date(Date.parse(current.start_at) - 1))
  const isOpen = now.getTime() < Date.parse(current.start_at) + SETTLED_AFTER_MS
  return isOpen ? [before, current] : [current]
}

/**
 * Whether an estimate of the account tells nothing yet of how the month ends: what the provider counts beyond list prices is
 * carried on at its pace, and on the first day an hour more or less makes much of it.
 */
export const isTooEarly = ({ start_at }: Pick<Month, 'start_at'>, asOf: string): boolean =>
  Date.parse(asOf) - Date.parse(start_at) < DAY_MS

/** What a change makes of a budget, and whether its thresholds begin anew: what was reached of less says nothing of more. */
export function beginsAnew(
  before: Pick<BudgetRow, 'amount_minor' | 'currency'>,
  { amount_minor, currency }: Partial<Pick<BudgetRow, 'amount_minor' | 'currency'>>,
): boolean {
  return (
    (currency !== undefined && currency !== before.currency) ||
    (amount_minor !== undefined && amount_minor > before.amount_minor)
  )
}

/** Unless the request says otherwise. */
export const USUAL_THRESHOLDS: Threshold[] = [
  { percent: 80, on: 'actual' },
  { percent: 100, on: 'actual' },
  { percent: 100, on: 'forecast' },
]
