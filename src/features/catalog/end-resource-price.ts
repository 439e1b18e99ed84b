// A price is ended, or its end is moved, so that another can follow. Nothing else of a price ever changes.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { overlapOf, type PriceGuard, refuseBadPeriod } from './add-resource-price.ts'
import { findPrice, listPricesOf, lockSubject, setPriceEnd } from './price-repository.ts'
import type { ResourcePriceRow } from './tables.ts'

export async function endResourcePrice(
  { db }: Deps,
  guard: PriceGuard,
  id: string,
  effectiveTo: string | null | undefined,
): Promise<ResourcePriceRow> {
  const price = await findPrice(db, id)
  if (!price) throw notFound()
  if (effectiveTo === undefined) return price
  refuseBadPeriod({ ...price, effective_to: effectiveTo })
  const { resource_kind, currency } = price
  const changed = await transaction(db, async tx => {
    await lockSubject(tx, price)
    const before = await listPricesOf(tx, price)
    const ended = await setPriceEnd(tx, id, effectiveTo)
    await guard(tx, { resource_kind, currency, before, after: await listPricesOf(tx, price) })
    return ended
  }).catch(error => {
    throw overlapOf(error, price) ?? error
  })
  if (!changed) throw notFound()
  return changed
}
