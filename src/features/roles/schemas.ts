// The API's words for roles.
import { Type } from 'typebox'
import { Body, Nullable, Time } from '../../kernel/http/schemas.ts'
import { PERMISSIONS, TENANT_PERMISSIONS } from './permissions.ts'

export const RoleName = Type.String({
  pattern: '^[a-z0-9_-]{1,64}$',
  description: 'As tokens spell it in their role claim.',
})
export const RoleParams = Type.Object({ name: RoleName })

const Description = Nullable(Type.String({ maxLength: 255 }))
const Permissions = Type.Array(Type.Enum([...PERMISSIONS]), {
  maxItems: PERMISSIONS.length,
  description:
    'GET needs `read` of an area, most else `write`; `*` is every area, and covers `read` and `write` alone. Operations name theirs as `x-permission`; `deployments:operate` is for moves into and out of `past_due` and `suspended`, `billing_action_suspended` and `trial_ends_at`. ' +
    `Callers of a tenant have use of ${TENANT_PERMISSIONS.join(', ')}; the others are for operators: callers of the platform’s tenant whose roles are all registered.`,
})

export const CreateRoleBody = Body({
  name: RoleName,
  description: Type.Optional(Description),
  permissions: Permissions,
})

export const ChangeRoleBody = Body({
  description: Type.Optional(Description),
  permissions: Type.Optional(Permissions),
})

export const Role = Type.Object({
  name: Type.String(),
  description: Nullable(Type.String()),
  permissions: Type.Array(Type.String(), { description: '`*:*` for the built-in role alone.' }),
  built_in: Type.Boolean(),
  created_at: Nullable(Time),
  updated_at: Nullable(Time),
})
