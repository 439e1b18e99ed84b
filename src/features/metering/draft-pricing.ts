// A month that is over under a draft of the catalog: its terms, its addons and its resource prices as the draft has them,
// throughout. What the draft does not have, or has in another currency, stays as it was, and is told. Pure.
import { type DraftTerms, subjectOf } from '../catalog/index.ts'
import type { SubscriptionTerms } from '../subscriptions/index.ts'
import type { Price } from './charge.ts'

export const KEPT_REASONS = ['missing', 'currency_differs'] as const

/** Something that the draft cannot price. */
export interface Kept {
  subject: 'plan' | 'addon'
  code: string
  reason: (typeof KEPT_REASONS)[number]
}

/** What a draft says of a plan or an addon; undefined: nothing, null: that nothing changes. */
type Said<T> = ReadonlyMap<string, T | null>

export function termsUnder(
  { plans, addons }: Pick<DraftTerms, 'plans' | 'addons'>,
  terms: SubscriptionTerms,
): { terms: SubscriptionTerms; kept: Kept[] } {
  const kept: Kept[] = []
  const found = <T extends { currency: string }>(subject: Kept['subject'], said: Said<T>, code: string) => {
    const draft = said.get(code)
    if (draft === undefined) kept.push({ subject, code, reason: 'missing' })
    else if (draft !== null && draft.currency !== terms.currency)
      kept.push({ subject, code, reason: 'currency_differs' })
    else return draft
    return null
  }
  return {
    terms: {
      ...terms,
      versions: terms.versions.map(version => {
        const draft = found('plan', plans, version.plan_code)
        return draft ? { ...version, base_price_cents: draft.base_price_cents, items: draft.items } : version
      }),
      addons: terms.addons.map(addon => {
        const draft = found('addon', addons, addon.code)
        if (!draft) return addon
        const { resource_kind, qty, price_cents } = draft
        return { ...addon, resource_kind, qty, price_cents }
      }),
    },
    kept,
  }
}

const BEFORE_ALL = '0001-01-01'

/** A price that the draft changes holds from the beginning of time, to its end where it has one. */
export const pricesUnder =
  ({ prices: drafts }: Pick<DraftTerms, 'prices'>) =>
  (standing: readonly Price[]): Price[] => [
    ...standing.filter(price => !drafts.has(subjectOf(price))),
    ...[...drafts.values()].map(price => ({ ...price, effective_from: BEFORE_ALL })),
  ]
