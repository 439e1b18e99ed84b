// /api/v1/billing/invoices/:id/file
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { CSV } from '../../kernel/http/csv.ts'
import type { BillingKernel } from './billing-kernel.ts'
import { IdParams } from './schemas.ts'
import { sendFile } from './send-file.ts'

export const fileRoutes =
  (kernel: BillingKernel): FastifyPluginAsyncTypebox =>
  async app => {
    app.get(
      '/api/v1/billing/invoices/:id/file',
      {
        config: {
          guard: 'platform_admin',
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
          params: IdParams,
          response: {
            200: {
              description: 'The file.',
              content: { [CSV]: { schema: Type.String({ description: 'The provider’s own CSV.' }) } },
            },
            304: { description: 'You have it already: `If-None-Match` names it.' },
          },
        },
      },
      (request, reply) => sendFile(kernel, request.params.id, reply),
    )
  }
