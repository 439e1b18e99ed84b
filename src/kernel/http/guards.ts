// Every route declares who may call it, and a route that does not is refused when the app is built. Authentication
// comes before everything else, so unknown paths answer 401 to strangers, not 404.
import type { FastifyInstance } from 'fastify'
import { forbidden } from '../errors.ts'
import type { Door } from './authenticate.ts'
import type { RateLimits } from './rate-limits.ts'
import { refuseSuspended, refuseWithout } from './standing.ts'

/** `public`: anyone; `caller`: an authenticated caller of a tenant, or a platform_admin. */
export type Guard = 'public' | 'caller' | 'platform_admin'

declare module 'fastify' {
  interface FastifyContextConfig {
    guard?: Guard
    /** False: whatever their roles permit, callers may call it. */
    permission?: false
  }
}

export function installGuards(app: FastifyInstance, door: Door, limits: RateLimits): void {
  app.decorateRequest('caller', undefined)
  app.addHook('onRoute', route => {
    if (!route.config?.guard) throw new Error(`${route.method} ${route.url} declares no guard (config.guard)`)
  })
  app.addHook('onRequest', async (request, reply) => {
    const { guard, permission, url } = request.routeOptions.config
    if (guard === 'public') return limits.admitStranger(request, reply)
    const caller = await limits.admit(request, reply)
    request.caller = caller
    if (!caller.platformAdmin && caller.tenantId === null) throw forbidden('The token names no tenant.')
    const standing = await door.standing(caller)
    refuseSuspended(standing)
    if (guard === 'platform_admin' && !caller.platformAdmin) throw forbidden('This is for a platform_admin.')
    if (guard === 'caller' && permission !== false) refuseWithout(standing, request.method, url)
  })
}
