// Which terms an hour counts under: those that held at its beginning. The hour in which a subscription began counts under its
// first ones. And what they say of a kind. Pure.
import type { PlanItem } from '../catalog/index.ts'
import type { AddonTerms, SubscriptionTerms, VersionTerms } from '../subscriptions/index.ts'
import { type Price, priceIn, type Rate, type Slice } from './charge.ts'
import { hourFrom, hourOf } from './period.ts'

export interface TermsInForce {
  version: VersionTerms
  addons: AddonTerms[]
}

/** The first hour that counts under what begins at a time, and the first that no longer counts under what ends then. */
const hourOfTurn = ({ versions }: SubscriptionTerms, at: string): string =>
  at === versions[0]!.valid_from ? hourOf(at) : hourFrom(at)

/** The hours from which other terms count. */
export const turnsOf = (terms: SubscriptionTerms | null): string[] =>
  terms === null
    ? []
    : [...terms.versions, ...terms.addons]
        .flatMap(({ valid_from, valid_to }) => [valid_from, valid_to ?? valid_from])
        .map(at => hourOfTurn(terms, at))

/** Null: the subscription had not begun, or was over. */
export function termsIn(terms: SubscriptionTerms | null, hour: string): TermsInForce | null {
  if (terms === null) return null
  const counts = ({ valid_from, valid_to }: Pick<VersionTerms, 'valid_from' | 'valid_to'>) =>
    hourOfTurn(terms, valid_from) <= hour && (valid_to === null || hour < hourOfTurn(terms, valid_to))
  const version = terms.versions.find(counts)
  return version ? { version, addons: terms.addons.filter(counts) } : null
}

/** The last that held by a time, as they were then or at their end; null: there were none. */
export function lastTerms(terms: SubscriptionTerms | null, now: string): TermsInForce | null {
  const version = terms?.versions.findLast(({ valid_from }) => valid_from <= now)
  if (!terms || !version) return null
  const { valid_to: end } = version
  const at = end === null || end > now ? now : new Date(Date.parse(end) - 1).toISOString()
  const holds = ({ valid_from, valid_to }: AddonTerms) =>
    valid_from <= at && (valid_to === null || valid_to > at)
  return { version, addons: terms.addons.filter(holds) }
}

/** What the plan agrees on for a kind. */
export const agreedIn = (held: TermsInForce | null, kind: string): PlanItem | undefined =>
  held?.version.items.find(({ resource_kind }) => resource_kind === kind)

/** What of a kind is included: the plan's quantity and the addons'. */
export function includedIn(held: TermsInForce | null, kind: string): bigint {
  if (held === null) return 0n
  return held.addons
    .filter(({ resource_kind }) => resource_kind === kind)
    .reduce(
      (sum, { qty, quantity }) => sum + BigInt(qty) * BigInt(quantity),
      BigInt(agreedIn(held, kind)?.included_qty ?? 0),
    )
}

/** The kinds that the subscription speaks of. */
export const kindsIn = (held: TermsInForce | null): string[] => [
  ...new Set(
    [...(held?.version.items ?? []), ...(held?.addons ?? [])].map(({ resource_kind }) => resource_kind),
  ),
]

export interface SourcedRate extends Rate {
  source: 'plan' | 'resource_price'
}

/**
 * What is charged for a kind beyond what is included; null: nothing. A plan may include a kind and agree on nothing beyond:
 * then the resource prices hold there too. Of a meter only prices by its own unit count.
 */
export function rateIn(
  held: TermsInForce | null,
  slice: Slice,
  prices: readonly Price[],
  kind: string,
  currency: string,
  units?: readonly string[],
): SourcedRate | null {
  const item = agreedIn(held, kind)
  const agreed = item?.overage_unit != null && (units?.includes(item.overage_unit) ?? true)
  if (item?.overage_unit != null && item.overage_price_cents !== null && agreed)
    return { unit: item.overage_unit, price_cents: item.overage_price_cents, source: 'plan' }
  const price = priceIn(slice, prices, kind, currency, units)
  return price ? { unit: price.unit, price_cents: price.price_cents, source: 'resource_price' } : null
}

interface RatedSlice extends Slice {
  rate: SourcedRate | null
}

/** Slices that follow one another at one price are one. */
export function inOnePiece<Part extends RatedSlice>(
  slices: readonly Part[],
  added: (a: Part, b: Part) => Omit<Part, keyof RatedSlice>,
): Part[] {
  const pieces: Part[] = []
  for (const slice of slices) {
    const before = pieces.at(-1)
    const priceOf = ({ rate }: Part) => rate && `${rate.price_cents} ${rate.unit} ${rate.source}`
    if (before && priceOf(before) === priceOf(slice))
      pieces[pieces.length - 1] = { ...before, ...added(before, slice), to_at: slice.to_at }
    else pieces.push(slice)
  }
  return pieces
}
