// SQL of the mirrored sizes and of their list prices over time.
import { sql } from 'kysely'
import type { Size as SeenSize } from '../../integrations/digitalocean/index.ts'
import { listPage } from '../../kernel/db/list.ts'
import type { Executor, Row } from '../../kernel/db/tables.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { PROVIDER } from './resource.ts'
import { Size, SizePrice } from './size.ts'

/** The provider names no currency for its list prices; it charges in this one. */
const CURRENCY = 'USD'

/** Writes what was seen; a price that is another than before ends that one and begins its own. */
export async function writeSizes(tx: Executor, seen: SeenSize[], at: string): Promise<void> {
  if (seen.length === 0) return
  await sql`
    insert into cloud_sizes (provider, slug, description, vcpus, memory_mb, disk_gb, transfer_tb, price_monthly, price_hourly,
      currency, regions, available, first_seen_at, last_seen_at)
    select ${PROVIDER}, s.slug, s.description, s.vcpus, s.memory_mb, s.disk_gb, s.transfer_tb, s.price_monthly, s.price_hourly,
      ${CURRENCY}, s.regions, s.available, ${at}, ${at}
    from jsonb_to_recordset(${JSON.stringify(seen)}::jsonb) as s (slug text, description text, vcpus int, memory_mb int,
      disk_gb int, transfer_tb numeric, price_monthly numeric, price_hourly numeric, regions text[], available boolean)
    on conflict (provider, slug) do update set description = excluded.description, vcpus = excluded.vcpus,
      memory_mb = excluded.memory_mb, disk_gb = excluded.disk_gb, transfer_tb = excluded.transfer_tb,
      price_monthly = excluded.price_monthly, price_hourly = excluded.price_hourly, currency = excluded.currency,
      regions = excluded.regions, available = excluded.available, last_seen_at = excluded.last_seen_at`.execute(
    tx,
  )
  const isOther = sql`(p.price_monthly, p.price_hourly, p.currency) is distinct from
    (s.price_monthly, s.price_hourly, s.currency)`
  await sql`
    update cloud_size_prices p set valid_to = ${at}::timestamptz from cloud_sizes s
    where (s.provider, s.slug) = (p.provider, p.slug) and p.valid_to is null and p.valid_from < ${at}::timestamptz
      and ${isOther}`.execute(tx)
  await sql`
    insert into cloud_size_prices (provider, slug, valid_from, price_monthly, price_hourly, currency)
    select s.provider, s.slug, ${at}, s.price_monthly, s.price_hourly, s.currency from cloud_sizes s
    where not exists (
      select from cloud_size_prices p where (p.provider, p.slug) = (s.provider, s.slug) and p.valid_to is null)`.execute(
    tx,
  )
}

export interface SizeFilter {
  available?: boolean
  region?: string
}

export const listSizes = (
  executor: Executor,
  { available, region }: SizeFilter,
  limit: number,
  after: Key | null,
): Promise<{ slug: string; json: string }[]> =>
  listPage(executor, {
    name: 'sizes',
    select: `select s.slug, ${jsonOf(Size, 's')}::text as json from cloud_sizes s`,
    where: `s.provider = '${PROVIDER}'`,
    filters: { available: ['s.available = ?', available], region: ['?::text = any(s.regions)', region] },
    orderBy: ['s.slug'],
    after,
    limit,
  })

/** Newest first; undefined when there is no such size. */
export async function listSizePrices(
  executor: Executor,
  slug: string,
  limit: number,
  after: Key | null,
): Promise<{ valid_from: string; json: string }[] | undefined> {
  const rows = await listPage<{ valid_from: string; json: string }>(executor, {
    name: 'size_prices',
    select: `select p.valid_from, ${jsonOf(SizePrice, 'p')}::text as json from cloud_size_prices p`,
    where: `p.provider = '${PROVIDER}'`,
    filters: { slug: ['p.slug = ?', slug] },
    orderBy: ['p.valid_from'],
    descending: true,
    after,
    limit,
  })
  return rows.length === 0 && after === null ? undefined : rows
}

/**
 * SQL, of two expressions: a row with `price_monthly`, `price_hourly` and `currency` of the size at that time, or none. Of
 * a time before the first price was seen it is the first.
 */
export const sizePriceThen = (slug: string, at: string): string => `
  select p.price_monthly, p.price_hourly, p.currency from cloud_size_prices p
  where p.provider = '${PROVIDER}' and p.slug = ${slug} and (p.valid_to is null or p.valid_to > ${at})
  order by p.valid_from limit 1`

type SizeThen = Pick<Row<'cloud_sizes'>, 'slug' | 'vcpus' | 'memory_mb' | 'disk_gb'> &
  Pick<Row<'cloud_size_prices'>, 'price_monthly' | 'price_hourly' | 'currency'>

/** Every size with what it cost by list at a time. */
export async function listSizesThen(executor: Executor, at: string): Promise<SizeThen[]> {
  const { rows } = await sql<SizeThen>`
    select s.slug, s.vcpus, s.memory_mb, s.disk_gb, p.*
    from (select ${at}::timestamptz as at) t
    cross join cloud_sizes s cross join lateral (${sql.raw(sizePriceThen('s.slug', 't.at'))}) p
    where s.provider = ${PROVIDER}`.execute(executor)
  return rows
}
