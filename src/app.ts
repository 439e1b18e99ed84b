// The HTTP application as a value: it never listens. Tests inject into the same app that production listens with.
import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Context } from './context.ts'
import { apiKeyRoutes, apiKeyVerifier } from './features/api-keys/index.ts'
import { auditLogRoutes } from './features/audit-log/index.ts'
import { billingRoutes } from './features/billing/index.ts'
import { budgetRoutes } from './features/budgets/index.ts'
import { catalogRoutes, meterRoutes } from './features/catalog/index.ts'
import { deadLetterRoutes } from './features/dead-letters/index.ts'
import { deploymentRoutes, subscriptionRoutes } from './features/deployments/index.ts'
import { driftRoutes, resourceMembers } from './features/drift/index.ts'
import { findingRoutes } from './features/findings/index.ts'
import { healthRoutes } from './features/health/index.ts'
import { inventoryRoutes, projectRoutes, sizeRoutes, syncRunRoutes } from './features/inventory/index.ts'
import { invitationRoutes, isRolePromised } from './features/invitations/index.ts'
import {
  backtestRoutes,
  meteringRoutes,
  openFrom,
  previewMonth,
  refuseFinishedMonths,
  statementRoutes,
} from './features/metering/index.ts'
import { overviewRoutes } from './features/overview/index.ts'
import { provisioningProblems, provisioningRoutes } from './features/provisioning/index.ts'
import { permissionsOf, roleRoutes } from './features/roles/index.ts'
import { sagaRoutes } from './features/sagas/index.ts'
import { scheduledTaskRoutes } from './features/scheduled-tasks/index.ts'
import { secretRoutes } from './features/secrets/index.ts'
import { createSessions, sessionEncryptionOf, sessionRoutes } from './features/session/index.ts'
import { storageBackendRoutes } from './features/storage-backends/index.ts'
import { versionMembers } from './features/subscriptions/index.ts'
import { testClockRoutes } from './features/test-clocks/index.ts'
import { usageEventRoutes } from './features/usage-events/index.ts'
import { callerAccess, userRoutes } from './features/users/index.ts'
import { webhookRoutes } from './features/webhooks/index.ts'
import { createIssuerKeys, fetchKeySet } from './integrations/issuer/index.ts'
import { notFound } from './kernel/errors.ts'
import {
  type Authenticator,
  installActing,
  installGuards,
  originRule,
  sessionCookieName,
  sessionKeys,
} from './kernel/http/auth.ts'
import { installIdempotency } from './kernel/http/idempotency.ts'
import { bodyReader, installBodyLimits, SMALLEST_LIMIT } from './kernel/http/json.ts'
import { installOpenapi } from './kernel/http/openapi.ts'
import { sendClientError, sendProblem } from './kernel/http/problems.ts'
import { fairShare, installFairShare, rateLimits } from './kernel/http/rate-limits.ts'
import { installRequestLog } from './kernel/http/request-log.ts'
import { installSecurityHeaders } from './kernel/http/security-headers.ts'
import { responseEncryption } from './kernel/http/stored-response.ts'
import { buildSerializer, validatorCompiler } from './kernel/http/validation.ts'
import { type IssuerKeys, tokenVerifier } from './kernel/http/verify-token.ts'
import { newId } from './kernel/ids.ts'

const SLOWEST_REQUEST_MS = 30_000
const MOST_WAITING = 200
const LONGEST_WAIT_MS = 5_000
const EXPOSED_HEADERS = [
  'Idempotency-Replayed',
  'Link',
  'Location',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-Request-Id',
]

