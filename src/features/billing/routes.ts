// /api/v1/billing: all of its routes.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { BillingKernel } from './billing-kernel.ts'
import { invoiceRoutes } from './invoice-routes.ts'
import { lineRoutes } from './line-routes.ts'

export const billingRoutes =
  (kernel: BillingKernel): FastifyPluginAsyncTypebox =>
  async app => {
    await app.register(invoiceRoutes(kernel))
    await app.register(lineRoutes(kernel))
  }
