// Creating, rotating and revoking API keys. A key's value is known when it is created and never again.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, forbidden, invalid, notFound } from '../../kernel/errors.ts'
import type { Caller } from '../../kernel/http/caller.ts'
import { newId } from '../../kernel/ids.ts'
import {
  type ApiKeyRow,
  covers,
  expiryAfterGrace,
  expiryFrom,
  type KeyScope,
  mayActIn,
  mayMakeKeys,
  ownerOf,
  rightsFor,
  sameLifetime,
} from './api-key.ts'
import { findReplacement, insertKey, lockKey, newerToken, revokeKey, setExpiry } from './store.ts'
import { isActive, newKey } from './verify.ts'

export interface CreateApiKey {
  description?: string | null
  expires_at?: string | null
  tenant_id?: string
}

export interface CreatedKey {
  raw: string
  row: ApiKeyRow
}

/** Prefixes are random: two collisions in a row will not happen. */
const TRIES = 5

export function createApiKey(
  { db, clock, platformTenantId }: Deps,
  caller: Caller,
  userId: string,
  { description, expires_at, tenant_id }: CreateApiKey,
): Promise<CreatedKey> {
  refuseKeysFromKeys(caller)
  if (tenant_id !== undefined && !mayActIn(caller, tenant_id)) {
    throw forbidden('A key acts in its maker’s own tenant; a platform_admin may name another.')
  }
  const rights = rightsFor(caller, userId, tenant_id)
  if (!rights) {
    throw invalid('A key made for another user acts in one tenant, and your token names none.', [
      { pointer: '/tenant_id', message: 'is required, because your token names no tenant' },
    ])
  }
  const now = clock.now()
  const values = {
    user_id: userId,
    ...rights,
    description: description ?? null,
    replaces: null,
    created_at: now.toISOString(),
    created_by: caller.sub,
    expires_at: checkedExpiry(expires_at, now),
  }
  const owner = ownerOf(caller, userId, rights, platformTenantId)
  return transaction(db, async tx => {
    // The user's other keys may know of a newer token than this one.
    return insertNewKey(tx, { ...values, ...owner, ...(await newerToken(tx, userId, owner)) })
  })
}

function refuseKeysFromKeys(caller: Caller): void {
  if (!mayMakeKeys(caller)) throw forbidden('Keys are made with a token: an API key makes no further keys.')
}

function checkedExpiry(expiresAt: string | null | undefined, now: Date): string | null {
  if (expiresAt === null || expiresAt === undefined) return null
  const expiry = expiryFrom(expiresAt, now)
  if (expiry !== null) return expiry
  throw invalid('The body is not acceptable.', [
    { pointer: '/expires_at', message: 'must be a time in the future' },
  ])
}

type KeyValues = Omit<
  ApiKeyRow,
  'id' | 'key_prefix' | 'key_hash' | 'last_used_at' | 'revoked_at' | 'revoked_by' | 'revoked_reason'
>

async function insertNewKey(executor: Executor, values: KeyValues): Promise<CreatedKey> {
  for (let i = 0; i < TRIES; i++) {
    const { raw, prefix, hash } = newKey()
    const row = await insertKey(executor, {
      id: newId(),
      ...values,
      key_prefix: prefix,
      key_hash: hash,
      last_used_at: null,
      revoked_at: null,
      revoked_by: null,
      revoked_reason: null,
    })
    if (row) return { raw, row }
  }
  throw new Error('no free prefix was found for a new API key')
}

export interface RotateApiKey {
  grace_seconds?: number
  description?: string | null
  expires_at?: string | null
}

/** The old key stays valid for the grace, so that its users can change over. A key is replaced once: a second try is 409. */
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
