// A backend's row, made into the place it stands for: the one moment its key is not encrypted.
import type { Deps } from '../../deps.ts'
import { type ObjectStore, StorageError, type StorageLocation } from '../../integrations/storage/index.ts'
import { type Encryption, encryptionFor, type SecretKeys } from '../../kernel/crypto.ts'
import type { EncryptedTable } from '../../kernel/crypto-rotation.ts'
import { findActiveBackend } from './repository.ts'
import type { StorageBackendRow } from './tables.ts'

export const storageEncryptionOf = (secretKeys: SecretKeys): Encryption =>
  encryptionFor('storage backends', secretKeys)

/** Where their keys are encrypted. */
export const encryptedBackends = (secretKeys: SecretKeys): EncryptedTable => ({
  table: 'storage_backends',
  key: ['id'],
  columns: ['secret_access_key'],
  reencrypt: storageEncryptionOf(secretKeys).reencrypt,
  placeOf: ({ id }) => id!,
})

export const openBackend = ({ storage, storageEncryption }: Deps, backend: StorageBackendRow): ObjectStore =>
  storage.open(locationOf(backend, storageEncryption))

/** The place where files are kept now, with its name; undefined when there is none. */
export async function openActive(deps: Deps): Promise<{ name: string; store: ObjectStore } | undefined> {
  const backend = await findActiveBackend(deps.db)
  return backend && { name: backend.name, store: openBackend(deps, backend) }
}

function locationOf(row: StorageBackendRow, seal: Encryption): StorageLocation {
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

function openKey({ id, secret_access_key }: StorageBackendRow, seal: Encryption): string {
  try {
    return seal.decrypt(secret_access_key!, id)
  } catch {
    throw new StorageError('its secret access key was sealed under another SECRET_KEY: set it again')
  }
}
