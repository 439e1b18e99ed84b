// All SQL of the storage backends, and of the files that were kept in them.
import { auditedTable } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { columnsOf, jsonOf } from '../../kernel/noun.ts'
import {
  InvoiceFile,
  type InvoiceFileRow,
  StorageBackend,
  type StorageBackendRow,
} from './storage-backend.ts'

const SELECT_BACKENDS = `select b.id, ${jsonOf(StorageBackend, 'b')}::text as json from storage_backends b`

/** Newest first. */
export const listBackends = (
  executor: Executor,
  limit: number,
  after: Key | null,
): Promise<{ id: string; json: string }[]> =>
  listPage(executor, {
    name: 'storage_backends',
    select: SELECT_BACKENDS,
    orderBy: ['b.id'],
    descending: true,
    after,
    limit,
  })

/** As JSON text. */
export async function showBackend(executor: Executor, id: string): Promise<string | undefined> {
  const statement = { name: 'storage_backend_show', text: `${SELECT_BACKENDS} where b.id = $1` }
  return (await runStatement<{ json: string }>(executor, statement, [id]))[0]?.json
}

export function findBackend(executor: Executor, id: string): Promise<StorageBackendRow | undefined> {
  return executor.selectFrom('storage_backends').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findActive(executor: Executor): Promise<StorageBackendRow | undefined> {
  return executor.selectFrom('storage_backends').selectAll().where('active', '=', true).executeTakeFirst()
}

export function lockBackend(tx: Executor, id: string): Promise<StorageBackendRow | undefined> {
  return tx
    .selectFrom('storage_backends')
    .selectAll()
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

const BACKENDS = auditedTable('storage_backends', {
  key: ['id'],
  silent: ['updated_at'],
  secret: ['secret_access_key'],
})

export async function insertBackend(executor: Executor, row: StorageBackendRow): Promise<void> {
  await BACKENDS.insert(executor, [row])
}

export async function updateBackend(
  executor: Executor,
  id: string,
  changes: Partial<StorageBackendRow>,
): Promise<void> {
  await BACKENDS.update(executor, { id }, changes)
}

/** False when there is none. */
export async function removeBackend(executor: Executor, id: string): Promise<boolean> {
  return (await BACKENDS.delete(executor, { id })).length > 0
}

/**
 * All of them, in one order, so that those who choose the active one take turns. A file that is being recorded is not
 * waited for.
 */
export async function lockAllBackends(tx: Executor): Promise<void> {
  await tx.selectFrom('storage_backends').select('id').orderBy('id').forNoKeyUpdate().execute()
}

/** False when there is no such backend. The one that was active before is not any more. */
export async function setActive(tx: Executor, id: string, at: string): Promise<boolean> {
  await BACKENDS.update(tx, query => query.where('active', '=', true).where('id', '!=', id), {
    active: false,
    updated_at: at,
  })
  const active = await BACKENDS.update(tx, { id, active: false }, { active: true, updated_at: at })
  return active.length > 0 || (await findBackend(tx, id)) !== undefined
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

const SELECT_FILES = `select f.id, b.name as backend, ${columnsOf(InvoiceFile)
  .map(column => `f.${column}`)
  .join(', ')}
  from invoice_files f join storage_backends b on b.id = f.backend_id`

/** All that were ever kept of the invoice, newest first. */
export const listFiles = (
  executor: Executor,
  invoiceId: string,
  limit: number,
  after: Key | null,
): Promise<KeptFile[]> =>
  listPage(executor, {
    name: 'invoice_files',
    select: SELECT_FILES,
    filters: { invoice: ['f.invoice_id = ?', invoiceId] },
    orderBy: ['f.id'],
    descending: true,
    after,
    limit,
  })

const FIND_COPIES = {
  name: 'invoice_file_copies',
  text: `${SELECT_FILES} where f.invoice_id = $1 and f.sha256 = $2
    order by f.lost_at is not null, b.active desc, f.id desc limit $3`,
}

/**
 * The invoice's file of this hash, from every backend that was given it: those that were found to have lost it last, of
 * the others the active one first, then the one that got it last.
 */
export const findCopies = (executor: Executor, invoiceId: string, sha256: string): Promise<KeptFile[]> =>
  runStatement(executor, FIND_COPIES, [invoiceId, sha256, null])

/** The first of them. */
export async function findFile(
  executor: Executor,
  invoiceId: string,
  sha256: string,
): Promise<KeptFile | undefined> {
  return (await runStatement<KeptFile>(executor, FIND_COPIES, [invoiceId, sha256, 1]))[0]
}
