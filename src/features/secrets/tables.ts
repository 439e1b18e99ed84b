// Rows of the secrets.

export interface SecretRow {
  name: string
  /** Counts the values it has had. */
  version: number
  /** The value, encrypted for this name. */
  sealed: string
  fingerprint: string
  description: string | null
  created_at: string
  created_by: string
  updated_at: string
  updated_by: string
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    secrets: SecretRow
  }
}
