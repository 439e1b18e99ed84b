// /api/v1/billing: all of its routes.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { fileRoutes } from './file-routes.ts'
import { focusRoutes } from './focus-routes.ts'
import { invoiceRoutes } from './invoice-routes.ts'
import { lineRoutes } from './line-routes.ts'
import { pushRoutes } from './push-routes.ts'
import { summaryRoutes } from './summary-routes.ts'

export const billingRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async app => {
    await invoiceRoutes(deps)(app, {})
    await fileRoutes(deps)(app, {})
    await pushRoutes(deps)(app, {})
    await lineRoutes(deps)(app, {})
    await summaryRoutes(deps)(app, {})
    await focusRoutes(deps)(app, {})
  }
