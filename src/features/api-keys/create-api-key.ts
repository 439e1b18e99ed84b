// Makes a key for a user: the one moment its value is known.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { forbidden, invalid } from '../../kernel/errors.ts'
import type { Caller } from '../../kernel/http/caller.ts'
import { newId } from '../../kernel/ids.ts'
import { expiryFrom } from './key-expiry.ts'
import { newKey } from './key-format.ts'
import { mayActIn, mayMakeKeys, ownerOf, rightsFor } from './key-rights.ts'
import { insertKey, newerToken } from './repository.ts'
import type { ApiKeyRow } from './tables.ts'

export interface KeysKernel extends Deps {
  platformTenantId: string
}

export interface CreateApiKey {
  description?: string | null
  expires_at?: string | null
  tenant_id?: string
}

export interface CreatedKey {
  raw: string
  row: ApiKeyRow
}

/** Prefixes are random; that two tries in a row meet one that exists will not be seen. */
const TRIES = 5

export function createApiKey(
  { db, clock, platformTenantId }: KeysKernel,
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
  const unborn = {
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
    // A token that is still good may be older than one that the user's other keys know of.
    return insertNewKey(tx, { ...unborn, ...owner, ...(await newerToken(tx, userId, owner)) })
  })
}

export function refuseKeysFromKeys(caller: Caller): void {
  if (!mayMakeKeys(caller)) throw forbidden('Keys are made with a token: an API key makes no further keys.')
}

export function checkedExpiry(expiresAt: string | null | undefined, now: Date): string | null {
  if (expiresAt === null || expiresAt === undefined) return null
  const expiry = expiryFrom(expiresAt, now)
  if (expiry !== null) return expiry
  throw invalid('The body is not acceptable.', [
    { pointer: '/expires_at', message: 'must be a time in the future' },
  ])
}

type Unborn = Omit<
  ApiKeyRow,
  'id' | 'key_prefix' | 'key_hash' | 'last_used_at' | 'revoked_at' | 'revoked_by' | 'revoked_reason'
>

export async function insertNewKey(executor: Executor, unborn: Unborn): Promise<CreatedKey> {
  for (let i = 0; i < TRIES; i++) {
    const { raw, prefix, hash } = newKey()
    const row: ApiKeyRow = {
      id: newId(),
      ...unborn,
      key_prefix: prefix,
      key_hash: hash,
      last_used_at: null,
      revoked_at: null,
      revoked_by: null,
      revoked_reason: null,
    }
    if (await insertKey(executor, row)) return { raw, row }
  }
  throw new Error('no free prefix was found for a new API key')
}
