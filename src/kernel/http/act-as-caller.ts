// What a request writes, it writes as its caller. Entered after the body was read, because a context does not survive
// that; requests that only read act as nobody.
import type { FastifyInstance } from 'fastify'
import { actAs } from '../audit.ts'
import { clientRequestId } from '../log.ts'
import { actingRole, addressOf, callerOf } from './caller.ts'

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

export function installActing(app: FastifyInstance): void {
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.caller === undefined || READS.has(request.method)) return done()
    const caller = callerOf(request)
    const { schema, url } = request.routeOptions
    const actor = {
      actor: caller.sub,
      actor_role: actingRole(caller),
      actor_tenant_id: caller.tenantId,
      request_id: request.id,
      client_request_id: clientRequestId(request.headers['x-request-id']),
      credential_kind: caller.via,
      credential_id: caller.credentialId,
      address: addressOf(request),
      operation: (schema as { operationId?: string } | undefined)?.operationId ?? `${request.method} ${url}`,
    }
    actAs(actor, done)
  })
}
