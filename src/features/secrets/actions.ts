// Creating, putting and deleting secrets.
import type { Deps } from '../../deps.ts'
import { afterCommit, transaction } from '../../kernel/db/transaction.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import { isTokenSecret, problemsOf, type SecretRow } from './secret.ts'
import { insertSecret, lockSecret, removeSecret, updateSecret } from './store.ts'

type SecretDeps = Pick<Deps, 'db' | 'clock' | 'vault' | 'providerTokens'>

export interface SecretValue {
  value: string
  /** Not given: the present one stays. */
  description?: string | null
}

export async function createSecret(
  deps: SecretDeps,
  name: string,
  given: SecretValue,
  by: string,
): Promise<SecretRow> {
  const row = newSecret(deps, name, given, by)
  if (!(await insertSecret(deps.db, row)))
    throw conflict('secret_exists', 'There is a secret of that name. PUT gives it another value.')
  await refreshTokens(deps, name)
  return row
}

/**
 * The row's lock puts writers in a line: each new value gets the next version, and none is skipped. The present value changes
 * nothing, so that a put may be sent again.
 */
export async function putSecret(
  deps: SecretDeps,
  name: string,
  given: SecretValue,
  by: string,
): Promise<{ row: SecretRow; created: boolean }> {
  const first = newSecret(deps, name, given, by)
  const put = await transaction(deps.db, async tx => {
    for (;;) {
      if (await insertSecret(tx, first)) return { row: first, created: true }
      const present = await lockSecret(tx, name)
      // Deleted since: it is made anew.
      if (!present) continue
      const changes = changesTo(deps, present, first, given)
      if (Object.keys(changes).length === 0) return { row: present, created: false }
      const stamp = { updated_at: first.updated_at, updated_by: by }
      return { row: await updateSecret(tx, name, { ...changes, ...stamp }), created: false }
    }
  })
  await refreshTokens(deps, name)
  return put
}

export async function deleteSecret(deps: SecretDeps, name: string): Promise<void> {
  if (!(await removeSecret(deps.db, name))) throw notFound()
  await refreshTokens(deps, name)
}

function newSecret(
  { clock, vault }: SecretDeps,
  name: string,
  { value, description = null }: SecretValue,
  by: string,
): SecretRow {
  const errors = problemsOf(name, value)
  if (errors.length > 0) throw invalid('The secret is not acceptable.', errors)
  const at = clock.now().toISOString()
  return {
    name,
    version: 1,
    sealed: vault.encrypt(name, value),
    fingerprint: vault.fingerprint(value),
    description,
    created_at: at,
    created_by: by,
    updated_at: at,
    updated_by: by,
  }
}

function changesTo(
  { vault }: SecretDeps,
  { name, version, sealed: old, description: present }: SecretRow,
  { sealed, fingerprint }: SecretRow,
  { value, description = present }: SecretValue,
): Partial<SecretRow> {
  // One that can no longer be read counts as another value: it is encrypted anew.
  const another = vault.decrypt(name, old) !== value
  return {
    ...(description !== present && { description }),
    ...(another && { version: version + 1, sealed, fingerprint }),
  }
}

/** This process uses a changed provider token at once; the others poll. */
async function refreshTokens({ db, providerTokens }: SecretDeps, name: string): Promise<void> {
  if (isTokenSecret(name)) await afterCommit(db, () => providerTokens.refresh())
}
