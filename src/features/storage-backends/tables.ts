// Rows of the storage backends, and of the invoice files kept in them.
import type { Generated } from 'kysely'

export const BACKEND_KINDS = ['local', 's3'] as const
export type BackendKind = (typeof BACKEND_KINDS)[number]

export interface StorageBackendRow {
  id: string
  name: string
  kind: BackendKind
  /** A local backend's. */
  folder: string | null
  /** The others are an S3-compatible one's; the prefix may be missing. */
  endpoint: string | null
  bucket: string | null
  region: string | null
  prefix: string | null
  path_style: boolean | null
  access_key_id: string | null
  /** Sealed. */
  secret_access_key: string | null
  active: boolean
  created_at: string
  created_by: string
  updated_at: string
}

export interface InvoiceFileRow {
  id: string
  invoice_id: string
  backend_id: string
  /** Without the backend's folder or prefix. */
  key: string
  bytes: number
  sha256: string
  kept_at: string
  /** When it was found to be gone, or to be another one; null again once it is put there anew. */
  lost_at: string | null
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    storage_backends: Omit<StorageBackendRow, 'active'> & { active: Generated<boolean> }
    invoice_files: InvoiceFileRow
  }
}
