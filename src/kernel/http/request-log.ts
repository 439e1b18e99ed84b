// One line for each request, when it is answered: what was asked, by whom, what came of it. Never a header, a body or a
// query string, which may carry secrets.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Metrics } from '../metrics.ts'

// Callbacks, not async functions: these run for every request, and have nothing to wait for.
export function installRequestLog(app: FastifyInstance, metrics: Metrics): void {
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
    { method, path: pathOf(request.url), status, ms, sub: caller?.sub, tenant_id: caller?.tenantId },
    'request',
  )
}

const pathOf = (url: string): string => {
  const end = url.indexOf('?')
  return (end < 0 ? url : url.slice(0, end)).slice(0, 256)
}
