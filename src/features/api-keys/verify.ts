// Verifies API keys. A key is cops_<8 prefix>_<43 secret>_<6 checksum>, all base62: the prefix finds the row, the secret
// proves the key, and the checksum refuses a mistyped or invented key before the database is asked. The row is read at
// every request, so that revocation and expiry take effect at once.

import { createHash, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Deps } from '../../deps.ts'
import { BASE62, randomDigits, SECRET_LENGTH } from '../../kernel/crypto.ts'
import { API_KEY_PREFIX, type Refused } from '../../kernel/http/auth.ts'
import { type Identity, PLATFORM_ADMIN } from '../../kernel/http/caller.ts'
import type { ApiKeyRow, Owner, Rights } from './api-key.ts'
import { findByPrefix, type PresentedKey, touchKey } from './store.ts'

export interface ApiKeyVerifier {
  /** The caller a key stands for, or why it is not good. */
  verify(raw: string): Promise<Identity | Refused>
  /** Resolves when every use seen so far has been written down. */
  settled(): Promise<void>
}

const WRITTEN_EVERY_MS = 60_000

export function apiKeyVerifier(deps: Deps): ApiKeyVerifier {
  const writing = new Map<string, Promise<void>>()

  /** Beside the request, which does not wait for it; one write at a time for each key. */
  function noteUse({ id, last_used_at }: PresentedKey, now: Date): void {
    const due = new Date(now.getTime() - WRITTEN_EVERY_MS)
    if (writing.has(id) || (last_used_at !== null && Date.parse(last_used_at) > due.getTime())) return
    const write = touchKey(deps.db, id, now.toISOString(), due.toISOString())
      .catch(error => deps.log.warn({ err: error, key_id: id }, 'the use of an API key was not recorded'))
      .finally(() => writing.delete(id))
    writing.set(id, write)
  }

  return {
    async verify(raw) {
      const prefix = prefixOf(raw)
      if (prefix === null) return { refused: 'it is malformed' }
      const key = await findByPrefix(deps.db, prefix)
      if (!key || !isHashOf(key.key_hash, raw)) return { refused: 'nobody has it' }
      const now = deps.clock.now()
      if (!isActive(key, now))
        return { refused: key.revoked_at === null ? 'it has expired' : 'it was revoked', id: key.id }
      noteUse(key, now)
      const { user_id: sub, id: credentialId, expires_at: expiresAt } = key
      return { sub, ...actsAs(key), via: 'api_key', credentialId, expiresAt }
    },
    async settled() {
      await Promise.all(writing.values())
    },
  }
}

/** A key is valid until it expires or is revoked, whichever comes first. */
export const isActive = (
  { expires_at, revoked_at }: Pick<ApiKeyRow, 'expires_at' | 'revoked_at'>,
  now: Date,
): boolean => revoked_at === null && (expires_at === null || Date.parse(expires_at) > now.getTime())

/**
 * A key acts with the rights it was given, and never with more than its owner has now: one whose owner is no
 * platform_admin any more acts as the owner does.
 */
export function actsAs({
  tenant_id,
  roles,
  owner_tenant,
  owner_roles,
}: Rights & Omit<Owner, 'owner_token_at'>): Acting {
  const platformAdmin = roles.includes(PLATFORM_ADMIN)
  if (platformAdmin && owner_roles !== null && !owner_roles.includes(PLATFORM_ADMIN))
    return { tenantId: owner_tenant, roles: owner_roles, platformAdmin: false }
  return {
    tenantId: tenant_id,
    roles,
    platformAdmin,
    ownerRoles: owner_roles ?? undefined,
    ownerTenant: owner_tenant ?? undefined,
  }
}

type Acting = Pick<Identity, 'tenantId' | 'roles' | 'platformAdmin' | 'ownerRoles' | 'ownerTenant'>

const PREFIX_LENGTH = 8
const CHECKSUM_LENGTH = 6
const FORMAT = /^cops_([0-9A-Za-z]{8})_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/

export interface NewKey {
  /** Shown once and never stored. */
  raw: string
  prefix: string
  hash: string
}

export function newKey(): NewKey {
  const prefix = randomDigits(PREFIX_LENGTH)
  const body = `${API_KEY_PREFIX}${prefix}_${randomDigits(SECRET_LENGTH)}`
  const raw = `${body}_${checksum(body)}`
  return { raw, prefix, hash: hashKey(raw) }
}

/** The prefix of a well-formed key whose checksum is right; null for anything else. */
export function prefixOf(raw: string): string | null {
  const match = FORMAT.exec(raw)
  if (!match) return null
  const end = raw.length - CHECKSUM_LENGTH
  return checksum(raw.slice(0, end - 1)) === raw.slice(end) ? match[1]! : null
}

/**
 * A plain SHA-256: slow hashes are for secrets that can be guessed, which 256 random bits cannot, and every request with
 * a key pays for it.
 */
export const hashKey = (raw: string): string => createHash('sha256').update(raw).digest('hex')

/** In constant time, so that the duration does not reveal how much was right. */
export function isHashOf(hash: string, raw: string): boolean {
  const [stored, given] = [Buffer.from(hash, 'hex'), Buffer.from(hashKey(raw), 'hex')]
  return stored.length === given.length && timingSafeEqual(stored, given)
}

/** CRC-32 detects every change of a single character, which a truncated hash does not guarantee. */
function checksum(body: string): string {
  let rest = crc32(body)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62[rest % 62]! + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
