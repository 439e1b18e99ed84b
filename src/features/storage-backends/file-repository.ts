// SQL of the files that are kept: which there are, and which were lost.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import type { InvoiceFileRow, StorageBackendRow } from './tables.ts'

export function findActive(executor: Executor): Promise<StorageBackendRow | undefined> {
  return executor.selectFrom('storage_backends').selectAll().where('active', '=', true).executeTakeFirst()
}

/** Whether the backend was given this file of the invoice, and nobody has missed it there since. */
export async function isRecorded(
  executor: Executor,
  backendId: string,
  { invoiceId, sha256 }: { invoiceId: string; sha256: string },
): Promise<boolean> {
  const row = await executor
    .selectFrom('invoice_files')
    .select('id')
    .where('invoice_id', '=', invoiceId)
    .where('sha256', '=', sha256)
    .where('backend_id', '=', backendId)
    .where('lost_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

/** Two jobs that kept the same file say the same; one that was lost is there again. */
export async function insertFile(tx: Executor, row: InvoiceFileRow): Promise<void> {
  await tx
    .insertInto('invoice_files')
    .values(row)
    .onConflict(conflict =>
      conflict.constraint('invoice_files_once').doUpdateSet({ kept_at: row.kept_at, lost_at: null }),
    )
    .execute()
}

export async function markLost(executor: Executor, id: string, at: string): Promise<void> {
  await executor
    .updateTable('invoice_files')
    .set({ lost_at: at })
    .where('id', '=', id)
    .where('lost_at', 'is', null)
    .execute()
}

export interface KeptFile extends Omit<InvoiceFileRow, 'invoice_id' | 'lost_at'> {
  /** The backend's name. */
  backend: string
}

const keptFiles = (executor: Executor, invoiceId: string) =>
  executor
    .selectFrom('invoice_files as f')
    .innerJoin('storage_backends as b', 'b.id', 'f.backend_id')
    .select(['f.id', 'f.backend_id', 'b.name as backend', 'f.key', 'f.bytes', 'f.sha256', 'f.kept_at'])
    .where('f.invoice_id', '=', invoiceId)

/** All that were ever kept of the invoice, newest first. */
export function listFiles(
  executor: Executor,
  invoiceId: string,
  limit: number,
  before: string | null,
): Promise<KeptFile[]> {
  return keptFiles(executor, invoiceId)
    .$if(before !== null, query => query.where('f.id', '<', before!))
    .orderBy('f.id', 'desc')
    .limit(limit)
    .execute()
}

const copies = (executor: Executor, invoiceId: string, sha256: string) =>
  keptFiles(executor, invoiceId)
    .where('f.sha256', '=', sha256)
    .orderBy(sql`f.lost_at is not null`)
    .orderBy('b.active', 'desc')
    .orderBy('f.id', 'desc')

/**
 * The invoice's file of this hash, from every backend that was given it: those that were found to have lost it last, of
 * the others the active one first, then the one that got it last.
 */
export const findCopies = (executor: Executor, invoiceId: string, sha256: string): Promise<KeptFile[]> =>
  copies(executor, invoiceId, sha256).execute()

/** The first of them. */
export const findFile = (
  executor: Executor,
  invoiceId: string,
  sha256: string,
): Promise<KeptFile | undefined> => copies(executor, invoiceId, sha256).limit(1).executeTakeFirst()
