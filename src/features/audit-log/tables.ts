// Rows of the audit log and of its chain. The entries themselves are written by the
// database: see migrations/0016_audit_log.sql.

import type { CredentialKind } from '../../kernel/http/caller.ts'

export const ACTIONS = ['created', 'updated', 'deleted', 'requested'] as const

export interface AuditLogRow {
  id: string
  at: string
  actor: string
  actor_role: string | null
  actor_tenant_id: string | null
  request_id: string
  operation: string
  subject_type: string
  subject_id: string
  tenant_id: string | null
  action: (typeof ACTIONS)[number]
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
  credential_kind: CredentialKind | null
  credential_id: string | null
  address: string | null
  client_request_id: string | null
}

export interface AuditSealRow {
  seq: number
  entry_id: string
  hash: string
  key_id: string | null
  mac: string | null
  checkpoint: number | null
}

export interface CheckpointRow {
  number: number
  seq: number
  hash: string
  at: string
  /** How many of the first links were made before the chain had a key. */
  unkeyed: number
  /** The digest of the one before it. */
  previous: string
  key_id: string
  signature: string
  published_at: string | null
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    audit_log: AuditLogRow
    audit_seals: AuditSealRow
    audit_checkpoints: CheckpointRow
    audit_unkeyed: { entries: number; newest: string | null }
  }
}
