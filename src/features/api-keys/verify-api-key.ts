// Is this API key good, and who is it? Asked of the database at every request, so that revocation and expiry take
// effect at the next one; but only for a key whose checksum is right.
import type { Deps } from '../../deps.ts'
import type { Refused } from '../../kernel/http/authenticate.ts'
import type { Identity } from '../../kernel/http/caller.ts'
import { isActive } from './key-expiry.ts'
import { isHashOf, prefixOf } from './key-format.ts'
import { actsAs } from './key-rights.ts'
import { findByPrefix, type PresentedKey, touchKey } from './repository.ts'

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
