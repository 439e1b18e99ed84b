// /api/v1/billing/invoices/:id/file and /files

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { CSV } from '../../kernel/http/csv.ts'
import { cursorOf, PageQuery, withNextLink } from '../../kernel/http/pages.ts'
import { Many, Query } from '../../kernel/http/schemas.ts'
import { listFiles } from '../storage-backends/index.ts'
import { findInvoice } from './repository.ts'
import { FileQuery, IdParams, InvoiceFile } from './schemas.ts'
import { sendFile } from './send-file.ts'

const config = { guard: 'operator' } as const
const tags = ['Billing']
const base = '/api/v1/billing/invoices/:id'

export const fileRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async app => {
    const files = cursorOf('invoice_files', ['uuid'])

    app.get(
      `${base}/file`,
      {
        config: {
          ...config,
          problems: {
            404: { file_not_kept: 'No storage backend has the file.' },
            503: { file_unavailable: 'The storage backend does not give the file, or gives another one.' },
          },
        },
        schema: {
          tags,
          operationId: 'getInvoiceFile',
          summary: 'Download an invoice’s raw file',
          description:
            'The file that the lines are from, as the provider sent it; `ETag` is its SHA-256. It is compared with that on its way, and breaks off when it is not the same.',
          params: IdParams,
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

    app.get(
      `${base}/files`,
      {
        config,
        schema: {
          tags,
          operationId: 'listInvoiceFiles',
          summary: 'List the kept files of an invoice',
          description:
            'Newest first: one for each file that its lines were ever from, and for each place it is kept in.',
          params: IdParams,
          querystring: Query(PageQuery),
          response: { 200: Many(InvoiceFile) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const before = files.read(cursor)?.[0] as string | undefined
        if (!(await findInvoice(deps.db, request.params.id))) throw notFound()
        const rows = await listFiles(deps.db, request.params.id, limit + 1, before ?? null)
        return withNextLink(
          request,
          reply,
          files.page(rows, limit, row => [row.id]),
        )
      },
    )
  }
