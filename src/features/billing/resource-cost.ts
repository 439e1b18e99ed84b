// SQL of what a resource costs a month: what its last invoice says, or else what it is listed for. For whoever puts a price on
// many resources at once.
import {
  LIST_PRICES,
  MOST_PRICED,
  PRICE_RULES,
  type PriceCondition,
  type PriceRule,
} from '../../integrations/digitalocean/index.ts'
import { currencyCodes } from '../../kernel/currencies.ts'
import { sizePriceThen } from '../inventory/index.ts'
import { HOURS_OF_PRICE } from './estimate.ts'
import { minorDigits } from './written-amount.ts'

/** The provider names none for its list prices, and charges in this one. */
export const LIST_CURRENCY = 'USD'

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`

const codesOf = (digits: number): string =>
  currencyCodes
    .filter(code => minorDigits(code) === digits)
    .map(text)
    .join(', ')

/** SQL: one or another value, by how many decimals the amounts of a currency have. */
const byDigits = (currency: string, none: string, two: string, three: string): string =>
  `case when ${currency} in (${codesOf(0)}) then ${none} when ${currency} in (${codesOf(3)}) then ${three} else ${two} end`

/** SQL: an exact amount in whole minor units, rounded half away from zero, */
export const minorOf = (amount: string, currency: string): string =>
  `round(${amount} * ${byDigits(currency, '1', '100', '1000')})::bigint`

/** and as a decimal with as many decimals as the currency has. */
export const roundedOf = (amount: string, currency: string): string =>
  `round(${amount}, ${byDigits(currency, '0', '2', '3')})`

/** SQL: what a line `l` would have come to, had it run for a whole month. */
export const wholeMonthOf = (line = 'l'): string =>
  `case when ${line}.hours > 0 and ${line}.hours < ${HOURS_OF_PRICE} then ${line}.amount * ${HOURS_OF_PRICE} / ${line}.hours
    else ${line}.amount end`

/**
 * SQL, to be joined to a resource `r`: `c.monthly_cost` (exact), `c.currency` and `c.cost_source`, or all null where nobody
 * knows. What the lines say of the newest month that has any; of one that was replaced within its month, as when a droplet is
 * resized, the last counts, not both.
 */
export const monthlyCostJoin = (now: string): string => `
  left join lateral (
    select sum(${wholeMonthOf()}) as monthly_cost, min(l.currency) as currency from (
      select l.*, max(coalesce(l.end_at, 'infinity')) over () as last_end from cloud_cost_lines l
      where l.resource_id = r.id and not l.is_tax and l.period = (
        select max(n.period) from cloud_cost_lines n where n.resource_id = r.id and not n.is_tax)
    ) l where coalesce(l.end_at, 'infinity') = l.last_end
  ) billed on true
  left join lateral (${sizePriceThen(`(r.attrs ->> 'size_slug')`, now)}) size on r.kind = 'droplet' and billed.monthly_cost is null
  left join lateral (
    select coalesce(billed.monthly_cost, size.price_monthly, ${listPrice('r')}) as monthly_cost) said on true
  left join lateral (
    select said.monthly_cost, coalesce(billed.currency, size.currency, ${text(LIST_CURRENCY)}) as currency,
      case when billed.monthly_cost is not null then 'invoice' else 'list_price' end as cost_source
    where said.monthly_cost is not null
  ) c on true`

/** SQL: what a resource, a row of cloud_resources, is listed for a month; null where it has no price of its own. */
function listPrice(row: string): string {
  const cases = PRICE_RULES.map(rule => `when ${conditionOf(row, rule)} then ${amountOf(row, rule)}`)
  return `case ${cases.join(' ')} end`
}

const conditionOf = (row: string, { kind, where = [] }: PriceRule): string =>
  [`${row}.kind = ${text(kind)}`, ...where.map(condition => holds(row, condition))].join(' and ')

/** As `holds` of the list prices says it. What is not there compares as null, and is not what is asked for. */
function holds(row: string, { at, is, isNoObject, without }: PriceCondition): string {
  const [json, written] = at
    ? [`${row}.attrs #> '{${at.join(',')}}'`, `coalesce(${row}.attrs #>> '{${at.join(',')}}', '')`]
    : [`to_jsonb(${row}.name)`, `${row}.name`]
  if (is !== undefined) return `coalesce(${json} = ${text(JSON.stringify(is))}::jsonb, false)`
  if (isNoObject) return `coalesce(jsonb_typeof(${json}), '') <> 'object'`
  return `strpos(${written}, ${text(without ?? '')}) = 0`
}

function amountOf(row: string, { sku, quantity, otherwise }: PriceRule): string {
  const price = LIST_PRICES[sku]
  if (quantity === undefined) return price
  const given = `${row}.attrs -> ${text(quantity)}`
  const number = `(${row}.attrs ->> ${text(quantity)})::numeric`
  const absent =
    otherwise === undefined ? '' : `when coalesce(jsonb_typeof(${given}), 'null') = 'null' then ${otherwise} `
  return `${price} * (case ${absent}when jsonb_typeof(${given}) = 'number' then
    case when ${number} > 0 and ${number} <= ${MOST_PRICED} then ${number} end end)`
}
