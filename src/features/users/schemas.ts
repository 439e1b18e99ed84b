// The API's words for users.
import { Type } from 'typebox'
import { PageQuery } from '../../kernel/http/pages.ts'
import { Body, ExternalId, Nullable, Query, Time } from '../../kernel/http/schemas.ts'
import { RoleName } from '../roles/index.ts'
import { USER_STATUSES } from './tables.ts'

/** Of this shape, no more: whether it reaches anybody is not for a pattern to say. */
export const Email = Type.String({
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f]+@[^\\s@\\u0000-\\u001f]+$',
})
const DisplayName = Type.String({
  maxLength: 255,
  pattern: '^(?=[\\s\\S]*\\S)[^\\u0000-\\u001f\\u007f-\\u009f]+$',
})
const Status = Type.Enum([...USER_STATUSES])
const UserId = { ...ExternalId, pattern: '^[^\\u0000]*$' }

export const UserParams = Type.Object({ user_id: Type.String(UserId) })
export const OneUserQuery = Query({
  tenant_id: Type.Optional(
    Type.String({ ...ExternalId, description: 'Needed where several tenants have a user of this id.' }),
  ),
})

const members = {
  email: Type.Optional(Nullable(Email)),
  display_name: Type.Optional(Nullable(DisplayName)),
  role: Type.Optional(Nullable(RoleName)),
  status: Type.Optional(Status),
}

export const CreateUserBody = Body({
  id: Type.String({ ...ExternalId, description: 'The `sub` of the user’s tokens.' }),
  tenant_id: Type.String({
    ...ExternalId,
    description: 'The tenant of the user’s tokens; the platform’s for a platform_admin.',
  }),
  ...members,
})

export const ChangeUserBody = Body(members)

export const UsersQuery = Query({
  ...PageQuery,
  tenant_id: Type.Optional(ExternalId),
  status: Type.Optional(Status),
  role: Type.Optional(RoleName),
  email: Type.Optional(Type.String({ ...Email, description: 'In capitals or not.' })),
})

export const User = Type.Object({
  id: Type.String({ description: 'The `sub` of the user’s tokens.' }),
  tenant_id: Type.String(),
  email: Nullable(Type.String()),
  display_name: Nullable(Type.String()),
  role: Nullable(Type.String({ description: 'What it does not permit, the user may not do.' })),
  status: Status,
  created_at: Time,
  updated_at: Time,
})
