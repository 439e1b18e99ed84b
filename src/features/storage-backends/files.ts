// Invoices' raw files in storage backends: put into the active one, recorded, and read back.
import type { Deps } from '../../deps.ts'
import {
  type FileToPut,
  type ObjectStore,
  StorageError,
  type StorageLocation,
  verified,
} from '../../integrations/storage/index.ts'
import type { Encryption } from '../../kernel/crypto.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { AppError, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { InvoiceFileRow, StorageBackendRow } from './storage-backend.ts'
import { findActive, findBackend, insertFile, isRecorded, type KeptFile, markLost } from './store.ts'

type StorageDeps = Pick<Deps, 'db' | 'clock' | 'log' | 'storage' | 'storageEncryption'>

/** The one moment a backend's key is not encrypted. */
export const openBackend = (
  { storage, storageEncryption }: Pick<StorageDeps, 'storage' | 'storageEncryption'>,
  backend: StorageBackendRow,
): ObjectStore => storage.open(locationOf(backend, storageEncryption))

/** The active backend with its name; undefined when there is none. */
export async function openActive(
  deps: Pick<StorageDeps, 'db' | 'storage' | 'storageEncryption'>,
): Promise<{ name: string; store: ObjectStore } | undefined> {
  const backend = await findActive(deps.db)
  return backend && { name: backend.name, store: openBackend(deps, backend) }
}

function locationOf(row: StorageBackendRow, encryption: Encryption): StorageLocation {
  if (row.kind === 'local') return { kind: 'local', folder: row.folder! }
  return {
    kind: 's3',
    endpoint: row.endpoint!,
    bucket: row.bucket!,
    region: row.region!,
    prefix: row.prefix,
    pathStyle: row.path_style!,
    accessKeyId: row.access_key_id!,
    secretAccessKey: decryptKey(row, encryption),
  }
}

function decryptKey({ id, secret_access_key }: StorageBackendRow, encryption: Encryption): string {
  try {
    return encryption.decrypt(secret_access_key!, id)
  } catch {
    throw new StorageError('its secret access key was sealed under another SECRET_KEY: set it again')
  }
}

export interface FileToKeep extends FileToPut {
  invoiceId: string
  key: string
}

/**
 * Puts a file into the active backend, before and outside of the transaction that records it (`recordFile`). Keys are made of
 * the file's hash, so a file that was put and then not recorded is found under the same key the next time. Undefined when no
 * backend is active, or the active one has the file.
 */
export async function keepFile(
  deps: StorageDeps,
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

/** In the transaction that writes what the file is for. */
export async function recordFile(tx: Executor, file: InvoiceFileRow): Promise<void> {
  try {
    await insertFile(tx, file)
  } catch (error) {
    if (violatedConstraint(error) !== 'invoice_files_backend') throw error
    throw new StorageError('the storage backend was deleted while the file was put there')
  }
}

/**
 * The bytes are compared with the file's hash while they pass. What is wrong before the first of them leaves is an ordinary
 * problem; later, it breaks the reading off. Either way it is logged: an invoice may be lost.
 */
export async function* readFile(deps: StorageDeps, file: KeptFile): AsyncGenerator<Uint8Array> {
  const backend = await findBackend(deps.db, file.backend_id)
  if (!backend) throw notFound()
  try {
    yield* verified(await openBackend(deps, backend).get(file.key), file)
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    const { backend: name, key, sha256 } = file
    if (error.fault !== 'failed') await markLost(deps.db, file.id, deps.clock.now().toISOString())
    deps.log.error({ err: error, backend: name, key, sha256 }, 'a kept file cannot be read back')
    const message = `“${name}” does not give the file: ${error.message}.`
    throw new AppError('unavailable', 'file_unavailable', message, { cause: error })
  }
}
