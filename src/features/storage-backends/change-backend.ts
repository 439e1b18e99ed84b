// Another name, another way to the same files, another key to them. Where the files are cannot change: those that are kept
// would be lost, and one that is being kept would be recorded where it is not.

import type { Static } from 'typebox'
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { refuseBadSettings, refuseTakenName } from './create-backend.ts'
import { lockBackend, updateBackend } from './repository.ts'
import type { ChangeBody } from './schemas.ts'
import type { Settings } from './settings.ts'
import type { StorageBackendRow } from './tables.ts'

export function changeBackend(deps: Deps, id: string, body: Static<typeof ChangeBody>): Promise<void> {
  const { name, ...changes } = body
  return refuseTakenName(() =>
    transaction(deps.db, async tx => {
      const row = await lockBackend(tx, id)
      if (!row) throw notFound()
      refuseBadSettings(deps, { ...settingsOf(row), ...changes })
      if (changes.access_key_id !== undefined && changes.secret_access_key === undefined) {
        const message = 'is required with a new access_key_id'
        throw invalid('The body is not acceptable.', [{ pointer: '/secret_access_key', message }])
      }
      const { secret_access_key: key, ...others } = changes
      await updateBackend(tx, id, {
        ...others,
        ...(name !== undefined && { name }),
        ...(key !== undefined && { secret_access_key: deps.storageEncryption.encrypt(key, id) }),
        updated_at: deps.clock.now().toISOString(),
      })
    }),
  )
}

/** As they would have to be said to make the row; the sealed key stands for the key. */
function settingsOf(row: StorageBackendRow): Settings {
  const { kind, folder, endpoint, bucket, region, prefix, path_style, access_key_id, secret_access_key } = row
  const all = { folder, endpoint, bucket, region, prefix, path_style, access_key_id, secret_access_key }
  const set = Object.entries(all).filter(([, value]) => value !== null)
  return { kind, ...Object.fromEntries(set) }
}
