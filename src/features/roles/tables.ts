// Rows of the roles.

export interface RoleRow {
  name: string
  description: string | null
  /** In order, each once. */
  permissions: string[]
  created_at: string
  updated_at: string
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    roles: RoleRow
  }
}
