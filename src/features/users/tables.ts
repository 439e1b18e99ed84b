// Rows of the users.
import type { Row } from '../../kernel/db/tables.ts'

export const USER_STATUSES = ['active', 'suspended'] as const
export type UserStatus = (typeof USER_STATUSES)[number]

/** `user_id` is the `sub` of the user’s tokens; on the API it is the user’s id. */
export type UserRow = Row<'users'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    users: { status: UserStatus }
  }
}
