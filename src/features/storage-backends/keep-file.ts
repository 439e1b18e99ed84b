// Puts an invoice's raw file into the active backend, before and outside of the transaction that records it. Keys are made
// of the file's hash, so a file that was put and then not recorded is found under the same key the next time.
import type { Deps } from '../../deps.ts'
import { type FileToPut, type ObjectStore, StorageError } from '../../integrations/storage/index.ts'
import { newId } from '../../kernel/ids.ts'
import { findActive, isRecorded } from './file-repository.ts'
import { openBackend } from './open-backend.ts'
import type { InvoiceFileRow } from './tables.ts'

export interface FileToKeep extends FileToPut {
  invoiceId: string
  key: string
}

/** What is to be recorded (`recordFile`); undefined when no backend is active, or the active one has the file. */
export async function keepFile(
  deps: Deps,
  file: FileToKeep,
  signal: AbortSignal,
): Promise<InvoiceFileRow | undefined> {
  const { invoiceId: invoice_id, key, bytes, sha256 } = file
  const backend = await findActive(deps.db)
  if (!backend) return undefined
  try {
    const store = openBackend(deps, backend)
    if ((await isRecorded(deps.db, backend.id, file)) && (await isThere(store, file, signal)))
      return undefined
    await store.put(key, file, { signal })
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    throw new StorageError(
      `the file could not be kept in “${backend.name}”: ${error.message}`,
      error.fault,
      error.reason,
    )
  }
  const kept_at = deps.clock.now().toISOString()
  return { id: newId(), invoice_id, backend_id: backend.id, key, bytes, sha256, kept_at, lost_at: null }
}

/** What was kept may have been lost since. Where nobody can tell, it is put once more, which is harmless. */
async function isThere(
  store: ObjectStore,
  { key, bytes }: FileToKeep,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return await store.has(key, bytes, { signal })
  } catch (error) {
    if (error instanceof StorageError) return false
    throw error
  }
}
