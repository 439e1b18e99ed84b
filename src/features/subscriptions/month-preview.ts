// What a month would end with, before and after a change: the lines of a statement, and who works them out.
import { type Static, Type } from 'typebox'
import type { Executor } from '../../kernel/db/tables.ts'
import { Decimal, Id, Nullable, Time, Whole } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import type { SubscriptionTerms } from './terms.ts'

export const LINE_KINDS = ['base', 'addon', 'included', 'overage', 'meter'] as const

export const StatementLine = noun('StatementLine', {
  kind: Type.Enum([...LINE_KINDS], {
    description:
      '`base` and `addon`: the price for the part of the month in which it held; `included` and `overage`: what was used of a kind of resource within what the terms include, and beyond it at one price; `meter`: what usage events of a meter come to beyond what is included.',
  }),
  code: Type.String({ description: 'Of the plan, the addon or the meter; the kind of resource.' }),
  subject_id: Nullable(
    Type.String({
      ...Id,
      description: 'The plan version, or the addon as it was attached; null for resources.',
    }),
  ),
  from: Type.String({ ...Time, description: 'The part of the month that the line is about.' }),
  to: Time,
  quantity: Nullable(Decimal('How much, in the unit, rounded to six places; null: the unit is not metered.')),
  unit: Nullable(Type.String()),
  price_cents: Nullable(Type.Integer({ description: 'For one unit; null: it has no price.' })),
  price_source: Nullable(
    Type.String({ pattern: '^(plan|addon|resource_price)$', description: 'Where the price is from.' }),
  ),
  amount_cents: Whole('Lines add up to the total.'),
})
export type StatementLine = Static<typeof StatementLine>

const foreseen = (description: string) =>
  Type.Object(
    { total_cents: Whole('What the lines add up to.'), lines: Type.Array(StatementLine) },
    { description },
  )

export const MonthPreview = noun('MonthPreview', {
  effective_from: Type.String({ ...Time, description: 'From when the change would count.' }),
  period: Type.String({ description: 'The month of that time, `YYYY-MM`.' }),
  currency: Type.String(),
  current: foreseen('The statement that the month ends with as things stand, if what lives now lives on.'),
  changed: foreseen('The same with the change.'),
  difference_cents: Whole('What the change adds to the month.'),
})
export type MonthPreview = Static<typeof MonthPreview>

export interface PreviewQuestion {
  now: Date
  deploymentId: string
  /** From when the change counts. */
  at: string
  /** The terms of the month with the change; null: the deployment had none in it. */
  change: (terms: SubscriptionTerms | null) => SubscriptionTerms
}

export type PreviewMonth = (tx: Executor, question: PreviewQuestion) => Promise<MonthPreview>

/** What is asked of those who charge. They know the subscriptions, not these them: app.ts hands it in. */
export interface Books {
  previewMonth: PreviewMonth
  /** The first moment that is in no closed month; null: none is closed. No month is closed until the transaction ends. */
  openFrom: (tx: Executor, tenantId: string) => Promise<string | null>
}
