// /api/v1/billing/balance and /api/v1/billing/invoices

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, withNextLink } from '../../kernel/http/pages.ts'
import { Many, NoBody, Nullable, One } from '../../kernel/http/schemas.ts'
import { monthOf } from '../../kernel/time.ts'
import { findFile } from '../storage-backends/index.ts'
import { shownInvoice } from './finance-status.ts'
import { findInvoice, latestBalance, listInvoices } from './repository.ts'
import { requestIngest } from './request-ingest.ts'
import { Balance, IdParams, Invoice, InvoicesQuery, ShownInvoice } from './schemas.ts'

const config = { guard: 'operator' } as const
const tags = ['Billing']
const base = '/api/v1/billing'

export function invoiceRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const { db } = deps
  const invoices = cursorOf('invoices', ['date', 'uuid'])

  return async app => {
    app.get(
      `${base}/balance`,
      {
        config,
        schema: {
          tags,
          operationId: 'getBalance',
          summary: 'Show the latest balance',
          description: 'Recorded hourly; null before the first time.',
          response: { 200: One(Nullable(Balance)) },
        },
      },
      async () => ({ data: (await latestBalance(db)) ?? null }),
    )

    app.get(
      `${base}/invoices`,
      {
        config,
        schema: {
          tags,
          operationId: 'listInvoices',
          summary: 'List the provider’s invoices',
          description: 'Newest month first.',
          querystring: InvoicesQuery,
          response: { 200: Many(Invoice) },
        },
      },
      async (request, reply) => {
        const { limit, cursor, period, ...filter } = request.query
        const key = invoices.read(cursor) as [string, string] | null
        const before = key && { period: key[0], id: key[1] }
        const rows = await listInvoices(
          db,
          { ...filter, period: period && monthOf(period).first_day },
          limit + 1,
          before,
        )
        return withNextLink(
          request,
          reply,
          invoices.page(rows.map(shownInvoice), limit, row => [row.period, row.id]),
        )
      },
    )

    app.get(
      `${base}/invoices/:id`,
      {
        config,
        schema: {
          tags,
          operationId: 'getInvoice',
          summary: 'Show an invoice',
          params: IdParams,
          response: { 200: One(ShownInvoice) },
        },
      },
      async request => {
        const { id } = request.params
        const invoice = await findInvoice(db, id)
        if (!invoice) throw notFound()
        const file = invoice.sha256 === null ? undefined : await findFile(db, id, invoice.sha256)
        return { data: { ...shownInvoice(invoice), file: file ?? null } }
      },
    )

    app.post(
      `${base}/invoices/:id/ingest`,
      {
        config: {
          ...config,
          problems: { 409: { already_running: 'The invoice is queued or being fetched.' } },
        },
        schema: {
          tags,
          operationId: 'ingestInvoice',
          summary: 'Fetch an invoice’s lines again',
          description:
            'Queued; the invoice’s `ingest_status` says how it went. If the file has not changed, only lines without a match are matched again.',
          params: IdParams,
          body: NoBody,
          response: { 202: One(Invoice) },
        },
      },
      async (request, reply) => {
        const invoice = await requestIngest(inRequest(deps, request), request.params.id)
        reply.code(202)
        return { data: shownInvoice(invoice) }
      },
    )
  }
}
