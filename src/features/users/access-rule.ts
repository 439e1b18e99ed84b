// What the directory makes of a caller: suspended or not, an operator or not, and what holds it back. The roles of the
// token permit what they permit together; the role that the user was given here is a second limit beside them, and for a
// key the roles of its owner's newest token are another. A platform_admin has none of these.
import type { Access, Permissions } from '../../kernel/http/caller.ts'
import { type Identity, PLATFORM_ADMIN } from '../../kernel/http/caller.ts'
import { unionOf } from '../roles/index.ts'

/** What the database knows of a caller. */
export interface Known {
  suspended: boolean
  /** Permissions of the role that the user has here; null without one. */
  given: Permissions | null
  /** Those of the token's roles that are registered. */
  registered: Record<string, Permissions> | null
}

type Who = Pick<Identity, 'platformAdmin' | 'tenantId' | 'roles' | 'ownerRoles'>

export function accessOf(
  { platformAdmin, tenantId, roles, ownerRoles = [PLATFORM_ADMIN] }: Who,
  { suspended, given, registered }: Known,
  platformTenantId: string,
): Access {
  if (platformAdmin) return { suspended, operator: false, limits: [] }
  const named = ownerRoles.includes(PLATFORM_ADMIN) ? [roles] : [roles, ownerRoles]
  const unions = named.map(names => unionOf(names, registered ?? {}))
  // Whoever has no role but the one given here is an operator by that.
  const areRegistered = named.every((names, i) => (names.length === 0 ? given : unions[i]) !== null)
  return {
    suspended,
    operator: tenantId === platformTenantId && areRegistered,
    limits: [...unions, given].filter(limit => limit !== null),
  }
}
