// Which permissions there are, and what the roles a token names come to: the union of theirs, unless one of them is not
// registered here. Such a role permits what callers of a tenant may do without any, so that nothing changes for anybody
// until an operator registers a role.
import type { Permissions } from '../../kernel/http/standing.ts'

/** What callers of a tenant can reach, as the paths after /api/v1 begin; a test compares them with the routes. */
export const AREAS = [
  'billing',
  'catalog',
  'deployments',
  'inventory',
  'projects',
  'sagas',
  'users',
  'webhooks',
] as const

export const PERMISSIONS: readonly string[] = ['*', ...AREAS].flatMap(area => [
  `${area}:read`,
  `${area}:write`,
])

/** As they are kept and shown. */
export const inOrder = (permissions: readonly string[]): string[] => [...new Set(permissions)].sort()

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
