// Which row of the directory is a caller's. A user is known by tenant and `sub`, and the same `sub` in another tenant is
// somebody else. A platform_admin is of the platform's tenant, whichever its token or key names besides: one who is
// suspended there is suspended everywhere.
import { homeTenant, type Identity } from '../../kernel/http/caller.ts'

/** Every tenant in which a suspension is the caller's. */
export function tenantsOf(
  caller: Pick<Identity, 'tenantId' | 'platformAdmin' | 'ownerTenant'>,
  platformTenantId: string,
): string[] {
  const home = homeTenant(caller, platformTenantId)
  const tenants = [home, caller.ownerTenant ?? home, caller.platformAdmin ? platformTenantId : home]
  return [...new Set(tenants)]
}
