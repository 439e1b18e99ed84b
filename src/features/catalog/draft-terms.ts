// What a catalog file would change, for whoever asks what that would have cost: the plans and addons that differ from those that
// stand, and the resource prices. What the file does not change stays as it is.
import type { Executor } from '../../kernel/db/tables.ts'
import type { Catalog } from './catalog-file.ts'
import { sameTerms, type VersionTerms } from './plan.ts'
import { type PriceTerms, type ResourcePriceRow, subjectOf } from './price.ts'
import { findActiveVersions, findAddons, listPricesOf } from './store.ts'

export interface DraftTerms {
  /** All plans that the file has terms for, by code: those that differ from what is active, and null for the others. */
  plans: ReadonlyMap<string, VersionTerms | null>
  addons: ReadonlyMap<string, Catalog['addons'][number] | null>
  /** By what they are for: the price that is to hold. */
  prices: ReadonlyMap<string, PriceTerms>
}

const ADDON_TERMS = ['resource_kind', 'qty', 'price_cents', 'currency'] as const

export async function readDraftTerms(executor: Executor, draft: Catalog): Promise<DraftTerms> {
  const active = await findActiveVersions(
    executor,
    draft.plans.map(({ code }) => code),
  )
  const addons = await findAddons(
    executor,
    draft.addons.map(({ code }) => code),
  )
  const standing = new Map<string, ResourcePriceRow[]>()
  for (const price of draft.resource_prices)
    if (!standing.has(subjectOf(price)))
      standing.set(
        subjectOf(price),
        (await listPricesOf(executor, price)).filter(row => subjectOf(row) === subjectOf(price)),
      )
  return {
    plans: new Map(
      draft.plans.flatMap(({ code, version }) => {
        const known = active.find(({ plan_code }) => plan_code === code)
        return version ? [[code, known && sameTerms(known, version) ? null : version]] : []
      }),
    ),
    addons: new Map(
      draft.addons.map(addon => {
        const known = addons.find(({ code }) => code === addon.code)
        const same = known && ADDON_TERMS.every(field => known[field] === addon[field])
        return [addon.code, same ? null : addon]
      }),
    ),
    prices: pricesToHold(draft.resource_prices, standing),
  }
}

/** Of each subject whose prices differ from those that stand the last. Pure. */
export function pricesToHold(
  draft: readonly PriceTerms[],
  standing: ReadonlyMap<string, readonly PriceTerms[]>,
): Map<string, PriceTerms> {
  const held = new Map<string, PriceTerms>()
  for (const [subject, prices] of Map.groupBy(draft, subjectOf)) {
    const known = (price: PriceTerms) =>
      standing
        .get(subject)
        ?.some(
          row =>
            row.effective_from === price.effective_from &&
            row.effective_to === price.effective_to &&
            row.price_cents === price.price_cents,
        )
    const last = prices.toSorted((a, b) => (a.effective_from < b.effective_from ? 1 : -1))[0]!
    if (!prices.every(known)) held.set(subject, last)
  }
  return held
}
