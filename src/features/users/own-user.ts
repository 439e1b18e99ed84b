// Nobody suspends or deletes themselves, or changes their own role: whoever does so by mistake could not undo it.
import { conflict } from '../../kernel/errors.ts'
import type { Caller } from '../../kernel/http/caller.ts'
import { tenantsOf } from './home-tenant.ts'
import type { UserRow } from './tables.ts'

export const isSelf = (
  caller: Caller,
  { user_id, tenant_id }: Pick<UserRow, 'user_id' | 'tenant_id'>,
  platformTenantId: string,
): boolean => user_id === caller.sub && tenantsOf(caller, platformTenantId).includes(tenant_id)

/** Whether a change takes something from the user who has this role. */
export const lessens = (
  { status, role }: Partial<Pick<UserRow, 'status' | 'role'>>,
  hadRole: string | null,
): boolean => status === 'suspended' || (role !== undefined && role !== hadRole)

export const ownUser = () =>
  conflict(
    'own_user',
    'Nobody suspends or deletes themselves, or changes their own role: ask another platform_admin.',
  )
