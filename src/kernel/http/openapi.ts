// The API described: OpenAPI 3.1, made from the same schemas that validate, when it is first asked for. Routes say little:
// problems and examples are added here. Every caller may read it.
import swagger from '@fastify/swagger'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { Type } from 'typebox'
import { neededFor } from './caller.ts'
import { jsonText } from './json.ts'
import { finishDocument, PROBLEMS } from './openapi-document.ts'
import { problemsOf } from './problems.ts'

const ProblemSchema = Type.Object(
  {
    type: Type.String({ description: 'A URN for the code.' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'What is wrong, in words for a person.' }),
    code: Type.String({ description: 'What is wrong, in a word for a program.' }),
    request_id: Type.String({
      description:
        'Ours, also in the `X-Request-Id` header and in the log, which has the caller’s own beside it.',
    }),
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

/** The headings that operations stand under. A route with another is refused. */
const TAGS = {
  Deployments: 'The billable unit: its states, the moves between them, its subscription, its usage.',
  'Test clocks': 'Tenants whose time is moved on by hand, outside of production.',
  Inventory: 'The provider’s projects and resources as the last sweep saw them, and the sweeps themselves.',
  Drift: 'Where live resources differ from what was provisioned.',
  Sagas: 'Workflows that provision and deprovision, step by step, and their compensation.',
  Catalog: 'Plans with their versions, addons and prices of resources.',
  Costs: 'What a tenant’s resources cost the platform.',
  Billing: 'The provider’s balance and invoices, their lines, and the push to finance.',
  Budgets: 'How much a month may come to, and which thresholds of it are reached.',
  Webhooks: 'Events sent to your own addresses, and their deliveries.',
  'API keys': 'Keys that stand for a user.',
  Invitations: 'Joining a tenant.',
  Administration: 'Users, roles, secrets, storage, scheduled tasks and the audit log.',
  Service: 'Health, the session of a browser, and this description.',
} as const

const AnyObject = Type.Object({}, { additionalProperties: true })

const Description = Type.Object(
  {
    openapi: Type.String(),
    info: AnyObject,
    tags: Type.Array(AnyObject),
    servers: Type.Array(AnyObject),
    security: Type.Array(AnyObject),
    paths: AnyObject,
    components: AnyObject,
  },
  { description: 'The document itself, without `data` around it.' },
)

function serveDescription(app: FastifyInstance): void {
  let text: string | undefined
  app.get(
    '/api/v1/openapi.json',
    {
      config: { guard: 'caller', permission: false },
      schema: {
        tags: ['Service'],
        operationId: 'getApiDescription',
        summary: 'Get the API’s description',
        description:
          'OpenAPI 3.1, the same for every caller: what each may call is decided when it does. For generators of clients.',
        response: { 200: Description },
      },
    },
    async (_request, reply) => {
      text ??= JSON.stringify(app.swagger())
      return jsonText(reply, text)
    },
  )
}

export async function installOpenapi(app: FastifyInstance, version: string): Promise<void> {
  app.addSchema(ProblemSchema)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Cloud Operations Service',
        version,
        description:
          'Cloud inventory, deployments, catalog, drift, provisioning and billing, per tenant.\n\n' +
          'Success is `{"data": …}`, a list adds `next_cursor`; errors are `application/problem+json`. ' +
          'Times are UTC, ids are UUIDv7, money is in minor units with an ISO 4217 currency.\n\n' +
          'A caller whose roles are registered needs the permission that an operation names as `x-permission`; an operator may ' +
          'have `x-permission-instead`. `x-callers` ' +
          'says who may call it: tenants, operators of the platform, or a platform_admin alone.\n\n' +
          'Examples were recorded from a running service that mirrors a simulated provider. Beyond what an operation ' +
          'lists: an unknown path is 404 `not_found`, and what is not HTTP is 400 `malformed_request`, ' +
          '408 `request_timeout` or 431 `headers_too_large`.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      servers: [{ url: '/', description: 'This service' }],
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description:
              'A JWT of the issuer, signed with the shared secret (HS256, HS384, HS512) or with a key of the issuer’s JWKS (RS256, ES256, EdDSA), as the service is configured; or an API key.',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'cloudops_session',
            description: 'Set by `POST /api/v1/session`; in production with `__Host-` before its name.',
          },
        },
      },
      security: [{ bearer: [] }, { session: [] }],
    },
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, i) =>
        typeof schema.$id === 'string' ? schema.$id : `def-${i}`,
    },
    // Routes without a schema stay as they are: only tests have them.
    transform: ({ schema, url, route }) => ({
      url,
      schema: schema && {
        ...schema,
        ...(route.config?.guard === 'public' && { security: [] }),
        ...accessTo(route, url),
        [PROBLEMS]: problemsOf(route),
      },
    }),
    transformObject: document => finishDocument('openapiObject' in document ? document.openapiObject : {}),
  })
  serveDescription(app)
}

const CALLERS = {
  public: 'anyone',
  caller: 'tenants',
  operator: 'operators',
  platform_admin: 'platform_admin',
}

/** Who may call an operation, and with which permission. */
function accessTo({ config, method }: RouteOptions, url: string) {
  const { guard, permission, permissionInstead: instead } = config!
  const needed = neededFor(guard, permission, String(method), url)
  return {
    'x-callers': CALLERS[guard!],
    ...(needed !== null && { 'x-permission': needed }),
    ...(instead && { 'x-permission-instead': instead }),
  }
}
