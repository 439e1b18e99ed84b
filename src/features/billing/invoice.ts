// What the provider's balance and an invoice look like: in the API, in webhooks and in the tables.
import type { Generated } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Row } from '../../kernel/db/tables.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { extended, noun } from '../../kernel/noun.ts'
import { InvoiceFile } from '../storage-backends/index.ts'

export const INGEST_STATUSES = ['pending', 'ingested', 'failed'] as const
export type IngestStatus = (typeof INGEST_STATUSES)[number]

const FINANCE_ACTIONS = ['created', 'updated'] as const
export const FINANCE_STATUSES = ['not_ingested', 'not_pushed', 'pushed', 'outdated'] as const

export const Decimal = Type.String({ description: 'An exact decimal.', examples: ['12.34'] })
export const Minor = (description?: string) => Type.Integer({ description })
export const Currency = Type.String({ description: 'ISO 4217.' })
export const Period = Type.String({ format: 'date', description: 'The first day of the invoice’s month.' })

export const Balance = noun(
  'Balance',
  {
    provider: Type.String(),
    month_to_date_balance: Decimal,
    account_balance: Decimal,
    month_to_date_usage: Decimal,
    currency: Currency,
    generated_at: Type.String({ ...Time, description: 'When the provider worked it out.' }),
    recorded_at: Type.String({ ...Time, description: 'When the provider was asked.' }),
  },
  {
    month_to_date_balance: '$.month_to_date_balance::text',
    account_balance: '$.account_balance::text',
    month_to_date_usage: '$.month_to_date_usage::text',
  },
)

/** SQL, of a row `$` of cloud_invoices. */
export const FINANCE_STATUS = `case when $.lines_hash is null then 'not_ingested' when $.pushed_lines_hash is null then 'not_pushed'
  when $.pushed_lines_hash = $.lines_hash and not $.awaits_file then 'pushed' else 'outdated' end`

export const Invoice = noun(
  'Invoice',
  {
    id: Id,
    provider: Type.String(),
    invoice_uuid: Type.String({
      description: 'The provider’s id of the invoice, and finance’s `external_id`.',
    }),
    invoice_number: Nullable(Type.String()),
    period: Period,
    amount: Decimal,
    currency: Currency,
    ingest_status: Type.Enum([...INGEST_STATUSES], {
      description: '`failed`: the last attempt; lines of an earlier one stand all the same.',
    }),
    ingest_error: Nullable(
      Type.String({ description: 'What went wrong; for a bad file the line and the column.' }),
    ),
    ingested_at: Nullable(Time),
    line_count: Nullable(Type.Integer()),
    lines_amount: Nullable(Type.String({ description: 'The sum of the lines, exactly.' })),
    amount_net_minor: Nullable(Minor('The sum of `amount_minor` of the lines that are no tax.')),
    amount_tax_minor: Nullable(Minor('The sum of `amount_minor` of the lines that are tax.')),
    reconciled: Nullable(
      Type.Boolean({
        description:
          'Whether the lines add up to the invoice’s amount; false from when that changes until the new file is in.',
      }),
    ),
    sha256: Nullable(Type.String({ description: 'Of the file the lines are from.' })),
    pushed_to_finance_at: Nullable(Time),
    finance_invoice_id: Nullable(Type.String()),
    finance_action: Nullable(Type.Enum([...FINANCE_ACTIONS])),
    finance_status: Type.Enum([...FINANCE_STATUSES], {
      description:
        '`outdated`: finance has been told, but is to be told again: the lines have changed since, or the provider has changed the invoice and its new file is not in yet.',
    }),
    finance_error: Nullable(Type.String({ description: 'Why the last push failed.' })),
  },
  {
    amount: '$.amount::text',
    lines_amount: '$.lines_amount::text',
    finance_status: FINANCE_STATUS,
  },
)

/** With the raw file that the lines are from, where it is kept. */
export const InvoiceDetail = extended('InvoiceDetail', Invoice, { file: Nullable(InvoiceFile) })

/** An invoice as the API shows it. */
export type ShownInvoice = Static<typeof Invoice>

export type BalanceSnapshotRow = Row<'cloud_balance_snapshots'>

/**
 * `period` is the first day of its month, `ingest_count` how many line sets it has had, `push_count` how many pushes were
 * begun. `lines_amount` is the exact sum of the lines; `amount_net_minor` and `amount_tax_minor` are what finance is told.
 * `awaits_file`: the provider has changed the invoice since its lines were read.
 * `sha256` is the raw file's; `lines_hash` is that of what the lines say, and differs from `pushed_lines_hash` when finance
 * is to be told again.
 */
export type InvoiceRow = Row<'cloud_invoices'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    cloud_invoices: {
      ingest_status: Generated<IngestStatus>
      finance_action: (typeof FINANCE_ACTIONS)[number] | null
    }
  }
}
