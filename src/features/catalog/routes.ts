// /api/v1/catalog
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Kernel } from '../../kernel/kernel.ts'
import { addonRoutes } from './addon-routes.ts'
import { planRoutes } from './plan-routes.ts'
import { priceRoutes } from './price-routes.ts'
import { versionRoutes } from './version-routes.ts'

export function catalogRoutes(kernel: Kernel): FastifyPluginAsyncTypebox {
  return async app => {
    await app.register(planRoutes(kernel))
    await app.register(versionRoutes(kernel))
    await app.register(addonRoutes(kernel))
    await app.register(priceRoutes(kernel))
  }
}
