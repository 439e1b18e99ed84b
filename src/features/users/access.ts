// What a caller may do, asked at every request and cached for a few seconds; concurrent requests of one caller share one
// read. A change made by this process counts at once, one made by another when the cache has expired. The same read tells
// whether the user's API keys must learn the roles of a newer token.
import type { Deps } from '../../deps.ts'
import {
  type Access,
  homeTenant,
  type Identity,
  isRoleName,
  PLATFORM_ADMIN,
  tenantsOf,
  unionOf,
} from '../../kernel/http/caller.ts'
import { correctOwnerRoles, updateOwnerRoles } from '../api-keys/index.ts'
import { findAccess, type Known } from './store.ts'

export interface CallerAccess {
  of(caller: Identity): Promise<Access>
  /** After a change: everybody's access is read again. */
  forget(): void
}

interface Cached {
  at: number
  /** The newest of the tokens that were used. */
  issuedAt: string | undefined
  /** Whether the user has keys, which must learn of a newer token. */
  hasKeys: boolean
  access: Promise<Access>
}

const CACHED_MS = 5_000
const MOST_CACHED = 10_000

export function callerAccess(deps: Deps): CallerAccess {
  const cache = new Map<string, Cached>()

  async function readAccess(caller: Identity, entry: Omit<Cached, 'access'>): Promise<Access> {
    const { platformTenantId } = deps
    const tenantId = homeTenant(caller, platformTenantId)
    const { keys_token_at, keys_roles_differ, ...known } = await findAccess(deps.db, {
      userId: caller.sub,
      tenantId,
      tenants: tenantsOf(caller, platformTenantId),
      // Other texts are no role's name, and the database would not take all of them.
      roles: [...caller.roles, ...(caller.ownerRoles ?? [])].filter(isRoleName),
      named: caller.roles,
      platformTenantId,
      now: new Date(entry.at).toISOString(),
    })
    entry.hasKeys = keys_token_at !== null
    // A key says nothing of its owner's current roles.
    if (keys_token_at !== null && caller.via !== 'api_key') {
      const { issuedAt } = entry
      const owner = { userId: caller.sub, tenantId, platformTenantId }
      const isNewer = issuedAt !== undefined && keys_token_at < issuedAt
      const updateKeys = async () => {
        if (isNewer) await updateOwnerRoles(deps.db, owner, caller.roles, issuedAt)
        else if (keys_roles_differ) await correctOwnerRoles(deps.db, owner, caller.roles, issuedAt)
      }
      await updateKeys()
        // A read-only database still serves readers. The next read tries again.
        .catch(error => deps.log.warn({ err: error, sub: caller.sub }, 'API keys were not told of a token'))
    }
    return accessOf(caller, known, platformTenantId)
  }

  /** A newer token matters only to a user who has keys. */
  const isNews = ({ hasKeys, issuedAt }: Cached, caller: Identity): boolean =>
    hasKeys && caller.issuedAt !== undefined && (issuedAt === undefined || issuedAt < caller.issuedAt)

  return {
    of(caller) {
      const { tenantId, sub, roles, ownerRoles, ownerTenant } = caller
      const key = JSON.stringify([tenantId, sub, roles, ownerRoles, ownerTenant])
      const now = deps.clock.now().getTime()
      const known = cache.get(key)
      // Absolute, so that a clock set back does not make an entry last.
      if (known && Math.abs(now - known.at) < CACHED_MS && !isNews(known, caller)) return known.access
      const issuedAt = newest(known?.issuedAt, caller.issuedAt)
      const entry = { at: now, issuedAt, hasKeys: false } as Cached
      entry.access = readAccess(caller, entry)
      cache.delete(key)
      if (cache.size >= MOST_CACHED) cache.delete(cache.keys().next().value!)
      cache.set(key, entry)
      entry.access.catch(() => {
        if (cache.get(key) === entry) cache.delete(key)
      })
      return entry.access
    },
    // Reads in flight are dropped too: they may have started before the change.
    forget: () => cache.clear(),
  }
}

const newest = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || (b !== undefined && a < b) ? b : a

type Who = Pick<Identity, 'platformAdmin' | 'tenantId' | 'roles' | 'ownerRoles'>

/**
 * The roles of the token permit what they permit together. The role given in the directory is a second limit, and for a
 * key the roles of its owner's newest token are another. A platform_admin has no limits.
 */
export function accessOf(
  { platformAdmin, tenantId, roles, ownerRoles = [PLATFORM_ADMIN] }: Who,
  { suspended, given, registered }: Known,
  platformTenantId: string,
): Access {
  if (platformAdmin) return { suspended, operator: false, limits: [] }
  const named = ownerRoles.includes(PLATFORM_ADMIN) ? [roles] : [roles, ownerRoles]
  const unions = named.map(names => unionOf(names, registered ?? {}))
  // Without roles in the token, the role given in the directory makes an operator.
  const areRegistered = named.every((names, i) => (names.length === 0 ? given : unions[i]) !== null)
  return {
    suspended,
    operator: tenantId === platformTenantId && areRegistered,
    limits: [...unions, given].filter(limit => limit !== null),
  }
}
