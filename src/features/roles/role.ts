// What a role is, which permissions there are, and the one role that is built in: a platform_admin, whom the guards let do
// everything.
import { type Static, Type } from 'typebox'
import type { Row } from '../../kernel/db/tables.ts'
import { type AppError, conflict, invalid } from '../../kernel/errors.ts'
import {
  type Caller,
  inOrder,
  mayOperate,
  PLATFORM_ADMIN,
  permits,
  ROLE_NAME,
} from '../../kernel/http/caller.ts'
import { Nullable, Time } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'

/** What callers of a tenant can have use of. A test compares both lists with the routes. */
export const TENANT_PERMISSIONS = [
  'budgets:read',
  'budgets:write',
  'catalog:read',
  'costs:read',
  'deployments:read',
  'deployments:write',
  'findings:read',
  'inventory:read',
  'projects:read',
  'sagas:read',
  'usage_events:write',
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
  'findings:write',
  'inventory:write',
  'projects:write',
  'sagas:run',
  'scheduled_tasks:read',
  'scheduled_tasks:run',
  'scheduled_tasks:write',
] as const

/** `*` is every area. */
export const PERMISSIONS = inOrder(['*:read', '*:write', ...TENANT_PERMISSIONS, ...OPERATOR_PERMISSIONS])

/** Those of the permissions that a caller has use of. */
export function permissionsOf(caller: Pick<Caller, 'platformAdmin' | 'operator' | 'limits'>): string[] {
  return inOrder([
    ...TENANT_PERMISSIONS.filter(permission => caller.limits.every(limit => permits(limit, permission))),
    ...OPERATOR_PERMISSIONS.filter(permission => mayOperate(caller, permission)),
  ])
}

export const RoleName = Type.String({
  pattern: ROLE_NAME,
  description: 'As tokens spell it in their role claim.',
})

export const Role = noun(
  'Role',
  {
    name: Type.String(),
    description: Nullable(Type.String()),
    permissions: Type.Array(Type.String(), { description: '`*:*` for the built-in role alone.' }),
    built_in: Type.Boolean(),
    created_at: Nullable(Time),
    updated_at: Nullable(Time),
  },
  { built_in: 'false' },
)
export type Role = Static<typeof Role>

/** `permissions` are in order, each once. */
export type RoleRow = Row<'roles'>

export const shownRole = (row: RoleRow): Role => ({ ...row, built_in: false })

export const BUILT_IN: Role = {
  name: PLATFORM_ADMIN,
  description: 'Sees and does everything, in all tenants. The issuer gives it; no permission holds it back.',
  permissions: ['*:*'],
  built_in: true,
  created_at: null,
  updated_at: null,
}

export const isBuiltIn = (name: string): boolean => name === BUILT_IN.name

/** The rows after a name, with the built-in role in its place among them. */
export function withBuiltIn(rows: readonly RoleRow[], after: string): Role[] {
  const shown = rows.map(shownRole)
  if (BUILT_IN.name <= after) return shown
  const place = rows.findIndex(({ name }) => name > BUILT_IN.name)
  return shown.toSpliced(place < 0 ? rows.length : place, 0, BUILT_IN)
}

export function refuseChangeOfBuiltIn(name: string): void {
  if (isBuiltIn(name))
    throw conflict('role_built_in', 'This role is built in: it is neither changed nor deleted.')
}

/** The built-in role comes with the token alone: giving it to a user here would look like a promotion and be none. */
export function refuseBuiltIn(role: string | null | undefined): void {
  if (typeof role === 'string' && isBuiltIn(role)) throw refusedRole('is given by the issuer of tokens alone')
}

export const unknownRole = (): AppError => refusedRole('is not a registered role')

const refusedRole = (message: string) =>
  invalid('The body is not acceptable.', [{ pointer: '/role', message }])
