// The standing of every caller, asked at every request and therefore remembered for a few seconds. Requests of one caller
// that come together share one look. A change made by this process counts at once, one made by another when what is
// remembered here has grown old.
import type { Caller } from '../../kernel/http/caller.ts'
import type { Standing } from '../../kernel/http/standing.ts'
import { isRoleName } from '../roles/index.ts'
import { homeTenant, tenantsOf } from './home-tenant.ts'
import { knownOf } from './standing-repository.ts'
import { standingOf } from './standing-rule.ts'
import type { UsersKernel } from './users-kernel.ts'

export interface CallerStandings {
  of(caller: Caller): Promise<Standing>
  /** Something has changed: everybody is looked up again. */
  forget(): void
}

interface Remembered {
  at: number
  standing: Promise<Standing>
}

const REMEMBERED_MS = 5_000
const MOST_REMEMBERED = 10_000

export function callerStandings(kernel: UsersKernel): CallerStandings {
  const remembered = new Map<string, Remembered>()

  async function look(caller: Caller): Promise<Standing> {
    const known = await knownOf(kernel.db, {
      userId: caller.sub,
      tenantId: homeTenant(caller, kernel.platformTenantId),
      tenants: tenantsOf(caller, kernel.platformTenantId),
      // What can be no role's name is registered nowhere, and the database would not take every text.
      roles: caller.roles.filter(isRoleName),
    })
    return standingOf(caller, known)
  }

  return {
    of(caller) {
      const key = JSON.stringify([caller.tenantId, caller.sub, caller.roles])
      const now = kernel.clock.now().getTime()
      const known = remembered.get(key)
      // A clock that was set back makes nobody's standing last.
      if (known && Math.abs(now - known.at) < REMEMBERED_MS) return known.standing
      const entry = { at: now, standing: look(caller) }
      remembered.delete(key)
      if (remembered.size >= MOST_REMEMBERED) remembered.delete(remembered.keys().next().value!)
      remembered.set(key, entry)
      entry.standing.catch(() => {
        if (remembered.get(key) === entry) remembered.delete(key)
      })
      return entry.standing
    },
    // A look that is under way is forgotten too: it may have been taken before the change.
    forget: () => remembered.clear(),
  }
}
