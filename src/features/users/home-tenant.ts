// Which row of the directory is a caller's. A user is known by tenant and `sub`, and the same `sub` in another tenant is
// somebody else. A platform_admin is of the platform's tenant, whichever its token or key names besides: one who is
// suspended there is suspended everywhere.
import type { Caller } from '../../kernel/http/caller.ts'

/** The tenant whose user the caller is. */
export const homeTenant = ({ tenantId }: Pick<Caller, 'tenantId'>, platformTenantId: string): string =>
  tenantId ?? platformTenantId

/** Every tenant in which a suspension is the caller's. */
export function tenantsOf(
  caller: Pick<Caller, 'tenantId' | 'platformAdmin'>,
  platformTenantId: string,
): string[] {
  const home = homeTenant(caller, platformTenantId)
  return caller.platformAdmin && home !== platformTenantId ? [home, platformTenantId] : [home]
}
