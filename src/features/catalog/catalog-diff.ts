// What must be done so that the catalog is as a file says, and those changes in words. A plan: this file decides, others
// do. What the file does not mention stays: nothing in a catalog is ever deleted, for subscriptions may refer to it.
import type { Catalog } from './catalog-file.ts'
import { type Meters, type MeterTerms, unmeasured } from './meter.ts'
import { type PlanItem, sameItem, sameTerms, sortedItems, type VersionTerms } from './plan.ts'
import { overlap, type PriceTerms, subjectOf } from './price.ts'

type Addon = Catalog['addons'][number]
export type StandingPrice = PriceTerms & { id: string }

/** The catalog as it stands. */
export type StandingCatalog = Omit<Catalog, 'resource_prices'> & { resource_prices: StandingPrice[] }

export type Change =
  | { do: 'create meter'; meter: MeterTerms }
  | { do: 'rename meter'; code: string; before: string; name: string }
  | { do: 'create plan'; code: string; name: string }
  | { do: 'rename plan'; code: string; before: string; name: string }
  | { do: 'publish version'; code: string; before: VersionTerms | null; terms: VersionTerms }
  | { do: 'create addon'; addon: Addon }
  | { do: 'change addon'; code: string; before: Partial<Addon>; after: Partial<Addon> }
  | { do: 'end price'; price: StandingPrice; effective_to: string | null }
  | { do: 'add price'; price: PriceTerms }

export interface CatalogDiff {
  /** In the order in which they can be done. */
  changes: Change[]
  /** What the file asks for and cannot have. */
  refusals: string[]
}

export function catalogDiff(standing: StandingCatalog, wanted: Catalog): CatalogDiff {
  const meters = meterChanges(standing.meters, wanted.meters)
  const prices = priceChanges(standing.resource_prices, wanted.resource_prices)
  return {
    changes: [
      ...meters.changes,
      ...wanted.plans.flatMap(plan => planChanges(standing, plan)),
      ...wanted.addons.flatMap(addon => addonChanges(standing, addon)),
      ...prices.changes,
    ],
    refusals: [...meters.refusals, ...unmeasuredIn(wanted, standing.meters), ...prices.refusals],
  }
}

const METER_FIELDS = ['aggregation', 'unit', 'scale'] as const

function meterChanges(standing: MeterTerms[], wanted: MeterTerms[]): CatalogDiff {
  const changes: Change[] = []
  const refusals: string[] = []
  for (const meter of wanted) {
    const { code, name } = meter
    const known = standing.find(other => other.code === code)
    if (!known) changes.push({ do: 'create meter', meter })
    else if (known.name !== name) changes.push({ do: 'rename meter', code, before: known.name, name })
    for (const field of known ? METER_FIELDS : [])
      if (known![field] !== meter[field])
        refusals.push(
          `meter ${code}: its ${field} is ${known![field]} and stays so (the file says ${meter[field]}): make another meter`,
        )
  }
  return { changes, refusals }
}

/** By the meters that there are and those of the file. */
function unmeasuredIn({ meters, plans, resource_prices }: Catalog, standing: Meters): string[] {
  const all = [...standing, ...meters]
  const told = (what: string, kind: string, unit: string | null) => {
    const fault = unit === null ? undefined : unmeasured(kind, unit, all)
    return fault === undefined ? [] : [`${what}: ${fault}`]
  }
  return [
    ...plans.flatMap(({ code, version }) =>
      (version?.items ?? []).flatMap(item => told(`plan ${code}`, item.resource_kind, item.overage_unit)),
    ),
    ...resource_prices.flatMap(price => told(`price ${priceName(price)}`, price.resource_kind, price.unit)),
  ]
}

function planChanges(
  { plans }: StandingCatalog,
  { code, name, version }: Catalog['plans'][number],
): Change[] {
  const known = plans.find(plan => plan.code === code)
  const changes: Change[] = []
  if (!known) changes.push({ do: 'create plan', code, name })
  else if (known.name !== name) changes.push({ do: 'rename plan', code, before: known.name, name })
  const active = known?.version ?? null
  if (version && !(active && sameTerms(active, version)))
    changes.push({ do: 'publish version', code, before: active, terms: version })
  return changes
}

const ADDON_FIELDS = ['name', 'resource_kind', 'qty', 'price_cents', 'currency'] as const

function addonChanges({ addons }: StandingCatalog, addon: Addon): Change[] {
  const known = addons.find(({ code }) => code === addon.code)
  if (!known) return [{ do: 'create addon', addon }]
  const fields = ADDON_FIELDS.filter(field => known[field] !== addon[field])
  if (fields.length === 0) return []
  const only = (of: Addon) => Object.fromEntries(fields.map(field => [field, of[field]]))
  return [{ do: 'change addon', code: addon.code, before: only(known), after: only(addon) }]
}

