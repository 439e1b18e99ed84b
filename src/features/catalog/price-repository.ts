// SQL of the resource prices.
import { sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { subjectOf } from './price-period.ts'
import type { ResourcePriceRow } from './tables.ts'

export interface PriceFilter {
  resource_kind?: string
  unit?: string
  currency?: string
  /** Only prices that hold on this day. */
  on?: string
}

/** Kind, unit, currency and first day: together they are one price. */
export type PriceKey = readonly [string, string, string, string]

export function listPrices(
  executor: Executor,
  { resource_kind, unit, currency, on }: PriceFilter,
  limit: number,
  after: PriceKey | null,
): Promise<ResourcePriceRow[]> {
  return executor
    .selectFrom('resource_prices')
    .selectAll()
    .$if(resource_kind !== undefined, q => q.where('resource_kind', '=', resource_kind!))
    .$if(unit !== undefined, q => q.where('unit', '=', unit!))
    .$if(currency !== undefined, q => q.where('currency', '=', currency!))
    .$if(on !== undefined, q =>
      q
        .where('effective_from', '<=', on!)
        .where(eb => eb.or([eb('effective_to', 'is', null), eb('effective_to', '>', on!)])),
    )
    .$if(after !== null, q =>
      q.where(
        sql<boolean>`(resource_kind, unit, currency, effective_from) > (${after![0]}, ${after![1]}, ${after![2]}, ${after![3]}::date)`,
      ),
    )
    .orderBy('resource_kind')
    .orderBy('unit')
    .orderBy('currency')
    .orderBy('effective_from')
    .limit(limit)
    .execute()
}

export function findPrice(executor: Executor, id: string): Promise<ResourcePriceRow | undefined> {
  return executor.selectFrom('resource_prices').selectAll().where('id', '=', id).executeTakeFirst()
}

/**
 * Writers of one subject's prices take turns. The constraint would settle it without this, but of two that clash at
 * once each waits for the other until the database finds the deadlock.
 */
export async function lockSubject(
  tx: Executor,
  price: Pick<ResourcePriceRow, 'resource_kind' | 'unit' | 'currency'>,
): Promise<void> {
  const subject = `resource_prices ${subjectOf(price)}`
  await sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 0))`.execute(tx)
}

/** All that a kind costs in a currency, whenever and by whatever unit. */
export function listPricesOf(
  executor: Executor,
  { resource_kind, currency }: Pick<ResourcePriceRow, 'resource_kind' | 'currency'>,
): Promise<ResourcePriceRow[]> {
  return executor
    .selectFrom('resource_prices')
    .selectAll()
    .where('resource_kind', '=', resource_kind)
    .where('currency', '=', currency)
    .execute()
}

const PRICES = auditedTable('resource_prices', { key: ['id'] })

export async function insertPrice(tx: Executor, price: ResourcePriceRow): Promise<void> {
  await PRICES.insert(tx, [price])
}

export async function setPriceEnd(
  tx: Executor,
  id: string,
  effectiveTo: string | null,
): Promise<ResourcePriceRow | undefined> {
  return (await PRICES.update(tx, { id }, { effective_to: effectiveTo }))[0]
}

/** Prices that hold on some day from the first to the last. */
export function listPricesBetween(
  executor: Executor,
  firstDay: string,
  lastDay: string,
): Promise<ResourcePriceRow[]> {
  return executor
    .selectFrom('resource_prices')
    .selectAll()
    .where('effective_from', '<=', lastDay)
    .where(eb => eb.or([eb('effective_to', 'is', null), eb('effective_to', '>', firstDay)]))
    .execute()
}
