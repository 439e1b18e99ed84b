// Which permissions there are, and what the roles a token names come to: the union of theirs, unless one of them is not
// registered here. Such a role permits what callers of a tenant may do without any, so that nothing changes for anybody
// until an operator registers a role.

import type { Caller } from '../../kernel/http/caller.ts'
import { mayOperate, type Permissions, permits } from '../../kernel/http/caller.ts'

/** What callers of a tenant can have use of. A test compares both lists with the routes. */
export const TENANT_PERMISSIONS = [
  'catalog:read',
  'costs:read',
  'deployments:read',
  'deployments:write',
  'inventory:read',
  'projects:read',
  'sagas:read',
  'users:read',
  'users:write',
  'webhooks:read',
  'webhooks:write',
] as const

/** What an operator alone has use of: a caller of the platform's tenant with such a role. */
export const OPERATOR_PERMISSIONS = [
  'audit_log:read',
  'billing:read',
  'billing:write',
  'catalog:write',
  'dead_letters:read',
  'dead_letters:write',
  'deployments:operate',
  'drift:accept',
  'drift:read',
  'drift:write',
  'inventory:write',
  'projects:write',
  'sagas:run',
  'scheduled_tasks:read',
  'scheduled_tasks:run',
  'scheduled_tasks:write',
] as const

/** As they are kept and shown. */
export const inOrder = (permissions: readonly string[]): string[] => [...new Set(permissions)].sort()

/** `*` is every area. */
export const PERMISSIONS = inOrder(['*:read', '*:write', ...TENANT_PERMISSIONS, ...OPERATOR_PERMISSIONS])

/** Those of the permissions that a caller has use of. */
export function permissionsOf(caller: Pick<Caller, 'platformAdmin' | 'operator' | 'limits'>): string[] {
  return inOrder([
    ...TENANT_PERMISSIONS.filter(permission => caller.limits.every(limit => permits(limit, permission))),
    ...OPERATOR_PERMISSIONS.filter(permission => mayOperate(caller, permission)),
  ])
}

const NAME = /^[a-z0-9_-]{1,64}$/

/** Whether a role can be registered under the name at all; a token may say anything. */
export const isRoleName = (name: string): boolean => NAME.test(name)

/** What the roles of a token permit together; null: they hold nothing back. */
export function unionOf(
  named: readonly string[],
  registered: Readonly<Record<string, Permissions>>,
): Permissions | null {
  if (named.length === 0 || named.some(name => !Object.hasOwn(registered, name))) return null
  return inOrder(named.flatMap(name => registered[name]!))
}
