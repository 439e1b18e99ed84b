// Rows of the audit log and of its chain. The entries themselves are written by the
// database: see migrations/0016_audit_log.sql.

import type { Row } from '../../kernel/db/tables.ts'
import type { CredentialKind } from '../../kernel/http/caller.ts'

export const ACTIONS = ['created', 'updated', 'deleted', 'requested'] as const

export type AuditLogRow = Row<'audit_log'>
export type AuditSealRow = Row<'audit_seals'>
/** `unkeyed`: how many of the first links were made before the chain had a key; `previous`: the digest of the one before. */
export type CheckpointRow = Row<'audit_checkpoints'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    audit_log: {
      action: (typeof ACTIONS)[number]
      before: Record<string, unknown> | null
      after: Record<string, unknown> | null
      credential_kind: CredentialKind | null
    }
  }
}
