// Rows of the balance, the invoices, their lines, and what operators assigned lines to. Amounts are exact decimals as text.
import type { Generated } from 'kysely'
import type { Row } from '../../kernel/db/tables.ts'

export const INGEST_STATUSES = ['pending', 'ingested', 'failed'] as const
export type IngestStatus = (typeof INGEST_STATUSES)[number]

export const FINANCE_ACTIONS = ['created', 'updated'] as const
export type FinanceAction = (typeof FINANCE_ACTIONS)[number]

export type BalanceSnapshotRow = Row<'cloud_balance_snapshots'>

/**
 * `period` is the first day of its month, `ingest_count` how many line sets it has had, `push_count` how many pushes were
 * begun. `lines_amount` is the exact sum of the lines; `amount_net_minor` and `amount_tax_minor` are what finance is told.
 * `sha256` is the raw file's; `lines_hash` is that of what the lines say, and differs from `pushed_lines_hash` when finance
 * is to be told again.
 */
export type InvoiceRow = Row<'cloud_invoices'>
/** `line_number` is where it stands in the file; `matched` is worked out by the database. */
export type CostLineRow = Row<'cloud_cost_lines'>
export type LineAssignmentRow = Row<'cloud_line_assignments'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    cloud_invoices: { ingest_status: Generated<IngestStatus>; finance_action: FinanceAction | null }
    cloud_cost_lines: { extra: Record<string, string> | null; matched_by: 'auto' | 'hand' | null }
  }
}
