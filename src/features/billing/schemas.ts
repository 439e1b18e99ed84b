// The API's words for billing.
import { Type } from 'typebox'
import { PageQuery } from '../../kernel/http/pages.ts'
import { Body, ExternalId, Id, Nullable, Query, Time } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { FINANCE_STATUSES } from './finance-status.ts'
import { FINANCE_ACTIONS, INGEST_STATUSES } from './tables.ts'

const Decimal = Type.String({ description: 'An exact decimal.', examples: ['12.34'] })
const Minor = (description?: string) => Type.Integer({ description })
const Currency = Type.String({ description: 'ISO 4217.' })
const Period = Type.String({ format: 'date', description: 'The first day of the invoice’s month.' })
export const AnyDayOfPeriod = Type.String({ format: 'date', description: 'Any day of the invoice’s month.' })

export const IdParams = Type.Object({ id: Id })

export const Balance = Type.Object({
  provider: Type.String(),
  month_to_date_balance: Decimal,
  account_balance: Decimal,
  month_to_date_usage: Decimal,
  currency: Currency,
  generated_at: Type.String({ ...Time, description: 'When the provider worked it out.' }),
  recorded_at: Type.String({ ...Time, description: 'When the provider was asked.' }),
})

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
    reconciled: Nullable(Type.Boolean({ description: 'Whether the lines add up to the invoice’s amount.' })),
    sha256: Nullable(Type.String({ description: 'Of the file the lines are from.' })),
    pushed_to_finance_at: Nullable(Time),
    finance_invoice_id: Nullable(Type.String()),
    finance_action: Nullable(Type.Enum([...FINANCE_ACTIONS])),
    finance_status: Type.Enum([...FINANCE_STATUSES], {
      description:
        '`outdated`: finance has been told, but is to be told again, for the lines have changed since.',
    }),
    finance_error: Nullable(Type.String({ description: 'Why the last push failed.' })),
  },
  {
    amount: '$.amount::text',
    lines_amount: '$.lines_amount::text',
    finance_status: `case when $.lines_hash is null then 'not_ingested' when $.pushed_lines_hash is null then 'not_pushed'
      when $.pushed_lines_hash = $.lines_hash then 'pushed' else 'outdated' end`,
  },
)

export const InvoiceFile = Type.Object({
  backend_id: Id,
  backend: Type.String({ description: 'The storage backend’s name.' }),
  key: Type.String(),
  bytes: Type.Integer(),
  sha256: Type.String(),
  kept_at: Time,
})

export const ShownInvoice = Type.Object({
  ...Invoice.properties,
  file: Nullable(
    Type.Object(InvoiceFile.properties, {
      description: 'The raw file that the lines are from, where it is kept.',
    }),
  ),
})

export const FileQuery = Query({
  sha256: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'An older file, or the same; unless said otherwise the one that the lines are from.',
    }),
  ),
})

export const InvoicesQuery = Query({
  ...PageQuery,
  ingest_status: Type.Optional(Type.Enum([...INGEST_STATUSES])),
  period: Type.Optional(AnyDayOfPeriod),
})

export const CostLine = Type.Object({
  id: Id,
  invoice_id: Id,
  period: Period,
  line_number: Type.Integer({ description: 'Where it stands in the invoice’s file.' }),
  product: Type.String(),
  group_description: Nullable(Type.String()),
  description: Type.String(),
  kind: Type.String({
    description: 'A kind of the inventory, where the product is one; else a short name of the product.',
  }),
  resource_id: Nullable(Id),
  deployment_id: Nullable(Id),
  tenant_id: Nullable(Type.String()),
  matched_by: Nullable(
    Type.Enum(['auto', 'hand'], { description: 'By kind and name, or by an operator; null: unmatched.' }),
  ),
  hours: Nullable(Decimal),
  start_at: Nullable(Time),
  end_at: Nullable(Time),
  amount: Decimal,
  amount_minor: Minor('Rounded, half away from zero.'),
  currency: Currency,
  project_name: Nullable(Type.String()),
  category: Nullable(Type.String()),
  is_tax: Type.Boolean(),
  tax_flagged: Type.Boolean({ description: 'Tax by its description, but not by its product.' }),
  extra: Type.Record(Type.String(), Type.String(), {
    description: 'Columns of the file that are not known.',
  }),
})

export const CostLinesQuery = Query({
  ...PageQuery,
  period: Type.Optional(AnyDayOfPeriod),
  kind: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  invoice_id: Type.Optional(Id),
  resource_id: Type.Optional(Id),
  deployment_id: Type.Optional(Id),
  tenant_id: Type.Optional(ExternalId),
  matched: Type.Optional(Type.Boolean()),
})

export const AssignBody = Body(
  {
    resource_id: Type.Optional(Id),
    deployment_id: Type.Optional(Id),
    tenant_id: Type.Optional(ExternalId),
  },
  { description: 'Exactly one of the three.' },
)
