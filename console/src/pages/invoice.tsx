// One invoice: does it add up, does finance know it, where its file is, and its lines.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../api.ts'
import { useList, useQuery } from '../query.ts'
import { to } from '../router.tsx'
import type { PageProps } from '../routes.ts'
import { may } from '../session.tsx'
import {
  ActButton,
  announce,
  Confirm,
  Download,
  Facts,
  Missing,
  Money,
  Page,
  Section,
  Shown,
  Table,
  Time,
} from '../ui/index.ts'
import { moneyOfMinor } from '../ui/minor.ts'
import { CostLineTable } from './cost-line-table.tsx'
import { FinanceBadge, IngestBadge, ReconciledBadge } from './invoices.tsx'
import { difference } from './money.ts'

type Invoice = Schemas['InvoiceDetail']

export default function InvoicePage({ params: { id = '' } }: PageProps) {
  const invoice = useQuery(
    signal => ok(api.GET('/api/v1/billing/invoices/{id}', { params: { path: { id } }, signal })),
    [id],
    { every: 5_000 },
  )
  const found = invoice.data?.data
  const lines = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/billing/cost-lines', { params: { query: { invoice_id: id, cursor } }, signal })),
    [id],
    // Another file has other lines.
    { when: found !== undefined, again: found?.ingested_at },
  )
  return (
    <Page
      title={found ? `Invoice ${found.invoice_number ?? found.invoice_uuid}` : 'Invoice'}
      operation="getInvoice"
      actions={found && <Acts invoice={found} reload={invoice.reload} />}
    >
      <Shown query={invoice}>
        {({ data }) => (
          <>
            <Totals invoice={data} />
            <div class="columns">
              <Reconciliation invoice={data} />
              <Finance invoice={data} />
            </div>
            <Files id={id} sha256={data.sha256} />
            <Section title="Lines">
              <CostLineTable label="Lines of the invoice" list={lines} empty="Its lines are not here yet." />
            </Section>
          </>
        )}
      </Shown>
    </Page>
  )
}

function Acts({ invoice, reload }: { invoice: Invoice; reload: () => Promise<void> }) {
  const [pushing, setPushing] = useState(false)
  const path = { id: invoice.id }
  const push = async () => {
    await ok(api.POST('/api/v1/billing/invoices/{id}/push', { params: { path }, headers: once() }))
    announce('Queued: finance is told in a moment.')
    await reload()
  }
  const ingest = async () => {
    await ok(api.POST('/api/v1/billing/invoices/{id}/ingest', { params: { path }, headers: once() }))
    await reload()
  }
  const known = invoice.finance_invoice_id !== null
  return (
    <>
      {may('pushInvoice') && invoice.finance_status !== 'not_ingested' && (
        <button type="button" onClick={() => setPushing(true)}>
          {known ? 'Push again' : 'Push to finance'}
        </button>
      )}
      <ActButton operation="ingestInvoice" run={ingest} done="Queued: the lines are fetched in a moment.">
        Fetch lines again
      </ActButton>
      {pushing && (
        <Confirm
          title={`Push ${invoice.period.slice(0, 7)} to finance`}
          act="Push"
          run={push}
          onClose={() => setPushing(false)}
        >
          <p>
            Finance {known ? 'has this invoice, and is told to update it' : 'is told of this invoice'}: net{' '}
            {shownMinor(invoice.amount_net_minor, invoice)}, tax{' '}
            {shownMinor(invoice.amount_tax_minor, invoice)}.
          </p>
          {invoice.reconciled === false && <p class="wrong">Its lines do not add up to its amount.</p>}
        </Confirm>
      )}
    </>
  )
}

const shownMinor = (minor: number | null, { currency }: Invoice) =>
  minor === null ? <Missing /> : moneyOfMinor(minor, currency)

const Totals = ({ invoice }: { invoice: Invoice }) => (
  <Facts
    facts={[
      ['Month', invoice.period.slice(0, 7)],
      ['Amount', <Money key="amount" amount={invoice.amount} currency={invoice.currency} />],
      ['Net', shownMinor(invoice.amount_net_minor, invoice)],
      ['Tax', shownMinor(invoice.amount_tax_minor, invoice)],
      ['Provider', invoice.provider],
      ['Provider’s id', invoice.invoice_uuid],
    ]}
  />
)

const Reconciliation = ({ invoice }: { invoice: Invoice }) => (
  <Section title="Reconciliation">
    <Facts
      facts={[
        ['Ingest', <IngestBadge key="ingest" {...invoice} />],
        ['Fetched', <Time key="at" at={invoice.ingested_at} />],
        ['Lines', invoice.line_count],
        ['Result', <ReconciledBadge key="result" {...invoice} />],
        ['Sum of the lines', <Money key="sum" amount={invoice.lines_amount} currency={invoice.currency} />],
        [
          'Amount less lines',
          invoice.lines_amount && `${difference(invoice.amount, invoice.lines_amount)} ${invoice.currency}`,
        ],
      ]}
    />
    {invoice.ingest_error && <p class="wrong">{invoice.ingest_error}</p>}
  </Section>
)

const Finance = ({ invoice }: { invoice: Invoice }) => (
  <Section title="Finance">
    <Facts
      facts={[
        ['State', <FinanceBadge key="state" {...invoice} />],
        ['Pushed', <Time key="at" at={invoice.pushed_to_finance_at} />],
        ['Finance’s id', invoice.finance_invoice_id],
        ['Last push', invoice.finance_action],
      ]}
    />
    {invoice.finance_error && <p class="wrong">{invoice.finance_error}</p>}
  </Section>
)

function Files({ id, sha256 }: { id: string; sha256: string | null }) {
  const files = useList(
    (cursor, signal) =>
      ok(
        api.GET('/api/v1/billing/invoices/{id}/files', {
          params: { path: { id }, query: { cursor } },
          signal,
        }),
      ),
    [id],
    { again: sha256 },
  )
  return (
    <Section title="Files as the provider sent them">
      <Table
        label="Files"
        list={files}
        id={file => file.backend_id + file.sha256}
        empty="None is kept: no storage backend was active when the lines were fetched."
        columns={[
          { name: 'Kept', cell: ({ kept_at }) => <Time at={kept_at} /> },
          { name: 'In', cell: ({ backend }) => backend },
          { name: 'Bytes', number: true, cell: ({ bytes }) => bytes.toLocaleString() },
          { name: 'SHA-256', cell: file => file.sha256 },
          {
            name: 'File',
            cell: file => (
              <Download path={to`/api/v1/billing/invoices/${id}/file`} query={{ sha256: file.sha256 }} plain>
                Download
              </Download>
            ),
          },
        ]}
      />
    </Section>
  )
}
