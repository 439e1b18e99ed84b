// The API described: OpenAPI 3.1, made from the same schemas that validate. Every operation gets the errors its guard,
// its parameters and its body make possible, so that no route has to list them.
import swagger from '@fastify/swagger'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { Type } from 'typebox'

export const ProblemSchema = Type.Object(
  {
    type: Type.String({ description: 'A URN for the code.' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'What is wrong, in words for a person.' }),
    code: Type.String({ description: 'What is wrong, in a word for a program.' }),
    request_id: Type.String({ description: 'Also in the `X-Request-Id` header and in the log.' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          pointer: Type.String({
            description:
              'JSON pointer into the body, `?name` for a query parameter, or the name of a header.',
          }),
          message: Type.String(),
        }),
      ),
    ),
  },
  { $id: 'Problem', description: 'An error, as RFC 9457 has it.' },
)

const WORDS: Record<number, string> = {
  400: 'The body is malformed (`malformed_body`).',
  401: 'No token, or one that is not good (`unauthenticated`).',
  403: 'The caller may not do this (`forbidden`).',
  404: 'Nothing of that name, or not for this caller (`not_found`).',
  409: 'It clashes with what is there, or the first request under its key is still being worked on.',
  413: 'The body is too large (`payload_too_large`).',
  415: 'The body is not application/json (`unsupported_media_type`).',
  422: 'A value is not acceptable (`validation_failed`); `errors` names each.',
  429: 'Too many requests (`rate_limited`); `Retry-After` says when to go on.',
  500: 'A fault of the service (`internal`).',
  503: 'The service cannot answer now (`unavailable`).',
}

export async function installOpenapi(app: FastifyInstance, version: string): Promise<void> {
  app.addSchema(ProblemSchema)
  app.addHook('onRoute', describeErrors)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Cloud Operations Service',
        version,
        description:
          'Cloud inventory, deployments, catalog, drift, provisioning and billing, per tenant.\n\n' +
          'Success is `{"data": …}`, a list adds `next_cursor`; errors are `application/problem+json`. ' +
          'Times are UTC, ids are UUIDv7, money is in minor units with an ISO 4217 currency.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'This service' }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'A JWT of the issuer, or an API key.' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'cloudops_session',
            description: 'Set by `POST /api/v1/session`.',
          },
        },
      },
      security: [{ bearer: [] }, { session: [] }],
    },
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, i) =>
        typeof schema.$id === 'string' ? schema.$id : `def-${i}`,
    },
  })
}

function describeErrors(route: RouteOptions): void {
  const { config, schema } = route
  if (!schema || schema.hide) return
  if (config?.guard === 'public') schema.security = []
  const statuses = config?.guard === 'public' ? [503] : [401, 403, 429, 500, 503]
  if (schema.params) statuses.push(404)
  if (schema.body) statuses.push(400, 413, 415, 422)
  if (schema.querystring) statuses.push(422)
  if (config?.idempotent) statuses.push(409, 422)
  const responses = (schema.response ?? {}) as Record<string, unknown>
  for (const status of statuses) {
    responses[status] ??= {
      description: WORDS[status],
      content: { 'application/problem+json': { schema: Type.Ref('Problem#') } },
    }
  }
  schema.response = responses
}
