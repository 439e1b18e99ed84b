// /api/v1/billing: all of its routes.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { BillingKernel } from './billing-kernel.ts'
import { fileRoutes } from './file-routes.ts'
import { focusRoutes } from './focus-routes.ts'
import { invoiceRoutes } from './invoice-routes.ts'
import { lineRoutes } from './line-routes.ts'
import { pushRoutes } from './push-routes.ts'
import { summaryRoutes } from './summary-routes.ts'

export const billingRoutes =
  (kernel: BillingKernel): FastifyPluginAsyncTypebox =>
  async app => {
    await invoiceRoutes(kernel)(app, {})
    await fileRoutes(kernel)(app, {})
    await pushRoutes(kernel)(app, {})
    await lineRoutes(kernel)(app, {})
    await summaryRoutes(kernel)(app, {})
    await focusRoutes(kernel)(app, {})
  }
