// Margins: what a deployment or a tenant was charged in a month, what the provider's lines for it cost, and what is left. Pure.
// Amounts in different currencies have no difference.
import { Type } from 'typebox'
import { Decimal, Id, Many, Nullable, Whole } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { decimal } from './charge.ts'

export const Costs = Type.Array(
  Type.Object({
    currency: Type.String(),
    amount: Type.String({ description: 'The exact sum.' }),
    amount_minor: Whole('The lines’ minor units, summed.'),
    tax_minor: Whole('What of it the tax rule calls tax.'),
    flagged_lines: Type.Integer({
      description:
        'Lines that are tax by their description and not by their product (a droplet named `taxi`), or the other way round.',
    }),
  }),
  {
    description: 'All of the provider’s lines of the month, taxes and credits too, each currency by itself.',
  },
)

export const Margin = noun('Margin', {
  tenant_id: Type.String(),
  deployment_id: Nullable(Id),
  slug: Nullable(Type.String()),
  deployments: Type.Integer({ description: 'How many the row is about.' }),
  charged: Type.Array(Type.Object({ currency: Type.String(), amount_minor: Whole() }), {
    description: 'The `total_cents` of usage, each currency by itself.',
  }),
  costs: Costs,
  margin: Nullable(
    Type.Object(
      {
        currency: Type.String(),
        amount_minor: Whole('Charged less costs.'),
        percent: Nullable(Decimal('Of what is charged, to two places; null where nothing is.')),
      },
      { description: 'Null where charges and costs are in different currencies.' },
    ),
  ),
})

export const Margins = Type.Object({
  ...Many(Margin).properties,
  period: Type.String(),
  unassigned: Nullable(
    Type.Array(Costs.items, {
      description:
        'Costs of lines that are tied to no deployment (`by=tenant`: nor to a tenant). With the costs of all rows they add up to the month’s invoices. On the first page alone, and not where a filter leaves them out: null there.',
    }),
  ),
})

export interface Money {
  currency: string
  /** In minor units. */
  amount_minor: bigint
}

export interface AmountLeft extends Money {
  /** Of what is charged; null where nothing is. */
  percent: string | null
}

const PLACES = 2

/** Null: there is more than one currency. An amount of 0 is in none, and keeps nobody from comparing the others. */
export function marginOf(charged: readonly Money[], costs: readonly Money[]): AmountLeft | null {
  const all = [...charged, ...costs]
  const some = all.filter(({ amount_minor }) => amount_minor !== 0n)
  const currencies = new Set((some.length > 0 ? some : all.slice(0, 1)).map(({ currency }) => currency))
  const [currency] = currencies
  if (currency === undefined || currencies.size > 1) return null
  const income = total(charged)
  const amount_minor = income - total(costs)
  return {
    currency,
    amount_minor,
    percent: income > 0n ? decimal(amount_minor * 100n, income, PLACES) : null,
  }
}

const total = (money: readonly Money[]): bigint =>
  money.reduce((sum, { amount_minor }) => sum + amount_minor, 0n)

/** Each currency by itself, in the order of their names. */
export function byCurrency(money: readonly Money[]): Money[] {
  const currencies = [...new Set(money.map(({ currency }) => currency))].sort()
  return currencies.map(currency => ({
    currency,
    amount_minor: total(money.filter(other => other.currency === currency)),
  }))
}
