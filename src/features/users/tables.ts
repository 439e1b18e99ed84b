// Rows of the users.

export const USER_STATUSES = ['active', 'suspended'] as const
export type UserStatus = (typeof USER_STATUSES)[number]

export interface UserRow {
  id: string
  /** The `sub` of the user's tokens; on the API this is the user's id. */
  user_id: string
  tenant_id: string
  email: string | null
  display_name: string | null
  role: string | null
  status: UserStatus
  created_at: string
  updated_at: string
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    users: UserRow
  }
}
