// What a user of the directory is, and whose row is a caller's. A user is a `sub` of a tenant: the same `sub` in another
// tenant is another user.

import { Type } from 'typebox'
import type { Row } from '../../kernel/db/tables.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { type Caller, tenantsOf } from '../../kernel/http/caller.ts'
import { Nullable, Time } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'

export const USER_STATUSES = ['active', 'suspended'] as const
export type UserStatus = (typeof USER_STATUSES)[number]

/** `user_id` is the `sub` of the user’s tokens; on the API it is the user’s id. */
export type UserRow = Row<'users'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    users: { status: UserStatus }
  }
}

/** The shape only: a pattern cannot tell whether an address works. */
export const Email = Type.String({
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f]+@[^\\s@\\u0000-\\u001f]+$',
})
export const DisplayName = Type.String({
  maxLength: 255,
  pattern: '^(?=[\\s\\S]*\\S)[^\\u0000-\\u001f\\u007f-\\u009f]+$',
})
export const Status = Type.Enum([...USER_STATUSES])

/** The row's own id is for pagination only. */
export const User = noun(
  'User',
  {
    id: Type.String({ description: 'The `sub` of the user’s tokens.' }),
    tenant_id: Type.String(),
    email: Nullable(Type.String()),
    display_name: Nullable(Type.String()),
    role: Nullable(Type.String({ description: 'What it does not permit, the user may not do.' })),
    status: Status,
    created_at: Time,
    updated_at: Time,
  },
  { id: '$.user_id' },
)

export const shownUser = ({ id: _row, user_id, ...rest }: UserRow) => ({ id: user_id, ...rest })

/** A user is named by its id alone while only one tenant has that id; otherwise by its tenant too. */
export function oneUser(found: readonly UserRow[]): UserRow {
  const [user, ...others] = found
  if (!user) throw notFound()
  if (others.length === 0) return user
  throw conflict('user_ambiguous', 'Several tenants have a user of this id: name one with ?tenant_id=.', {
    extra: { tenant_ids: found.map(({ tenant_id }) => tenant_id) },
  })
}

/** Nobody suspends or deletes themselves, or changes their own role: a mistake could not be undone. */
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
