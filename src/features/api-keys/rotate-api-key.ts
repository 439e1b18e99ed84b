// A new key takes the place of an old one, with the same rights; the old one lives on for the grace, so that what uses
// it can change over. A key is replaced once: of two who try, one is told so.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, forbidden, notFound } from '../../kernel/errors.ts'
import type { Caller } from '../../kernel/http/caller.ts'
import { type CreatedKey, checkedExpiry, insertNewKey, refuseKeysFromKeys } from './create-api-key.ts'
import { expiryAfterGrace, isActive, sameLifetime } from './key-expiry.ts'
import { covers, type KeyScope } from './key-rights.ts'
import { findReplacement, lockKey, setExpiry } from './repository.ts'

export interface RotateApiKey {
  grace_seconds?: number
  description?: string | null
  expires_at?: string | null
}

export function rotateApiKey(
  { db, clock }: Deps,
  caller: Caller,
  scope: KeyScope,
  keyId: string,
  { grace_seconds = 0, description, expires_at }: RotateApiKey,
): Promise<CreatedKey> {
  refuseKeysFromKeys(caller)
  const now = clock.now()
  const given = checkedExpiry(expires_at, now)
  return transaction(db, async tx => {
    const old = await lockKey(tx, scope, keyId)
    if (!old) throw notFound()
    if (!covers(caller, old)) {
      throw forbidden('This key may do more than your token: make a new key instead, and revoke this one.')
    }
    const replacedBy = await findReplacement(tx, old.id)
    if (replacedBy !== undefined) {
      throw conflict('already_rotated', 'This key has been rotated already.', {
        extra: { replaced_by: replacedBy },
      })
    }
    if (!isActive(old, now)) {
      throw conflict('key_not_active', 'A revoked or expired key is not rotated: make a new one.')
    }
    await setExpiry(tx, old.id, expiryAfterGrace(old, grace_seconds, now))
    return insertNewKey(tx, {
      user_id: old.user_id,
      tenant_id: old.tenant_id,
      roles: old.roles,
      owner_tenant: old.owner_tenant,
      owner_roles: old.owner_roles,
      owner_token_at: old.owner_token_at,
      description: description === undefined ? old.description : description,
      replaces: old.id,
      created_at: now.toISOString(),
      created_by: caller.sub,
      expires_at: expires_at === undefined ? sameLifetime(old, now) : given,
    })
  })
}
