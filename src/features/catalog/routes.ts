// /api/v1/catalog
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Kernel } from '../../kernel/kernel.ts'
import type { PriceGuard } from './add-resource-price.ts'
import { addonRoutes } from './addon-routes.ts'
import { planRoutes } from './plan-routes.ts'
import { priceRoutes } from './price-routes.ts'
import { versionRoutes } from './version-routes.ts'

export function catalogRoutes(kernel: Kernel, guard: PriceGuard): FastifyPluginAsyncTypebox {
  return async app => {
    await planRoutes(kernel)(app, {})
    await versionRoutes(kernel)(app, {})
    await addonRoutes(kernel)(app, {})
    await priceRoutes(kernel, guard)(app, {})
  }
}
