// Makes a secret, or gives it another value. The row's lock puts writers in a line: each new value gets the next version,
// and none is skipped. The value that stands already changes nothing, so that a put may be sent again.
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, invalid } from '../../kernel/errors.ts'
import { complaintsAbout } from './bad-secret.ts'
import { insertSecret, lockSecret, updateSecret } from './repository.ts'
import { isTokenSecret } from './secret-name.ts'
import type { SecretsKernel } from './secrets-kernel.ts'
import type { SecretRow } from './tables.ts'

export interface SecretValue {
  value: string
  /** Not given: what stands stays. */
  description?: string | null
}

export async function createSecret(
  kernel: SecretsKernel,
  name: string,
  given: SecretValue,
  by: string,
): Promise<SecretRow> {
  refuseBad(name, given.value)
  const row = firstVersion(kernel, name, given, by)
  if (!(await insertSecret(kernel.db, row))) {
    throw conflict('secret_exists', 'There is a secret of that name. PUT gives it another value.')
  }
  await announce(kernel, name)
  return row
}

export async function putSecret(
  kernel: SecretsKernel,
  name: string,
  given: SecretValue,
  by: string,
): Promise<{ row: SecretRow; created: boolean }> {
  refuseBad(name, given.value)
  const put = await transaction(kernel.db, async tx => {
    for (;;) {
      const first = firstVersion(kernel, name, given, by)
      if (await insertSecret(tx, first)) return { row: first, created: true }
      const standing = await lockSecret(tx, name)
      // Deleted since: it is made anew.
      if (!standing) continue
      const changes = changesTo(kernel, standing, given)
      if (Object.keys(changes).length === 0) return { row: standing, created: false }
      const row = { ...standing, ...changes, updated_at: first.updated_at, updated_by: by }
      await updateSecret(tx, name, row)
      return { row, created: false }
    }
  })
  await announce(kernel, name)
  return put
}

function refuseBad(name: string, value: string): void {
  const errors = complaintsAbout(name, value)
  if (errors.length > 0) throw invalid('The secret is not acceptable.', errors)
}

function firstVersion(
  { clock, vault }: SecretsKernel,
  name: string,
  { value, description = null }: SecretValue,
  by: string,
): SecretRow {
  const at = clock.now().toISOString()
  return {
    name,
    version: 1,
    sealed: vault.seal(name, value),
    fingerprint: vault.fingerprint(value),
    description,
    created_at: at,
    created_by: by,
    updated_at: at,
    updated_by: by,
  }
}

function changesTo(
  { vault }: SecretsKernel,
  { name, version, sealed, description: standing }: SecretRow,
  { value, description = standing }: SecretValue,
): Partial<SecretRow> {
  return {
    ...(description !== standing && { description }),
    // One that can no longer be read counts as another value: it is sealed anew.
    ...(vault.open(name, sealed) !== value && {
      version: version + 1,
      sealed: vault.seal(name, value),
      fingerprint: vault.fingerprint(value),
    }),
  }
}

/** This process asks with a new token at once; the others look by themselves. */
export async function announce({ providerTokens }: SecretsKernel, name: string): Promise<void> {
  if (isTokenSecret(name)) await providerTokens.refresh()
}
