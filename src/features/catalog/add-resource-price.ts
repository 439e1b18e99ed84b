// A price for what no plan covers. Of one kind, unit and currency, no two hold on one day.
import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { type PriceTerms, periodErrors, subjectOf } from './price-period.ts'
import { insertPrice, listPricesOf, lockSubject } from './price-repository.ts'
import type { ResourcePriceRow } from './tables.ts'

/** All prices of a kind in a currency, before a change and after it. */
export interface PriceChange {
  resource_kind: string
  currency: string
  before: ResourcePriceRow[]
  after: ResourcePriceRow[]
}

/** Refuses a change by throwing. Who charges by the prices knows the catalog, not the catalog them: app.ts hands it in. */
export type PriceGuard = (tx: Executor, change: PriceChange) => Promise<void>

export async function addResourcePrice(
  { db, clock }: Deps,
  guard: PriceGuard,
  terms: PriceTerms,
): Promise<ResourcePriceRow> {
  refuseBadPeriod(terms)
  const price = { id: newId(), ...terms, created_at: clock.now().toISOString() }
  const { resource_kind, currency } = price
  await transaction(db, async tx => {
    await lockSubject(tx, price)
    await insertPrice(tx, price)
    const after = await listPricesOf(tx, price)
    await guard(tx, { resource_kind, currency, before: after.filter(({ id }) => id !== price.id), after })
  }).catch(error => {
    throw overlapOf(error, price) ?? error
  })
  return price
}

export function refuseBadPeriod(terms: PriceTerms): void {
  const errors = periodErrors(terms, '')
  if (errors.length > 0) throw invalid('The body is not acceptable.', errors)
}

/** The conflict, when the error is that two prices would hold on one day. */
export function overlapOf(error: unknown, price: PriceTerms) {
  if (violatedConstraint(error) !== 'resource_prices_no_overlap') return undefined
  const message = `Another price of ${subjectOf(price)} holds in that time. End it first.`
  return conflict('price_overlap', message, { cause: error })
}
