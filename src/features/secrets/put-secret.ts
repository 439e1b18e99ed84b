// Makes a secret, or gives it another value. The row's lock puts writers in a line: each new value gets the next version,
// and none is skipped. The value that stands already changes nothing, so that a put may be sent again.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { announce } from './announce.ts'
import { newSecret, type SecretValue } from './new-secret.ts'
import { insertSecret, lockSecret, updateSecret } from './repository.ts'
import type { SecretRow } from './tables.ts'

export interface PutSecret {
  row: SecretRow
  created: boolean
}

export async function putSecret(
  deps: Deps,
  name: string,
  given: SecretValue,
  by: string,
): Promise<PutSecret> {
  const first = newSecret(deps, name, given, by)
  const put = await transaction(deps.db, async (tx): Promise<PutSecret> => {
    for (;;) {
      if (await insertSecret(tx, first)) return { row: first, created: true }
      const standing = await lockSecret(tx, name)
      // Deleted since: it is made anew.
      if (!standing) continue
      const changes = changesTo(deps, standing, first, given)
      if (Object.keys(changes).length === 0) return { row: standing, created: false }
      const row = { ...standing, ...changes, updated_at: first.updated_at, updated_by: by }
      await updateSecret(tx, row)
      return { row, created: false }
    }
  })
  await announce(deps, name)
  return put
}

function changesTo(
  { vault }: Deps,
  { name, version, sealed: old, description: standing }: SecretRow,
  { sealed, fingerprint }: SecretRow,
  { value, description = standing }: SecretValue,
): Partial<SecretRow> {
  // One that can no longer be read counts as another value: it is sealed anew.
  const another = vault.decrypt(name, old) !== value
  return {
    ...(description !== standing && { description }),
    ...(another && { version: version + 1, sealed, fingerprint }),
  }
}
