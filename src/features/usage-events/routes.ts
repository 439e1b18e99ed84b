// POST /api/v1/usage-events: CloudEvents 1.0 over HTTP, structured, in batches, or in binary mode.
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { invalid } from '../../kernel/errors.ts'
import { BULK_LIMIT } from '../../kernel/http/json.ts'
import { routes } from '../../kernel/http/route.ts'
import { CloudEvent, eventOfHeaders, Ingested, MOST_EVENTS } from './cloud-event.ts'
import { recordEvents } from './record-events.ts'

const MEDIA_TYPES = ['application/cloudevents+json', 'application/cloudevents-batch+json']

const Sent = Type.Union([
  CloudEvent,
  Type.Array(CloudEvent, { minItems: 1, maxItems: MOST_EVENTS, description: `1 to ${MOST_EVENTS} events.` }),
])

type ReadBody = (body: Buffer) => Promise<unknown>

export const usageEventRoutes = (deps: Deps, readBody: ReadBody) => (app: FastifyInstance) => {
  // In a scope of its own: no other route takes these types.
  app.register(async scope => {
    scope.addContentTypeParser(MEDIA_TYPES, { parseAs: 'buffer' }, (_request: unknown, body: Buffer) =>
      readBody(body),
    )
    operations(deps)(scope)
  })
}

const operations = (deps: Deps) =>
  routes(deps, { tag: 'Deployments', guard: 'caller', permission: 'usage_events:write' }, route => {
    route.post(
      '/api/v1/usage-events',
      {
        id: 'sendUsageEvents',
        summary: 'Send usage events',
        description:
          'What deployments have used, by the meters of the catalog: one event of CloudEvents 1.0 or a list of up to 1,000, as ' +
          '`application/json`, `application/cloudevents+json` or `application/cloudevents-batch+json`; or one in binary mode, its ' +
          'attributes as `ce-` headers and its data as the body. An event is known by `source` and `id` for good, so a request may ' +
          'be sent again whole. An event that cannot be counted is named with the reason and keeps no other from being counted. ' +
          'Members other than those described are ignored. A tenant sends for its own deployments.',
        body: Sent,
        consumes: ['application/json', ...MEDIA_TYPES],
        status: 202,
        data: Ingested,
        bodyLimit: BULK_LIMIT,
        config: { rateLimit: 'usage_events' },
      },
      ({ deps, scope, body, request }) => {
        const events = eventsOf(body, eventOfHeaders(request.headers, body))
        return recordEvents(deps, scope, events)
      },
    )
  })

/** A single object that says nothing of CloudEvents is no event, whatever else it is. */
function eventsOf(body: CloudEvent | CloudEvent[], binary: CloudEvent | undefined): CloudEvent[] {
  if (binary) return [binary]
  if (Array.isArray(body)) return body
  if (body.specversion === undefined)
    throw invalid('The body is not acceptable.', [{ pointer: '/specversion', message: 'is required' }])
  return [body]
}
