// What finance knows of an invoice.
import type { InvoiceRow } from './tables.ts'

export const FINANCE_STATUSES = ['not_ingested', 'not_pushed', 'pushed', 'outdated'] as const
export type FinanceStatus = (typeof FINANCE_STATUSES)[number]

type Told = Pick<InvoiceRow, 'lines_hash' | 'pushed_lines_hash'>

export function financeStatus({ lines_hash, pushed_lines_hash }: Told): FinanceStatus {
  if (lines_hash === null) return 'not_ingested'
  if (pushed_lines_hash === null) return 'not_pushed'
  return pushed_lines_hash === lines_hash ? 'pushed' : 'outdated'
}

/** The invoice as the API shows it. */
export const shownInvoice = <Row extends Told>(invoice: Row): Row & { finance_status: FinanceStatus } => ({
  ...invoice,
  finance_status: financeStatus(invoice),
})
