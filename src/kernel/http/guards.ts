// Every route declares who may call it, and a route that does not is refused when the app is built. Authentication
// comes before everything else, so unknown paths answer 401 to strangers, not 404.
import type { FastifyInstance } from 'fastify'
import { forbidden } from '../errors.ts'
import { type Guard, neededFor, type RoutePermission, refuseSuspended, refuseUnpermitted } from './access.ts'
import type { Door } from './authenticate.ts'
import type { Caller } from './caller.ts'
import type { RateLimits } from './rate-limits.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    guard?: Guard
    permission?: RoutePermission
    /** Another that will do, for operators. */
    permissionInstead?: string
  }
}

export function installGuards(app: FastifyInstance, door: Door, limits: RateLimits): void {
  app.decorateRequest('caller', undefined)
  app.addHook('onRoute', route => {
    if (!route.config?.guard) throw new Error(`${route.method} ${route.url} declares no guard (config.guard)`)
  })
  app.addHook('onRequest', async (request, reply) => {
    const { guard, permission, permissionInstead, url } = request.routeOptions.config
    if (guard === 'public') return limits.admitStranger(request, reply)
    // Who it is is known to the log even if what it may do cannot be found out.
    const caller: Caller = { ...(await limits.admit(request, reply)), operator: false, limits: [] }
    request.caller = caller
    const access = await door.accessOf(caller)
    refuseSuspended(access)
    if (!caller.platformAdmin && caller.tenantId === null) throw forbidden('The token names no tenant.')
    caller.operator = access.operator
    caller.limits = access.limits
    refuseUnpermitted(caller, guard, neededFor(guard, permission, request.method, url), permissionInstead)
  })
}
