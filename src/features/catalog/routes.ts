// /api/v1/catalog

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { PriceGuard } from './add-resource-price.ts'
import { addonRoutes } from './addon-routes.ts'
import { planRoutes } from './plan-routes.ts'
import { priceRoutes } from './price-routes.ts'
import { versionRoutes } from './version-routes.ts'

export function catalogRoutes(deps: Deps, guard: PriceGuard): FastifyPluginAsyncTypebox {
  return async app => {
    await planRoutes(deps)(app, {})
    await versionRoutes(deps)(app, {})
    await addonRoutes(deps)(app, {})
    await priceRoutes(deps, guard)(app, {})
  }
}
