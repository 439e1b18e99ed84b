// Rows of the browser sessions.

export interface SessionRow {
  id: string
  user_id: string
  tenant_id: string | null
  /** Encrypted; null when the session was ended. */
  token: string | null
  created_at: string
  expires_at: string
  ended_at: string | null
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    sessions: SessionRow
  }
}