/** A price is known by what it is for and its first day. Its amount never changes; its end may move. */
function priceChanges(standing: StandingPrice[], wanted: PriceTerms[]): CatalogDiff {
  const ends: Change[] = []
  const additions: Change[] = []
  const refusals: string[] = []
  const after = new Map<string, PriceTerms>(standing.map(price => [priceName(price), price]))
  for (const price of wanted) {
    const known = standing.find(other => priceName(other) === priceName(price))
    if (known && known.price_cents !== price.price_cents) {
      refusals.push(
        `price ${priceName(price)} is ${known.price_cents} and stays so (the file says ${price.price_cents}): ` +
          'give it an effective_to and add another that follows',
      )
      continue
    }
    after.set(priceName(price), price)
    if (!known) additions.push({ do: 'add price', price })
    else if (known.effective_to !== price.effective_to)
      ends.push({ do: 'end price', price: known, effective_to: price.effective_to })
  }
  return {
    changes: [...ends, ...additions],
    refusals: [...refusals, ...clashes([...after.values()])],
  }
}

function clashes(prices: PriceTerms[]): string[] {
  return prices.flatMap((price, index) =>
    prices
      .slice(index + 1)
      .filter(other => subjectOf(other) === subjectOf(price) && overlap(other, price))
      .map(other => `prices ${priceName(price)} and ${priceName(other)} would hold on the same days`),
  )
}

const priceName = (price: PriceTerms): string => `${subjectOf(price)} from ${price.effective_from}`

interface Line {
  sign: '+' | '~' | '-'
  text: string
}

/** One to a few lines: what an operator reads before the change is made. */
export function describeChange(change: Change): Line[] {
  switch (change.do) {
    case 'create meter': {
      const { code, aggregation, unit, scale } = change.meter
      return [{ sign: '+', text: `meter ${code}: ${aggregation} of ${unit}, by ${scale}` }]
    }
    case 'rename meter':
      return [{ sign: '~', text: `meter ${change.code}: name ${change.before} → ${change.name}` }]
    case 'create plan':
      return [{ sign: '+', text: `plan ${change.code} (${change.name})` }]
    case 'rename plan':
      return [{ sign: '~', text: `plan ${change.code}: name ${change.before} → ${change.name}` }]
    case 'publish version':
      return versionLines(change.code, change.before, change.terms)
    case 'create addon': {
      const { code, resource_kind, qty, price_cents, currency } = change.addon
      return [{ sign: '+', text: `addon ${code}: ${qty} ${resource_kind} for ${price_cents} ${currency}` }]
    }
    case 'change addon': {
      const fields = Object.entries(change.after).map(
        ([field, value]) => `${field} ${change.before[field as keyof typeof change.before]} → ${value}`,
      )
      return [{ sign: '~', text: `addon ${change.code}: ${fields.join(', ')}` }]
    }
    case 'end price': {
      const { price, effective_to } = change
      const end = `effective_to ${price.effective_to ?? 'none'} → ${effective_to ?? 'none'}`
      return [{ sign: '~', text: `price ${priceName(price)}: ${end}` }]
    }
    case 'add price': {
      const { price } = change
      const end = price.effective_to === null ? '' : ` to ${price.effective_to}`
      return [{ sign: '+', text: `price ${priceName(price)}${end}: ${price.price_cents}` }]
    }
  }
}

function versionLines(code: string, before: VersionTerms | null, terms: VersionTerms): Line[] {
  const price = `${terms.base_price_cents} ${terms.currency}`
  if (!before)
    return [
      { sign: '+', text: `version of ${code}: ${price}` },
      ...sortedItems(terms.items).map((item): Line => ({ sign: '+', text: `  ${itemText(item)}` })),
    ]
  const was = `${before.base_price_cents} ${before.currency}`
  const head = `version of ${code}: ${was === price ? price : `${was} → ${price}`}`
  return [{ sign: '~', text: head }, ...itemLines(before.items, terms.items)]
}

function itemLines(before: PlanItem[], after: PlanItem[]): Line[] {
  const kinds = [...new Set([...before, ...after].map(item => item.resource_kind))].toSorted()
  return kinds.flatMap((kind): Line[] => {
    const [was, is] = [before, after].map(items => items.find(item => item.resource_kind === kind))
    if (was && is)
      return sameItem(was, is) ? [] : [{ sign: '~', text: `  ${itemText(was)} → ${itemText(is)}` }]
    return is ? [{ sign: '+', text: `  ${itemText(is)}` }] : [{ sign: '-', text: `  ${itemText(was!)}` }]
  })
}

function itemText(item: PlanItem): string {
  const overage =
    item.overage_unit === null ? [] : [`then ${item.overage_price_cents} per ${item.overage_unit}`]
  const cap = item.hard_cap_qty === null ? [] : [`at most ${item.hard_cap_qty}`]
  return [`${item.included_qty} ${item.resource_kind}`, ...overage, ...cap].join(', ')
}
