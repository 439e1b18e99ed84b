// /api/v1/billing for operators: balance, invoices and their files, and assigning cost lines. What tenants read too is in
// cost-routes.ts.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { CSV } from '../../kernel/http/csv.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { JsonText, routes } from '../../kernel/http/route.ts'
import { Body, ExternalId, Id, NoBody, Nullable, Query } from '../../kernel/http/schemas.ts'
import { monthOf } from '../../kernel/time.ts'
import { findFile, InvoiceFile, listFiles } from '../storage-backends/index.ts'
import { CostLine } from './cost-line.ts'
import { AnyDayOfPeriod, addCostRoutes } from './cost-routes.ts'
import { sendFile } from './downloads.ts'
import { DailyEstimate } from './estimate.ts'
import { listEstimates } from './estimate-store.ts'
import { requestIngest } from './ingest-invoice.ts'
import { Balance, FINANCE_STATUSES, INGEST_STATUSES, Invoice, InvoiceDetail } from './invoice.ts'
import { findInvoice, latestBalance, listBalances, listInvoices, showInvoice } from './invoice-store.ts'
import { assignLine, unassignLineByHand } from './match-lines.ts'
import { requestPushNow } from './push-invoice.ts'

const AssignCostLine = Body(
  {
    resource_id: Type.Optional(Id),
    deployment_id: Type.Optional(Id),
    tenant_id: Type.Optional(ExternalId),
  },
  { title: 'AssignCostLine', description: 'Exactly one of the three.' },
)

const FileQuery = Query({
  sha256: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'An older file, or the same; unless said otherwise the one that the lines are from.',
    }),
  ),
})

const params = Type.Object({ id: Id })
const base = '/api/v1/billing'

