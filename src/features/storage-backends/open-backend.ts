// A backend's row, made into the place it stands for: the one moment its key is not encrypted.
import { type ObjectStore, StorageError, type StorageLocation } from '../../integrations/storage/index.ts'
import type { EncryptedTable } from '../../kernel/reencrypt.ts'
import { type Seal, type SecretKeys, sealFor } from '../../kernel/sealed.ts'
import { findActiveBackend } from './repository.ts'
import type { StorageKernel } from './storage-kernel.ts'
import type { StorageBackendRow } from './tables.ts'

export const storageSealOf = (secretKeys: SecretKeys): Seal => sealFor('storage backends', secretKeys)

/** Where their keys are encrypted. */
export const encryptedBackends = (secretKeys: SecretKeys): EncryptedTable => ({
  table: 'storage_backends',
  key: ['id'],
  columns: ['secret_access_key'],
  renew: storageSealOf(secretKeys).renew,
  placeOf: ({ id }) => id!,
})

export const openBackend = (
  { storage, storageSeal }: StorageKernel,
  backend: StorageBackendRow,
): ObjectStore => storage.open(locationOf(backend, storageSeal))

/** The place where files are kept now, with its name; undefined when there is none. */
export async function openActive(
  kernel: StorageKernel,
): Promise<{ name: string; store: ObjectStore } | undefined> {
  const backend = await findActiveBackend(kernel.db)
  return backend && { name: backend.name, store: openBackend(kernel, backend) }
}

function locationOf(row: StorageBackendRow, seal: Seal): StorageLocation {
  if (row.kind === 'local') return { kind: 'local', folder: row.folder! }
  return {
    kind: 's3',
    endpoint: row.endpoint!,
    bucket: row.bucket!,
    region: row.region!,
    prefix: row.prefix,
    pathStyle: row.path_style!,
    accessKeyId: row.access_key_id!,
    secretAccessKey: openKey(row, seal),
  }
}

function openKey({ id, secret_access_key }: StorageBackendRow, seal: Seal): string {
  try {
    return seal.open(secret_access_key!, id)
  } catch {
    throw new StorageError('its secret access key was sealed under another SECRET_KEY: set it again')
  }
}
