// The terms of a plan's version as people compare them: one value for each field, under the same names.
import { Problem, type Schemas } from '../../api.ts'
import { minorOf, moneyOfMinor, type Values } from '../../ui/index.ts'
import { counted, priced } from './scales.ts'

export type Version = Pick<Schemas['PlanVersion'], 'base_price_cents' | 'currency' | 'items'>
type Item = Schemas['PlanItem']

/** As `pattern` of an input. */
export const CODE = '[a-z0-9]([a-z0-9_\\-]{0,62}[a-z0-9])?'
export const KIND = '[a-z][a-z0-9_]{0,62}'
export const UNIT = '[a-z][a-z0-9_\\-]{0,62}'
export const AMOUNT = '\\d+(\\.\\d+)?'

/** Field → its value in words. What a version does not speak of is absent. */
export function termsOf({ base_price_cents, currency, items }: Version): Map<string, string> {
  const terms = new Map([['Base price a month', moneyOfMinor(base_price_cents, currency)]])
  for (const item of items) {
    const kind = item.resource_kind.replaceAll('_', ' ')
    terms.set(`${kind}: included`, counted(item.resource_kind, item.included_qty))
    terms.set(`${kind}: beyond that`, overage(item, currency))
    terms.set(`${kind}: at most`, atMost(item))
  }
  return terms
}

export const overage = (
  { resource_kind, overage_price_cents: price, overage_unit }: Item,
  currency: string,
): string =>
  price === null || overage_unit === null
    ? 'no price'
    : `${moneyOfMinor(price, currency)} ${priced(resource_kind, overage_unit)}`

export const atMost = ({ resource_kind, hard_cap_qty }: Item): string =>
  hard_cap_qty === null ? 'no cap' : counted(resource_kind, hard_cap_qty)

/** Every field of any of them: the price first, then kind by kind. */
export function fieldsOf(all: Map<string, string>[]): string[] {
  const [first, ...rest] = new Set(all.flatMap(terms => [...terms.keys()]))
  const kindOf = (field: string) => field.split(': ')[0]!
  // Sorted by kind alone: the order of a kind's own fields stays.
  return [
    ...(first ? [first] : []),
    ...rest.sort((a, b) => (kindOf(a) < kindOf(b) ? -1 : kindOf(a) > kindOf(b) ? 1 : 0)),
  ]
}

/** What differs, and how many fields do not. */
export function compared(before: Map<string, string>, after: Map<string, string>) {
  const fields = fieldsOf([before, after])
  const changed = fields.filter(field => before.get(field) !== after.get(field))
  return {
    changes: Object.fromEntries(
      changed.map(field => [field, { before: before.get(field), after: after.get(field) }]),
    ),
    same: fields.length - changed.length,
  }
}

/** An amount as it was typed; refused at its field when it is none. */
export function cents(typed: string, currency: string, pointer: string): number {
  const minor = minorOf(typed, currency)
  if (minor !== undefined) return minor
  const errors = [{ pointer, message: `is no amount in ${currency}` }]
  throw new Problem({ title: 'The amount is not right', errors })
}

const whole = (typed: string | undefined): number | null => (typed === undefined ? null : Number(typed))

/** The body for the API of what was typed into `items/0/resource_kind` and so on. */
export function termsBody(values: Values, items: number): Schemas['PlanVersionTerms'] {
  const { currency = 'USD' } = values
  return {
    base_price_cents: cents(values.base_price_cents ?? '', currency, '/base_price_cents'),
    currency,
    items: Array.from({ length: items }, (_, i) => {
      const at = (field: keyof Item) => values[`items/${i}/${field}`]
      const price = at('overage_price_cents')
      return {
        resource_kind: at('resource_kind') ?? '',
        included_qty: whole(at('included_qty')) ?? 0,
        overage_unit: at('overage_unit') ?? null,
        overage_price_cents:
          price === undefined ? null : cents(price, currency, `/items/${i}/overage_price_cents`),
        hard_cap_qty: whole(at('hard_cap_qty')),
      }
    }),
  }
}
