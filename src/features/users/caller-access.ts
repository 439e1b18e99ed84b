// What every caller may do, asked at every request and therefore remembered for a few seconds. Requests of one caller that
// come together share one look. A change made by this process counts at once, one made by another when what is remembered
// here has grown old. The look is also where a user's API keys hear of its newest token.
import type { Deps } from '../../deps.ts'
import type { Access } from '../../kernel/http/access.ts'
import { homeTenant, type Identity } from '../../kernel/http/caller.ts'
import { tellKeys, tellKeysOfEqual } from '../api-keys/index.ts'
import { isRoleName } from '../roles/index.ts'
import { lookUp } from './access-repository.ts'
import { accessOf } from './access-rule.ts'
import { tenantsOf } from './home-tenant.ts'

export interface CallerAccess {
  of(caller: Identity): Promise<Access>
  /** Something has changed: everybody is looked up again. */
  forget(): void
}

interface Remembered {
  at: number
  /** The newest of the tokens that were used. */
  issuedAt: string | undefined
  /** Whether the user has keys, which a still newer token concerns. */
  hasKeys: boolean
  access: Promise<Access>
}

const REMEMBERED_MS = 5_000
const MOST_REMEMBERED = 10_000

export function callerAccess(deps: Deps): CallerAccess {
  const remembered = new Map<string, Remembered>()

  async function look(caller: Identity, entry: Omit<Remembered, 'access'>): Promise<Access> {
    const { platformTenantId } = deps
    const tenantId = homeTenant(caller, platformTenantId)
    const { keys_told_at, keys_know_others, ...known } = await lookUp(deps.db, {
      userId: caller.sub,
      tenantId,
      tenants: tenantsOf(caller, platformTenantId),
      // What can be no role's name is registered nowhere, and the database would not take every text.
      roles: [...caller.roles, ...(caller.ownerRoles ?? [])].filter(isRoleName),
      named: caller.roles,
      platformTenantId,
      now: new Date(entry.at).toISOString(),
    })
    entry.hasKeys = keys_told_at !== null
    // A key says nothing of its owner's roles.
    if (keys_told_at !== null && caller.via !== 'api_key') {
      const { issuedAt } = entry
      const owner = { userId: caller.sub, tenantId, platformTenantId }
      const isNewer = issuedAt !== undefined && keys_told_at < issuedAt
      const tellIfNeeded = async () => {
        if (isNewer) await tellKeys(deps.db, owner, caller.roles, issuedAt)
        else if (keys_know_others) await tellKeysOfEqual(deps.db, owner, caller.roles, issuedAt)
      }
      await tellIfNeeded()
        // A database that only reads still answers readers. The next look tries again.
        .catch(error => deps.log.warn({ err: error, sub: caller.sub }, 'API keys were not told of a token'))
    }
    return accessOf(caller, known, platformTenantId)
  }

  /** Of a key there is no token; of a user without keys nobody asks how new its token is. */
  const isNews = ({ hasKeys, issuedAt }: Remembered, caller: Identity): boolean =>
    hasKeys && caller.issuedAt !== undefined && (issuedAt === undefined || issuedAt < caller.issuedAt)

  return {
    of(caller) {
      const { tenantId, sub, roles, ownerRoles, ownerTenant } = caller
      const key = JSON.stringify([tenantId, sub, roles, ownerRoles, ownerTenant])
      const now = deps.clock.now().getTime()
      const known = remembered.get(key)
      // A clock that was set back makes nobody's access last.
      if (known && Math.abs(now - known.at) < REMEMBERED_MS && !isNews(known, caller)) return known.access
      const issuedAt = newest(known?.issuedAt, caller.issuedAt)
      const entry = { at: now, issuedAt, hasKeys: false } as Remembered
      entry.access = look(caller, entry)
      remembered.delete(key)
      if (remembered.size >= MOST_REMEMBERED) remembered.delete(remembered.keys().next().value!)
      remembered.set(key, entry)
      entry.access.catch(() => {
        if (remembered.get(key) === entry) remembered.delete(key)
      })
      return entry.access
    },
    // A look that is under way is forgotten too: it may have been taken before the change.
    forget: () => remembered.clear(),
  }
}

const newest = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || (b !== undefined && a < b) ? b : a