export const billingRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Billing', guard: 'operator' }, route => {
    route.get(
      `${base}/balance`,
      {
        id: 'getBalance',
        summary: 'Get the latest balance',
        description: 'Recorded hourly; null before the first time.',
        data: Nullable(Balance),
      },
      async () => (await latestBalance(deps.db)) ?? null,
    )

    route.list(
      `${base}/balance/history`,
      {
        id: 'listBalances',
        summary: 'List balances over time',
        description: 'As they were recorded, oldest first.',
        filters: {
          from: Type.Optional(Type.String({ format: 'date', description: 'The first day, in UTC.' })),
          to: Type.Optional(Type.String({ format: 'date', description: 'The last day, in UTC.' })),
          granularity: Type.Enum(['hour', 'day'], {
            default: 'hour',
            description: '`hour`: all that was recorded. `day`: the last of each day.',
          }),
        },
        items: Balance,
        cursor: cursorOf('balances', ['time', 'uuid']),
        key: (row: { recorded_at: string; id: string }) => [row.recorded_at, row.id],
      },
      ({ filter: { granularity, ...days }, limit, after }) =>
        listBalances(deps.db, { ...days, daily: granularity === 'day' }, limit, after),
    )

    route.list(
      `${base}/invoices`,
      {
        id: 'listInvoices',
        summary: 'List the provider’s invoices',
        description: 'Newest month first.',
        filters: {
          ingest_status: Type.Optional(Type.Enum([...INGEST_STATUSES])),
          finance_status: Type.Optional(Type.Enum([...FINANCE_STATUSES])),
          reconciled: Type.Optional(Type.Boolean()),
          period: Type.Optional(AnyDayOfPeriod),
        },
        items: Invoice,
        cursor: cursorOf('invoices', ['date', 'uuid']),
        key: (row: { period: string; id: string }) => [row.period, row.id],
      },
      ({ filter: { period, ...filter }, limit, after }) =>
        listInvoices(deps.db, { ...filter, period: period && monthOf(period).first_day }, limit, after),
    )

    route.get(
      `${base}/invoices/:id`,
      { id: 'getInvoice', summary: 'Get an invoice', params, data: InvoiceDetail },
      async ({ params: { id } }) => {
        const invoice = await showInvoice(deps.db, id)
        if (!invoice) throw notFound()
        const file = invoice.sha256 === null ? undefined : await findFile(deps.db, id, invoice.sha256)
        return { ...invoice, file: file ?? null }
      },
    )

    route.post(
      `${base}/invoices/:id/ingest`,
      {
        id: 'ingestInvoice',
        summary: 'Fetch an invoice’s lines again',
        description:
          'Queued; the invoice’s `ingest_status` says how it went. If the file has not changed, only lines without a match are matched again.',
        problems: { 409: { already_running: 'The invoice is queued or being fetched.' } },
        params,
        body: NoBody,
        status: 202,
        data: Invoice,
      },
      ({ deps, params }) => requestIngest(deps, params.id),
    )

    route.post(
      `${base}/invoices/:id/push`,
      {
        id: 'pushInvoice',
        summary: 'Push an invoice to finance',
        description:
          'Queued; also when finance knows the invoice already, which then updates it. 409 `not_ingested` without lines, or where the provider has changed the invoice and its new file is not in yet; `finance_not_configured` without a finance service.',
        problems: {
          409: {
            not_ingested: 'The invoice has no lines yet, or not those of its new file.',
            finance_not_configured: 'There is no finance service.',
          },
        },
        params,
        body: NoBody,
        status: 202,
        data: Invoice,
      },
      ({ deps, params }) => requestPushNow(deps, params.id),
    )

    route.app.get<{ Params: { id: string }; Querystring: { sha256?: string } }>(
      `${base}/invoices/:id/file`,
      {
        config: {
          guard: 'operator',
          problems: {
            404: { file_not_kept: 'No storage backend has the file.' },
            503: { file_unavailable: 'The storage backend does not give the file, or gives another one.' },
          },
        },
        schema: {
          tags: ['Billing'],
          operationId: 'getInvoiceFile',
          summary: 'Download an invoice’s raw file',
          description:
            'The file that the lines are from, as the provider sent it; `ETag` is its SHA-256. It is compared with that on its way, and breaks off when it is not the same.',
          params,
          querystring: FileQuery,
          response: {
            200: {
              description: 'The file.',
              content: { [CSV]: { schema: Type.String({ description: 'The provider’s own CSV.' }) } },
            },
            304: { description: 'You have it already: `If-None-Match` names it.' },
          },
        },
      },
      (request, reply) => sendFile(deps, request.params.id, request.query.sha256, reply),
    )

    route.list(
      `${base}/invoices/:id/files`,
      {
        id: 'listInvoiceFiles',
        summary: 'List the kept files of an invoice',
        description:
          'Newest first: one for each file that its lines were ever from, and for each place it is kept in.',
        params,
        items: InvoiceFile,
        cursor: cursorOf('invoice_files', ['uuid']),
        key: (row: { id: string }) => [row.id],
      },
      async ({ params: { id }, limit, after }) => {
        if (!(await findInvoice(deps.db, id))) throw notFound()
        return listFiles(deps.db, id, limit, after)
      },
    )

    addCostRoutes(deps, route)

    route.list(
      `${base}/costs/estimates`,
      {
        id: 'listCostEstimates',
        summary: 'List what was estimated on each day',
        description:
          'The last estimate of each day, newest first, beside what the invoices of its month came to later.',
        filters: { period: Type.Optional(AnyDayOfPeriod) },
        items: DailyEstimate,
        cursor: cursorOf('cost_estimates', ['date', 'date']),
        key: (row: { period: string; day: string }) => [row.period, row.day],
      },
      ({ filter: { period }, limit, after }) =>
        listEstimates(deps.db, period && monthOf(period).first_day, limit, after),
    )

    route.post(
      `${base}/cost-lines/:id/assign`,
      {
        id: 'assignCostLine',
        summary: 'Assign a cost line',
        description:
          'A resource brings the deployment and tenant it had while the line ran, a deployment its tenant. It stays said when the invoice is ingested again.',
        params,
        body: AssignCostLine,
        data: CostLine,
      },
      async ({ deps, caller, params, body }) =>
        new JsonText(await assignLine(deps, params.id, body, caller.sub)),
    )

    route.delete(
      `${base}/cost-lines/:id/assign`,
      {
        id: 'unassignCostLine',
        summary: 'Unassign a cost line',
        description: 'It is matched by kind and name again. A line that nobody assigned stays as it is.',
        params,
        data: CostLine,
      },
      async ({ deps, params }) => new JsonText(await unassignLineByHand(deps, params.id)),
    )
  })
