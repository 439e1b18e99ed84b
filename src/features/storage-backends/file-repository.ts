// SQL of the files that are kept: which there are, and which the active backend still lacks.
import type { Executor } from '../../kernel/db/tables.ts'
import type { InvoiceFileRow, StorageBackendRow } from './tables.ts'

/** The active backend, unless it has this file of the invoice already. */
export function findActiveWithout(
  executor: Executor,
  invoiceId: string,
  sha256: string,
): Promise<StorageBackendRow | undefined> {
  return executor
    .selectFrom('storage_backends as b')
    .selectAll('b')
    .where('b.active', '=', true)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('invoice_files as f')
            .select('f.id')
            .where('f.invoice_id', '=', invoiceId)
            .where('f.sha256', '=', sha256)
            .whereRef('f.backend_id', '=', 'b.id'),
        ),
      ),
    )
    .executeTakeFirst()
}

/** Two jobs that kept the same file say the same. */
export async function insertFile(tx: Executor, row: InvoiceFileRow): Promise<void> {
  await tx
    .insertInto('invoice_files')
    .values(row)
    .onConflict(conflict => conflict.constraint('invoice_files_once').doNothing())
    .execute()
}

export interface KeptFile extends Omit<InvoiceFileRow, 'invoice_id'> {
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

/** The invoice's file of this hash; of several backends that have it, the active one's, else the one that got it last. */
export function findFile(
  executor: Executor,
  invoiceId: string,
  sha256: string,
): Promise<KeptFile | undefined> {
  return keptFiles(executor, invoiceId)
    .where('f.sha256', '=', sha256)
    .orderBy('b.active', 'desc')
    .orderBy('f.id', 'desc')
    .limit(1)
    .executeTakeFirst()
}
