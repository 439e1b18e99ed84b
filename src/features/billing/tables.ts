// Rows of the balance, the invoices, their lines, and what operators assigned lines to.
import type { ColumnType, Generated } from 'kysely'

export const INGEST_STATUSES = ['pending', 'ingested', 'failed'] as const
export type IngestStatus = (typeof INGEST_STATUSES)[number]

export const FINANCE_ACTIONS = ['created', 'updated'] as const
export type FinanceAction = (typeof FINANCE_ACTIONS)[number]

/** Amounts are exact decimals as text. */
export interface BalanceSnapshotRow {
  id: string
  provider: string
  month_to_date_balance: string
  account_balance: string
  month_to_date_usage: string
  currency: string
  generated_at: string
  recorded_at: string
}

export interface InvoiceRow {
  id: string
  provider: string
  invoice_uuid: string
  invoice_number: string | null
  /** The first day of its month. */
  period: string
  amount: string
  currency: string
  ingest_status: IngestStatus
  ingest_error: string | null
  /** How many line sets it has had. */
  ingest_count: number
  ingested_at: string | null
  line_count: number | null
  /** Σ of the lines, exactly. */
  lines_amount: string | null
  /** Σ amount_minor of the lines that are no tax, and of those that are: what finance is told. */
  amount_net_minor: number | null
  amount_tax_minor: number | null
  reconciled: boolean | null
  /** Of the raw file. */
  sha256: string | null
  /** Of what the lines say; differs from `pushed_lines_hash` when finance is to be told again. */
  lines_hash: string | null
  created_at: string
  updated_at: string
  pushed_to_finance_at: string | null
  finance_invoice_id: string | null
  finance_action: FinanceAction | null
  pushed_lines_hash: string | null
  finance_error: string | null
  /** How many pushes were begun. */
  push_count: number
}

export interface CostLineRow {
  id: string
  invoice_id: string
  period: string
  /** Where it stands in the file. */
  line_number: number
  product: string
  group_description: string | null
  description: string
  kind: string
  name: string | null
  hours: string | null
  start_at: string | null
  end_at: string | null
  amount: string
  amount_minor: number
  currency: string
  project_name: string | null
  category: string | null
  is_tax: boolean
  tax_flagged: boolean
  extra: Record<string, string> | null
  resource_id: string | null
  deployment_id: string | null
  tenant_id: string | null
  matched_by: 'auto' | 'hand' | null
  matched: boolean
}

export interface LineAssignmentRow {
  invoice_id: string
  line_key: string
  occurrence: number
  resource_id: string | null
  deployment_id: string | null
  tenant_id: string | null
  assigned_by: string
  assigned_at: string
}

type WithDefaults<Row, Names extends keyof Row> = Omit<Row, Names> & {
  [Name in Names]: Generated<Row[Name]>
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    cloud_balance_snapshots: BalanceSnapshotRow
    cloud_invoices: WithDefaults<InvoiceRow, 'ingest_status' | 'ingest_count' | 'push_count'>
    /** `matched` is worked out by the database. */
    cloud_cost_lines: Omit<CostLineRow, 'matched'> & { matched: ColumnType<boolean, never, never> }
    cloud_line_assignments: LineAssignmentRow
  }
}
