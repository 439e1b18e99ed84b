// The API's words for roles.
import { Type } from 'typebox'
import { Body, Nullable, Time } from '../../kernel/http/words.ts'
import { PERMISSIONS } from './permissions.ts'

export const RoleName = Type.String({
  pattern: '^[a-z0-9_-]{1,64}$',
  description: 'As tokens spell it in their role claim.',
})
export const RoleParams = Type.Object({ name: RoleName })

const Description = Nullable(Type.String({ maxLength: 255 }))
const Permissions = Type.Array(Type.Enum([...PERMISSIONS]), {
  maxItems: PERMISSIONS.length,
  description: 'GET needs `read` of an area, everything else `write`; `*` is every area.',
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