export async function buildApp(ctx: Context): Promise<FastifyInstance> {
  const { config } = ctx
  const production = config.NODE_ENV === 'production'
  const apiKeys = apiKeyVerifier(ctx)
  const access = callerAccess(ctx)
  const issuerKeys = issuerKeysOf(ctx)
  const verifyToken = tokenVerifierOf(ctx, issuerKeys)
  const sessions = createSessions(ctx, sessionEncryptionOf(config.SECRET_KEY), verifyToken)
  const authenticator: Authenticator = {
    verifyToken,
    verifyApiKey: apiKeys.verify,
    sessionCookie: sessionCookieName(production),
    verifySession: sessions.verify,
    accessOf: access.of,
    originAllowed: originRule(config.DEV_ORIGIN, config.ALLOWED_ORIGIN_DOMAIN),
  }
  const limits = rateLimits(authenticator, {
    perCaller: config.RATE_LIMIT_PER_MINUTE,
    apart: { usage_events: config.USAGE_REQUESTS_PER_MINUTE },
    failuresPerAddress: config.AUTH_FAILURES_PER_MINUTE ?? Math.ceil(config.RATE_LIMIT_PER_MINUTE / 10),
    clock: ctx.clock,
  })

  const app: FastifyInstance = fastify({
    loggerInstance: ctx.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: SMALLEST_LIMIT,
    requestTimeout: SLOWEST_REQUEST_MS,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    // A stopping process still answers, with `Connection: close`.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    trustProxy: trustedProxies(config.TRUST_PROXY),
    requestIdHeader: false,
    // Never the caller's own, which may repeat (the log has it beside ours). Ordered by time, for the audit log's index.
    genReqId: newId,
    schemaController: { compilersFactory: { buildSerializer } },
    routerOptions: { maxParamLength: 1024 },
    // A URL that the router cannot read is routed again as an unknown path, and so passes all hooks: 401 before 404.
    frameworkErrors: (_error, { raw }, reply) => {
      raw.url = '/unreadable'
      app.routing(raw, reply.raw)
    },
    clientErrorHandler: sendClientError,
  })

  // Before any plugin: a route keeps the error handler that is set when it is added.
  app.setErrorHandler(sendProblem)
  app.setValidatorCompiler(validatorCompiler)
  app.removeAllContentTypeParsers()
  const readBody = bodyReader()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request: unknown, body: Buffer) =>
    readBody(body),
  )

  await app.register(cookie, { secret: sessionKeys(config.SECRET_KEY, config.SESSION_SIGNING_SALT) })
  installSecurityHeaders(app, production)
  installRequestLog(app, ctx.metrics)
  await app.register(cors, {
    origin: (origin, done) => done(null, authenticator.originAllowed(origin)),
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // Otherwise an odd OPTIONS request gets plain text instead of a problem.
    strictPreflight: false,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 600,
  })
  installBodyLimits(app)
  installGuards(app, authenticator, limits)
  installActing(app)
  installFairShare(
    app,
    fairShare({ atOnce: requestsAtOnce(config), mostWaiting: MOST_WAITING, waitMs: LONGEST_WAIT_MS }),
  )
  app.setNotFoundHandler((request, reply) => sendProblem(notFound(), request, reply))
  installIdempotency(app, { db: ctx.db, encryption: responseEncryption(config.SECRET_KEY) })
  await installOpenapi(app, ctx.version)

  const books = { previewMonth: previewMonth(ctx), openFrom: openFrom(ctx) }
  const routes = [
    healthRoutes(ctx, ctx.version),
    sessionRoutes(ctx, sessions, permissionsOf, production),
    overviewRoutes(ctx),
    inventoryRoutes(ctx, resourceMembers),
    syncRunRoutes(ctx),
    sizeRoutes(ctx),
    projectRoutes(ctx),
    driftRoutes(ctx),
    findingRoutes(ctx),
    catalogRoutes(ctx, refuseFinishedMonths(ctx), versionMembers),
    meterRoutes(ctx),
    backtestRoutes(ctx),
    deploymentRoutes(ctx, books),
    subscriptionRoutes(ctx, books),
    sagaRoutes(ctx, ctx.sagaKinds, provisioningProblems),
    provisioningRoutes(ctx),
    billingRoutes(ctx),
    scheduledTaskRoutes(ctx),
    deadLetterRoutes(ctx),
    apiKeyRoutes(ctx),
    meteringRoutes(ctx),
    statementRoutes(ctx),
    budgetRoutes(ctx),
    usageEventRoutes(ctx, readBody),
    testClockRoutes(ctx, { production }),
    webhookRoutes(ctx),
    secretRoutes(ctx),
    storageBackendRoutes(ctx),
    auditLogRoutes(ctx),
    roleRoutes(ctx, { isPromised: isRolePromised(ctx), changed: access.forget }),
    userRoutes(ctx, access.forget),
    invitationRoutes(ctx, access.forget),
  ]
  // Called, not registered: none needs a scope of its own, and thirty scopes slow every start.
  for (const add of routes) add(app)
  app.addHook('onClose', apiKeys.settled)
  if (issuerKeys) {
    app.addHook('onReady', async () => issuerKeys.prepare())
    app.addHook('onClose', issuerKeys.close)
  }
  return app
}

function issuerKeysOf({ config, clock, log, metrics }: Context) {
  const url = config.JWT_JWKS_URL
  return url === undefined
    ? undefined
    : createIssuerKeys({ source: fetchKeySet({ url }), clock, log, metrics })
}

const tokenVerifierOf = (
  { config, clock }: Context,
  issuerKeys: IssuerKeys | undefined,
): Authenticator['verifyToken'] =>
  tokenVerifier({
    secrets: config.JWT_SECRET,
    issuer: config.JWT_ISSUER,
    audience: config.JWT_AUDIENCE,
    issuerKeys,
    tenantClaim: config.JWT_TENANT_CLAIM,
    roleClaim: config.JWT_ROLE_CLAIM,
    clock,
  })

/** Less than the pool, so that one tenant's slow queries leave connections to the others. */
const requestsAtOnce = ({ REQUESTS_AT_ONCE, DATABASE_POOL_SIZE }: Context['config']): number =>
  REQUESTS_AT_ONCE ?? Math.max(1, Math.floor(DATABASE_POOL_SIZE * 0.7))

const trustedProxies = (proxies: Context['config']['TRUST_PROXY']) =>
  typeof proxies === 'number' ? (_address: string, hop: number) => hop < proxies : proxies
