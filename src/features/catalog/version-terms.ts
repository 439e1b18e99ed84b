// What a version costs and includes, and the rules among its items that a schema cannot say.
import type { FieldError } from '../../kernel/errors.ts'

export interface PlanItem {
  resource_kind: string
  included_qty: number
  overage_unit: string | null
  overage_price_cents: number | null
  hard_cap_qty: number | null
}

export interface VersionTerms {
  base_price_cents: number
  currency: string
  items: PlanItem[]
}

/** What is wrong among the items; `at` is where the list stands in the document. */
export function itemErrors(items: PlanItem[], at: string): FieldError[] {
  const kinds = new Set<string>()
  return items.flatMap((item, index) => {
    const errors: FieldError[] = []
    const wrong = (field: keyof PlanItem, message: string) =>
      errors.push({ pointer: `${at}/${index}/${field}`, message })
    if (kinds.has(item.resource_kind)) wrong('resource_kind', `${item.resource_kind} has an item already`)
    kinds.add(item.resource_kind)
    if (item.hard_cap_qty !== null && item.hard_cap_qty < item.included_qty)
      wrong('hard_cap_qty', `must not be less than included_qty (${item.included_qty})`)
    if (item.overage_unit !== null && item.overage_price_cents === null)
      wrong('overage_price_cents', 'is required with overage_unit')
    if (item.overage_unit === null && item.overage_price_cents !== null)
      wrong('overage_unit', 'is required with overage_price_cents')
    return errors
  })
}

/** The order of items means nothing. */
export const sortedItems = (items: PlanItem[]): PlanItem[] =>
  items.toSorted((a, b) => (a.resource_kind < b.resource_kind ? -1 : 1))

export function sameTerms(a: VersionTerms, b: VersionTerms): boolean {
  return (
    a.base_price_cents === b.base_price_cents &&
    a.currency === b.currency &&
    a.items.length === b.items.length &&
    sortedItems(a.items).every((item, index) => sameItem(item, sortedItems(b.items)[index]!))
  )
}

export const sameItem = (a: PlanItem, b: PlanItem): boolean =>
  a.resource_kind === b.resource_kind &&
  a.included_qty === b.included_qty &&
  a.overage_unit === b.overage_unit &&
  a.overage_price_cents === b.overage_price_cents &&
  a.hard_cap_qty === b.hard_cap_qty
