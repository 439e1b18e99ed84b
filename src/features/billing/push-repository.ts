// SQL of what finance has been told.
import { sql } from 'kysely'
import type { Receipt } from '../../integrations/finance/index.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { PayloadLine } from './payload.ts'
import { publishInvoice } from './repository.ts'
import type { InvoiceRow } from './tables.ts'

/** Empty, where a hash would stand: finance may have something else than what was last recorded. */
const UNKNOWN_IF_PUSHED = sql<string | null>`case when pushed_lines_hash is not null then '' end`

const LINES_AT_A_TIME = 1_000

export type PushedInvoice = Pick<
  InvoiceRow,
  | 'id'
  | 'invoice_uuid'
  | 'period'
  | 'currency'
  | 'ingest_count'
  | 'line_count'
  | 'amount_net_minor'
  | 'amount_tax_minor'
  | 'push_count'
> & { lines_hash: string }

const TO_PUSH = sql<boolean>`lines_hash is not null and pushed_lines_hash is distinct from lines_hash`

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
    .returning(['id', 'invoice_uuid', 'period', 'currency', 'ingest_count', 'line_count'])
    .returning(['amount_net_minor', 'amount_tax_minor', 'lines_hash', 'push_count'])
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

/**
 * The lines in the order of the file, a batch at a time, and never those of two sets: when the set was replaced
 * meanwhile it throws, having counted the sets before and after.
 */
export async function* linesToPush(
  executor: Executor,
  { id, ingest_count }: PushedInvoice,
): AsyncGenerator<PayloadLine[]> {
  let after: { period: string; id: string } | null = null
  for (;;) {
    const rows: (PayloadLine & { id: string; period: string })[] = await executor
      .selectFrom('cloud_cost_lines')
      .select([
        'id',
        'period',
        'product',
        'group_description',
        'description',
        'kind',
        'project_name',
        'category',
      ])
      .select(['hours', 'start_at', 'end_at', 'amount', 'amount_minor', 'is_tax'])
      .where('invoice_id', '=', id)
      .$if(after !== null, q =>
        q.where(sql<boolean>`(period, id) > (${after!.period}::date, ${after!.id}::uuid)`),
      )
      .orderBy('period')
      .orderBy('id')
      .limit(LINES_AT_A_TIME)
      .execute()
    yield rows.map(({ id: _, period: __, ...line }) => line)
    after = rows.at(-1) ?? after
    if (rows.length < LINES_AT_A_TIME) break
  }
  const now = await executor
    .selectFrom('cloud_invoices')
    .select('ingest_count')
    .where('id', '=', id)
    .executeTakeFirst()
  if (now?.ingest_count !== ingest_count) throw new OvertakenError()
}

export class OvertakenError extends Error {
  constructor() {
    super('the lines were replaced while they were being pushed')
  }
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
