// SQL of the storage backends.

import { sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { StorageBackendRow } from './tables.ts'

/** The sealed key stays where it is. */
export type ShownBackend = Omit<StorageBackendRow, 'secret_access_key'> & { files: number }

const shown = (executor: Executor) =>
  executor
    .selectFrom('storage_backends')
    .select([
      'id',
      'name',
      'kind',
      'active',
      'folder',
      'endpoint',
      'bucket',
      'region',
      'prefix',
      'path_style',
      'access_key_id',
      'created_at',
      'created_by',
      'updated_at',
      sql<number>`(select count(*)::int from invoice_files where backend_id = storage_backends.id)`.as(
        'files',
      ),
    ])

/** Newest first. */
export function listBackends(
  executor: Executor,
  limit: number,
  before: string | null,
): Promise<ShownBackend[]> {
  return shown(executor)
    .$if(before !== null, query => query.where('id', '<', before!))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

export function findShownBackend(executor: Executor, id: string): Promise<ShownBackend | undefined> {
  return shown(executor).where('id', '=', id).executeTakeFirst()
}

export function findBackend(executor: Executor, id: string): Promise<StorageBackendRow | undefined> {
  return executor.selectFrom('storage_backends').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findActiveBackend(executor: Executor): Promise<StorageBackendRow | undefined> {
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

export async function deleteBackend(executor: Executor, id: string): Promise<boolean> {
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
