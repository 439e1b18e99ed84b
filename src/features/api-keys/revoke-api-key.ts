// A revoked key is refused from the next request on. It may be said twice; the first time counts.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import type { Caller } from '../../kernel/http/caller.ts'
import type { KeyScope } from './key-rights.ts'
import { revokeKey } from './repository.ts'

export async function revokeApiKey(
  { db, clock }: Deps,
  caller: Caller,
  scope: KeyScope,
  keyId: string,
  reason: string | null,
): Promise<void> {
  const revocation = { at: clock.now().toISOString(), by: caller.sub, reason }
  if (!(await transaction(db, tx => revokeKey(tx, scope, keyId, revocation)))) throw notFound()
}
