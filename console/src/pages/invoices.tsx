// The provider's invoices: fetched, added up, and told to finance, each of them or not yet.
import { api, ok, type Schemas } from '../api.ts'
import { useList } from '../query.ts'
import { filters, Link, to } from '../router.tsx'
import {
  Badge,
  type Column,
  type FilterField,
  Filters,
  Missing,
  Money,
  Page,
  Table,
  Time,
} from '../ui/index.ts'
import { monthFilter } from './money.ts'

type Invoice = Schemas['Invoice']

const FIELDS: FilterField[] = [
  { name: 'period', label: 'Month', type: 'month' },
  { name: 'ingest_status', label: 'Ingest', options: ['pending', 'ingested', 'failed'] },
  {
    name: 'reconciled',
    label: 'Reconciliation',
    options: [
      { value: 'true', text: 'lines add up' },
      { value: 'false', text: 'lines differ' },
    ],
  },
  { name: 'finance_status', label: 'Finance', options: ['not_ingested', 'not_pushed', 'pushed', 'outdated'] },
]

const COLUMNS: Column<Invoice>[] = [
  {
    name: 'Month',
    cell: ({ id, period }) => <Link href={to`/money/invoices/${id}`}>{period.slice(0, 7)}</Link>,
  },
  { name: 'Number', cell: ({ invoice_number }) => invoice_number ?? <Missing /> },
  {
    name: 'Amount',
    number: true,
    cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
  },
  { name: 'Ingest', cell: invoice => <IngestBadge {...invoice} /> },
  { name: 'Lines', number: true, cell: ({ line_count }) => line_count ?? <Missing /> },
  { name: 'Reconciliation', cell: invoice => <ReconciledBadge {...invoice} /> },
  { name: 'Finance', cell: invoice => <FinanceBadge {...invoice} /> },
  { name: 'Pushed', cell: ({ pushed_to_finance_at }) => <Time at={pushed_to_finance_at} /> },
]

export const IngestBadge = ({ ingest_status }: Pick<Invoice, 'ingest_status'>) => (
  <Badge {...(ingest_status === 'ingested' && { tone: 'good' as const })}>{ingest_status}</Badge>
)

export const ReconciledBadge = ({ reconciled }: Pick<Invoice, 'reconciled'>) =>
  reconciled === null ? (
    <Missing />
  ) : (
    <Badge tone={reconciled ? 'good' : 'bad'}>{reconciled ? 'lines add up' : 'lines differ'}</Badge>
  )

export const FinanceBadge = ({
  finance_status,
  finance_error,
}: Pick<Invoice, 'finance_status' | 'finance_error'>) => (
  <Badge tone={finance_error ? 'bad' : finance_status === 'pushed' ? 'good' : 'busy'}>
    {finance_error ? 'push failed' : finance_status}
  </Badge>
)

export default function Invoices() {
  const query = {
    ...filters('ingest_status', 'finance_status', 'reconciled'),
    period: monthFilter('period'),
  }
  const list = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/billing/invoices', { params: { query: { ...query, cursor } }, signal })),
    [query],
    { every: 30_000 },
  )
  return (
    <Page title="Invoices" operation="listInvoices">
      <Filters fields={FIELDS} />
      <Table
        label="Invoices"
        list={list}
        columns={COLUMNS}
        id={({ id }) => id}
        empty="No invoice matches. The provider is asked for them every day, by the task billing history."
      />
    </Page>
  )
}
