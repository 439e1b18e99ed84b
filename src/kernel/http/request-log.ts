// One line for each request, when it is answered: what was asked, by whom and by which credential, from where, and what
// came of it. Never a header, a body or a query string, which may carry secrets; nor a path as it stands, for somebody will
// have pasted one there.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { clientRequestId, maskedPath } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { addressOf } from './caller.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The problem that it was answered with. */
    problem: { code: string; detail: string } | undefined
  }
}

// Callbacks, not async functions: these run for every request, and have nothing to wait for.
export function installRequestLog(app: FastifyInstance, metrics: Metrics): void {
  app.decorateRequest('problem', undefined)
  app.decorateRequest('refused', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    record(request, reply, metrics)
    done()
  })
}

function record(request: FastifyRequest, reply: FastifyReply, metrics: Metrics): void {
  const { caller, method, routeOptions } = request
  const status = reply.statusCode
  const ms = Math.round(reply.elapsedTime * 10) / 10
  metrics.requests.observe({ method, route: routeOptions.url ?? 'unknown', status }, reply.elapsedTime / 1000)
  if (routeOptions.config.guard === 'public' && status < 400) return
  request.log.info(
    {
      method,
      route: routeOptions.url,
      path: maskedPath(request.url, routeOptions.url),
      status,
      ms,
      sub: caller?.sub,
      tenant_id: caller?.tenantId,
      credential: credentialOf(request),
      address: addressOf(request),
      client_request_id: clientRequestId(request.headers['x-request-id']) ?? undefined,
      code: request.problem?.code,
      reason: reasonFor(request, status),
    },
    'request',
  )
}

function credentialOf({ caller, refused }: FastifyRequest): { kind: string; id?: string } | undefined {
  if (caller) return { kind: caller.via, id: caller.credentialId }
  return refused && { kind: refused.kind, id: refused.id }
}

/** Why a caller was not let in or not let through; other problems may repeat what the caller sent. */
function reasonFor({ refused, problem }: FastifyRequest, status: number): string | undefined {
  if (status !== 401 && status !== 403) return undefined
  return [problem?.detail, refused?.refused].filter(Boolean).join(' ')
}
