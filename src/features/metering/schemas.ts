// The API's words for usage and margins.
import { Type } from 'typebox'
import { PageQuery } from '../../kernel/http/pages.ts'
import { ExternalId, Id, Many, Nullable, Query, Time } from '../../kernel/http/schemas.ts'

const Period = Type.String({
  pattern: '^[12]\\d{3}-(0[1-9]|1[0-2])$',
  description: 'A month in UTC, `YYYY-MM`, that has begun. Default: the current one.',
})
const Day = Type.String({ format: 'date' })
/** Sums are worked out as bigints, and written whole however large. */
const Whole = (description?: string) =>
  Type.Unsafe<bigint>(Type.Integer(description === undefined ? {} : { description }))
const Decimal = (description: string) => Type.String({ pattern: '^-?\\d+(\\.\\d+)?$', description })

export const IdParams = Type.Object({ id: Id })
export const UsageQuery = Query({ period: Type.Optional(Period) })

const KindUsage = Type.Object({
  kind: Type.String(),
  used: Decimal('Resource-hours so far, rounded to six places.'),
  used_seconds: Whole('The same, exactly: what charges are worked out from.'),
  live: Nullable(Type.Integer({ description: 'How many there are now; null for a month that is over.' })),
  included: Whole('How many may live all the time at no further cost: the plan’s and the addons’.'),
  overage_seconds: Whole('Resource-seconds beyond that, hour by hour.'),
  overage_qty: Nullable(Decimal('The same in the unit; null where the unit is not one of time.')),
  overage_unit: Nullable(Type.String({ description: '`hour`, `day` and `month` are charged.' })),
  overage_price_cents: Nullable(Type.Integer({ description: 'For one unit; null: there is no price.' })),
  price_source: Nullable(
    Type.String({ pattern: '^(plan|resource_price)$', description: '`plan` or `resource_price`.' }),
  ),
  overage_cents: Whole('So far; rounded once, half a cent up.'),
  forecast_cents: Whole('For the whole month.'),
  cap: Nullable(
    Type.Integer({ description: 'The plan’s `hard_cap_qty`, which addons do not raise; null: none.' }),
  ),
})

export const Usage = Type.Object({
  deployment_id: Id,
  tenant_id: Type.String(),
  period: Type.String(),
  period_start: Day,
  period_end: Type.String({ ...Day, description: 'The last day.' }),
  metered_until: Nullable(
    Type.String({ ...Time, description: 'Up to when the month is metered; null: not yet.' }),
  ),
  plan_code: Nullable(Type.String({ description: 'Null: not subscribed in that month.' })),
  plan_version_id: Nullable(Id),
  currency: Type.String(),
  base_price_cents: Whole('For the whole month; 0 while the trial lasts all of it.'),
  addons: Type.Array(
    Type.Object({
      code: Type.String(),
      resource_kind: Type.String(),
      qty: Type.Integer({ description: 'What one of it adds.' }),
      price_cents: Type.Integer({ description: 'Of one, when it was attached.' }),
      quantity: Type.Integer(),
      amount_cents: Whole('For the whole month.'),
    }),
  ),
  kinds: Type.Array(KindUsage, { description: 'In the order of their names.' }),
  total_cents: Whole('Base price, addons, and what was used beyond them so far.'),
  forecast_cents: Whole('The month’s total if what lives now lives on to its end.'),
})

export const MarginsQuery = Query({
  ...PageQuery,
  period: Type.Optional(Period),
  by: Type.Optional(Type.Enum(['deployment', 'tenant'], { default: 'deployment' })),
  tenant_id: Type.Optional(ExternalId),
  deployment_id: Type.Optional(Type.String({ ...Id, description: 'Not with `by=tenant`.' })),
})

const Costs = Type.Array(
  Type.Object({
    currency: Type.String(),
    amount: Type.String({ description: 'The exact sum.' }),
    amount_minor: Whole('The lines’ minor units, summed.'),
    tax_minor: Whole('What of it the tax rule calls tax.'),
    flagged_lines: Type.Integer({
      description:
        'Lines that are tax by their description and not by their product: a droplet named `taxi`.',
    }),
  }),
  {
    description: 'All of the provider’s lines of the month, taxes and credits too, each currency by itself.',
  },
)

const Margin = Type.Object({
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
