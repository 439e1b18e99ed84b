// All SQL of the balance and of the invoices: their ingest, and what finance has been told. Lines are in line-store.ts.
import { sql } from 'kysely'
import type { Receipt } from '../../integrations/finance/index.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { PROVIDER } from '../inventory/index.ts'
import { type EventType, publishEvents } from '../webhooks/index.ts'
import {
  Balance,
  type BalanceSnapshotRow,
  FINANCE_STATUS,
  type IngestStatus,
  Invoice,
  type InvoiceRow,
  type ShownInvoice,
} from './invoice.ts'

export async function insertBalance(executor: Executor, row: BalanceSnapshotRow): Promise<void> {
  await executor.insertInto('cloud_balance_snapshots').values(row).execute()
}

export function latestBalance(executor: Executor): Promise<BalanceSnapshotRow | undefined> {
  return executor
    .selectFrom('cloud_balance_snapshots')
    .selectAll()
    .where('provider', '=', PROVIDER)
    .orderBy('recorded_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

export interface BalanceFilter {
  /** The first day and the last. */
  from?: string
  to?: string
  /** Only the last of each day in UTC. */
  daily: boolean
}

const LAST_OF_DAY = `not exists (
  select from cloud_balance_snapshots later where later.provider = b.provider
    and (later.recorded_at, later.id) > (b.recorded_at, b.id)
    and later.recorded_at < date_trunc('day', b.recorded_at, 'UTC') + interval '1 day')`

/** Oldest first. */
export const listBalances = (
  executor: Executor,
  { from, to, daily }: BalanceFilter,
  limit: number,
  after: Key | null,
): Promise<{ recorded_at: string; id: string; json: string }[]> =>
  listPage(executor, {
    name: daily ? 'balances_daily' : 'balances',
    select: `select b.recorded_at, b.id, ${jsonOf(Balance, 'b')}::text as json from cloud_balance_snapshots b`,
    where: `b.provider = '${PROVIDER}'${daily ? ` and ${LAST_OF_DAY}` : ''}`,
    filters: { from: ['b.recorded_at >= ?::date', from], to: ['b.recorded_at < ?::date + 1', to] },
    orderBy: ['b.recorded_at', 'b.id'],
    after,
    limit,
  })

export type ListedInvoice = Pick<InvoiceRow, 'invoice_uuid' | 'invoice_number' | 'period' | 'amount'>

/**
 * Headers as the provider lists them. One whose amount or month has changed is to be fetched again, and its lines count as
 * neither reconciled nor pushed until then; a changed month also forgets the file's hash, because its lines bear the month. What has not changed is not touched: an invoice that
 * is being ingested is locked, and must not be waited for.
 */
export async function upsertInvoices(tx: Executor, listed: ListedInvoice[], at: string): Promise<void> {
  if (listed.length === 0) return
  await sql`
    with listed as (
      select * from jsonb_to_recordset(${JSON.stringify(listed)}::jsonb)
        as l (invoice_uuid text, invoice_number text, period date, amount numeric)
    ), changed as (
      update cloud_invoices i set invoice_number = l.invoice_number, period = l.period, amount = l.amount,
        ingest_status = case when (i.period, i.amount) is distinct from (l.period, l.amount)
          then 'pending' else i.ingest_status end,
        awaits_file = i.awaits_file
          or (i.lines_hash is not null and (i.period, i.amount) is distinct from (l.period, l.amount)),
        reconciled = case when i.reconciled and (i.period, i.amount) is distinct from (l.period, l.amount)
          then false else i.reconciled end,
        sha256 = case when i.period = l.period then i.sha256 end,
        updated_at = ${at}
      from listed l
      where i.provider = ${PROVIDER} and i.invoice_uuid = l.invoice_uuid
        and (i.invoice_number, i.period, i.amount) is distinct from (l.invoice_number, l.period, l.amount)
    )
    insert into cloud_invoices (id, provider, invoice_uuid, invoice_number, period, amount, currency, created_at, updated_at)
    select uuid_v7(), ${PROVIDER}, l.invoice_uuid, l.invoice_number, l.period, l.amount, 'USD', ${at}, ${at}
    from listed l
    where not exists (
      select from cloud_invoices i where i.provider = ${PROVIDER} and i.invoice_uuid = l.invoice_uuid)
    on conflict (provider, invoice_uuid) do nothing`.execute(tx)
}

/** Oldest first. */
export async function listToIngest(executor: Executor): Promise<string[]> {
  const rows = await executor
    .selectFrom('cloud_invoices')
    .select('id')
    .where('provider', '=', PROVIDER)
    .where('ingest_status', 'in', ['pending', 'failed'])
    .orderBy('period')
    .orderBy('id')
    .execute()
  return rows.map(row => row.id)
}

export function findInvoice(executor: Executor, id: string): Promise<InvoiceRow | undefined> {
  return executor.selectFrom('cloud_invoices').selectAll().where('id', '=', id).executeTakeFirst()
}

export function lockInvoice(tx: Executor, id: string): Promise<InvoiceRow | undefined> {
  return tx.selectFrom('cloud_invoices').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/**
 * Keeps an ingest of the invoice from beginning; fails with a conflict when one is under way, rather than wait for it:
 * the line that is asked about would be gone afterwards.
 */
export async function lockAgainstIngest(tx: Executor, id: string): Promise<void> {
  await tx
    .selectFrom('cloud_invoices')
    .select('id')
    .where('id', '=', id)
    .forKeyShare()
    .noWait()
    .executeTakeFirst()
}

type NewSet = Pick<InvoiceRow, 'currency' | 'sha256' | 'lines_hash' | 'ingested_at'>

/** The invoice as it was when its file was asked for. */
type AskedFor = Pick<InvoiceRow, 'id' | 'period' | 'amount' | 'ingest_count'>

/** A header that changed while its file was on the way may have another file by now: it is to be fetched again. */
const settled = ({ period, amount }: AskedFor, sum: ReturnType<typeof sql>) => {
  const isAsAsked = sql`(i.period, i.amount) = (${period}::date, ${amount}::numeric)`
  return sql`ingest_status = case when ${isAsAsked} then 'ingested' else 'pending' end, ingest_error = null,
      awaits_file = not ${isAsAsked}, reconciled = ${isAsAsked} and ${reconciled(sum)}`
}

/** Sums up the invoice's lines as they now are. */
export async function finishIngest(tx: Executor, asked: AskedFor, set: NewSet): Promise<void> {
  const { id } = asked
  await sql`
    update cloud_invoices i set currency = ${set.currency}, sha256 = ${set.sha256}, lines_hash = ${set.lines_hash},
      ingested_at = ${set.ingested_at}, updated_at = ${set.ingested_at}, ingest_count = i.ingest_count + 1,
      line_count = s.lines, lines_amount = s.amount, amount_net_minor = s.net, amount_tax_minor = s.tax,
      ${settled(asked, sql`s.amount`)}
    from (
      select count(*)::int as lines, coalesce(sum(amount), 0) as amount,
        coalesce(sum(amount_minor) filter (where not is_tax), 0) as net,
        coalesce(sum(amount_minor) filter (where is_tax), 0) as tax
      from cloud_cost_lines where invoice_id = ${id}
    ) s
    where i.id = ${id}`.execute(tx)
  await publishInvoice(tx, 'invoice.ingested', id)
}

const PUBLISH = {
  name: 'invoice',
  text: `select $1::text as type, null::text as tenant_id, i.updated_at as occurred_at,
      json_build_object('tenant_id', null, 'invoice', ${jsonOf(Invoice, 'i')}) as data
    from cloud_invoices i where i.id = $2::uuid`,
}

/** An invoice is the platform's: its lines are the tenants'. */
const publishInvoice = (tx: Executor, type: EventType, id: string): Promise<void> =>
  publishEvents(tx, PUBLISH, [type, id])

/** The header has no more decimals than its currency; the lines may have, and only their sum is rounded. */
const reconciled = (sum: ReturnType<typeof sql>) => sql`round(${sum}, scale(i.amount)) = i.amount`

/** The file is the one that the lines are from. False when another ingest has finished meanwhile. */
export async function markUnchanged(executor: Executor, asked: AskedFor, at: string): Promise<boolean> {
  const { id, ingest_count } = asked
  return transaction(executor, async tx => {
    const { rows } = await sql<{ before: IngestStatus }>`
      with was as (select * from cloud_invoices where id = ${id} and ingest_count = ${ingest_count} for no key update)
      update cloud_invoices i set updated_at = ${at}, ${settled(asked, sql`i.lines_amount`)}
      from was where i.id = was.id returning was.ingest_status as before`.execute(tx)
    if (rows[0] && rows[0].before !== 'ingested') await publishInvoice(tx, 'invoice.ingested', id)
    return rows.length > 0
  })
}

/** What was ingested before still stands. Says nothing when another ingest has finished meanwhile. */
export async function markFailed(
  executor: Executor,
  { id, ingest_count }: Pick<InvoiceRow, 'id' | 'ingest_count'>,
  error: string,
  at: string,
): Promise<void> {
  await transaction(executor, async tx => {
    const { rows } = await sql<{ is_known: boolean }>`
      with was as (select * from cloud_invoices where id = ${id} and ingest_count = ${ingest_count} for no key update)
      update cloud_invoices i set ingest_status = 'failed', ingest_error = ${error}, updated_at = ${at}
      from was where i.id = was.id
      returning was.ingest_status = 'failed' and was.ingest_error is not distinct from i.ingest_error as is_known`.execute(
      tx,
    )
    // The same failure is published once, however often it is met.
    if (rows[0]?.is_known === false) await publishInvoice(tx, 'invoice.ingest_failed', id)
  })
}

export interface InvoiceFilter {
  ingest_status?: IngestStatus
  finance_status?: string
  reconciled?: boolean
  period?: string
}

/** Newest month first. */
export const listInvoices = (
  executor: Executor,
  filter: InvoiceFilter,
  limit: number,
  after: Key | null,
): Promise<{ period: string; id: string; json: string }[]> =>
  listPage(executor, {
    name: 'invoices',
    select: `select i.period, i.id, ${jsonOf(Invoice, 'i')}::text as json from cloud_invoices i`,
    filters: {
      ingest_status: ['i.ingest_status = ?', filter.ingest_status],
      // There is one a month: these need no index.
      finance_status: [`${FINANCE_STATUS.replaceAll('$.', 'i.')} = ?`, filter.finance_status],
      reconciled: ['i.reconciled = ?', filter.reconciled],
      period: ['i.period = ?::date', filter.period],
    },
    orderBy: ['i.period', 'i.id'],
    descending: true,
    after,
    limit,
  })

const SHOW = {
  name: 'invoice_show',
  text: `select ${jsonOf(Invoice, 'i')} as invoice from cloud_invoices i where i.id = $1::uuid`,
}

export async function showInvoice(executor: Executor, id: string): Promise<ShownInvoice | undefined> {
  const rows = await runStatement<{ invoice: ShownInvoice }>(executor, SHOW, [id])
  return rows[0]?.invoice
}

/** Empty, where a hash would stand: finance may have something else than what was last recorded. */
const UNKNOWN_IF_PUSHED = sql<string | null>`case when pushed_lines_hash is not null then '' end`

/** One that has lines. */
export type PushedInvoice = InvoiceRow & { lines_hash: string }

const UNKNOWN_LINES = sql<boolean>`lines_hash is not null and pushed_lines_hash is distinct from lines_hash`

/** Lines that the provider has changed since are not worth telling: the new ones are on their way. */
const TO_PUSH = sql<boolean>`${UNKNOWN_LINES} and not awaits_file`

/**
 * The invoice, if it has lines that finance does not know. From now until the receipt is kept, nobody knows which set
 * finance has: should the lines meanwhile go back to what they were, finance must hear of it all the same.
 */
export async function beginPush(executor: Executor, id: string): Promise<PushedInvoice | undefined> {
  const row = await executor
    .updateTable('cloud_invoices')
    .set({ push_count: sql`push_count + 1`, pushed_lines_hash: UNKNOWN_IF_PUSHED })
    .where('id', '=', id)
    .where(TO_PUSH)
    .returningAll()
    .executeTakeFirst()
  return row as PushedInvoice | undefined
}

/** A page of the invoices that finance is to be told of, in the order of ids. */
export async function listToPush(executor: Executor, after: string | null, limit: number): Promise<string[]> {
  const rows = await executor
    .selectFrom('cloud_invoices')
    .select('id')
    .where(TO_PUSH)
    .$if(after !== null, q => q.where('id', '>', after!))
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(row => row.id)
}

export interface TroubledInvoices {
  not_ingested: number
  ingest_failed: number
  not_pushed: number
  not_reconciled: number
}

export async function countTroubledInvoices(executor: Executor): Promise<TroubledInvoices> {
  const { rows } = await sql<TroubledInvoices>`
    select count(*) filter (where lines_hash is null)::int as not_ingested,
      count(*) filter (where ingest_status = 'failed')::int as ingest_failed,
      count(*) filter (where ${UNKNOWN_LINES} or awaits_file)::int as not_pushed,
      count(*) filter (where not reconciled)::int as not_reconciled
    from cloud_invoices`.execute(executor)
  return rows[0]!
}

export async function countToPush(executor: Executor): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from cloud_invoices where ${TO_PUSH}`.execute(executor)
  return rows[0]!.count
}

/** Finance is to be told again, whatever it has been told. */
export async function forgetPushed(executor: Executor, id: string): Promise<void> {
  await executor
    .updateTable('cloud_invoices')
    .set({ pushed_lines_hash: UNKNOWN_IF_PUSHED })
    .where('id', '=', id)
    .execute()
}

/** False when the lines are no longer those that were sent, or another push has begun: finance is to be told again. */
export async function recordReceipt(
  executor: Executor,
  { id, lines_hash, push_count }: PushedInvoice,
  { id: financeId, action }: Receipt,
  at: string,
): Promise<boolean> {
  return transaction(executor, async tx => {
    const result = await tx
      .updateTable('cloud_invoices')
      .set({
        pushed_to_finance_at: at,
        finance_invoice_id: financeId,
        finance_action: action,
        pushed_lines_hash: lines_hash,
        finance_error: null,
        updated_at: at,
      })
      .where('id', '=', id)
      .where('lines_hash', '=', lines_hash)
      .where('push_count', '=', push_count)
      .executeTakeFirst()
    if (result.numUpdatedRows === 0n) return false
    await publishInvoice(tx, 'invoice.pushed', id)
    return true
  })
}

/** The push may have reached finance all the same. */
export async function recordFinanceError(
  executor: Executor,
  id: string,
  message: string,
  at: string,
): Promise<void> {
  await executor
    .updateTable('cloud_invoices')
    .set({ finance_error: message, pushed_lines_hash: UNKNOWN_IF_PUSHED, updated_at: at })
    .where('id', '=', id)
    .execute()
}
