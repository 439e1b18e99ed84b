// Rows of the storage backends, and of the invoice files kept in them.
import type { Row } from '../../kernel/db/tables.ts'

export const BACKEND_KINDS = ['local', 's3'] as const
export type BackendKind = (typeof BACKEND_KINDS)[number]

/** `folder` is a local backend’s, the others an S3-compatible one’s; `secret_access_key` is encrypted. */
export type StorageBackendRow = Row<'storage_backends'>

/**
 * `key` is without the backend's folder or prefix. `lost_at`: when the file was found to be gone, or to be another one; null
 * again once it is put there anew.
 */
export type InvoiceFileRow = Row<'invoice_files'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    storage_backends: { kind: BackendKind }
  }
}
