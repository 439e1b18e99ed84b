// The HTTP application as a value: it never listens. Tests inject into the same app that production listens with.
import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Context } from './context.ts'
import { apiKeyRoutes, apiKeyVerifier } from './features/api-keys/index.ts'
import { auditLogRoutes } from './features/audit-log/index.ts'
import { billingRoutes } from './features/billing/index.ts'
import { catalogRoutes } from './features/catalog/index.ts'
import { deadLetterRoutes } from './features/dead-letters/index.ts'
import { deploymentRoutes } from './features/deployments/index.ts'
import { driftRoutes, resourceMembers } from './features/drift/index.ts'
import { healthRoutes } from './features/health/index.ts'
import { inventoryRoutes, projectRoutes, syncRunRoutes } from './features/inventory/index.ts'
import { invitationRoutes, isRolePromised } from './features/invitations/index.ts'
import { meteringRoutes, refuseFinishedMonths } from './features/metering/index.ts'
import { provisioningProblems, provisioningRoutes } from './features/provisioning/index.ts'
import { permissionsOf, roleRoutes } from './features/roles/index.ts'
import { sagaRoutes } from './features/sagas/index.ts'
import { scheduledTaskRoutes } from './features/scheduled-tasks/index.ts'
import { secretRoutes } from './features/secrets/index.ts'
import { createSessions, sessionEncryptionOf, sessionRoutes } from './features/session/index.ts'
import { storageBackendRoutes } from './features/storage-backends/index.ts'
import { callerAccess, userRoutes } from './features/users/index.ts'
import { webhookRoutes } from './features/webhooks/index.ts'
import { createIssuerKeys, fetchKeySet } from './integrations/issuer/index.ts'
import { notFound } from './kernel/errors.ts'
import { installActing } from './kernel/http/act-as-caller.ts'
import type { Door } from './kernel/http/authenticate.ts'
import { installBodyLimits, SMALLEST_LIMIT } from './kernel/http/body-limit.ts'
import { buildSerializer } from './kernel/http/compiled-once.ts'
import { answerEncryption } from './kernel/http/encrypted-answers.ts'
import { fairShare, installFairShare } from './kernel/http/fair-share.ts'
import { installGuards } from './kernel/http/guards.ts'
import { installIdempotency } from './kernel/http/idempotency.ts'
import { installOpenapi } from './kernel/http/openapi.ts'
import { originRule } from './kernel/http/origins.ts'
import { answer } from './kernel/http/problems.ts'
import { rateLimits } from './kernel/http/rate-limits.ts'
import { installRequestLog } from './kernel/http/request-log.ts'
import { type Headers, installSecurityHeaders } from './kernel/http/security-headers.ts'
import { sessionCookieName, sessionKeys } from './kernel/http/session-cookie.ts'
import { bodyReader } from './kernel/http/strict-json.ts'
import { answerUnreadable } from './kernel/http/unreadable.ts'
import { validatorCompiler } from './kernel/http/validation.ts'
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
  const door: Door = {
    verifyToken,
    verifyApiKey: apiKeys.verify,
    sessionCookie: sessionCookieName(production),
    verifySession: sessions.verify,
    accessOf: access.of,
    originAllowed: originRule(config.DEV_ORIGIN, config.ALLOWED_ORIGIN_DOMAIN),
  }
  const limits = rateLimits(door, {
    perCaller: config.RATE_LIMIT_PER_MINUTE,
    failuresPerAddress: config.AUTH_FAILURES_PER_MINUTE ?? Math.ceil(config.RATE_LIMIT_PER_MINUTE / 10),
    clock: ctx.clock,
  })
  let everyAnswer: Headers = {}

  const app = fastify({
    loggerInstance: ctx.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: SMALLEST_LIMIT,
    requestTimeout: SLOWEST_REQUEST_MS,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    // A stopping process still answers what reaches it; it says `Connection: close` with every answer.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    trustProxy: trustedProxies(config.TRUST_PROXY),
    requestIdHeader: false,
    // Always our own: two requests must not be found under one id. The caller's own is kept beside it.
    // In the order of time, for the audit log's index on it.
    genReqId: newId,
    schemaController: { compilersFactory: { buildSerializer } },
    routerOptions: { maxParamLength: 1024 },
    frameworkErrors: (error, request, reply) => {
      // An address that cannot be read is an unknown path: strangers are not told even that.
      reply.headers({ ...everyAnswer, 'x-request-id': request.id })
      limits.admit(request, reply).then(
        () => answer(error, request, reply),
        refused => answer(refused, request, reply),
      )
    },
    clientErrorHandler: answerUnreadable,
  })

  // First of all: routes that plugins add keep the error handler that stands when they are added.
  app.setErrorHandler(answer)
  app.setValidatorCompiler(validatorCompiler)
  app.removeAllContentTypeParsers()
  const readBody = bodyReader()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request: unknown, body: Buffer) =>
    readBody(body),
  )

  await app.register(cookie, { secret: sessionKeys(config.SECRET_KEY, config.SESSION_SIGNING_SALT) })
  everyAnswer = await installSecurityHeaders(app, production)
  installRequestLog(app, ctx.metrics)
  await app.register(cors, {
    origin: (origin, done) => done(null, door.originAllowed(origin)),
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // Off, because it would answer an odd OPTIONS request with plain text instead of a problem.
    strictPreflight: false,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 600,
  })
  installBodyLimits(app)
  installGuards(app, door, limits)
  installActing(app)
  installFairShare(
    app,
    fairShare({ atOnce: requestsAtOnce(config), mostWaiting: MOST_WAITING, waitMs: LONGEST_WAIT_MS }),
  )
  app.setNotFoundHandler((request, reply) => answer(notFound(), request, reply))
  installIdempotency(app, { db: ctx.db, seal: answerEncryption(config.SECRET_KEY) })
  await installOpenapi(app, ctx.version)

  const routes = [
    healthRoutes(ctx, ctx.version),
    sessionRoutes(sessions, permissionsOf, production),
    inventoryRoutes(ctx, resourceMembers),
    syncRunRoutes(ctx),
    projectRoutes(ctx),
    driftRoutes(ctx),
    catalogRoutes(ctx, refuseFinishedMonths(ctx)),
    deploymentRoutes(ctx),
    sagaRoutes(ctx, ctx.sagaKinds, provisioningProblems),
    provisioningRoutes(ctx),
    billingRoutes(ctx),
    scheduledTaskRoutes(ctx),
    deadLetterRoutes(ctx),
    apiKeyRoutes(ctx),
    meteringRoutes(ctx),
    webhookRoutes(ctx),
    secretRoutes(ctx),
    storageBackendRoutes(ctx),
    auditLogRoutes(ctx),
    roleRoutes(ctx, { isPromised: isRolePromised(ctx), changed: access.forget }),
    userRoutes(ctx, access.forget),
    invitationRoutes(ctx, access.forget),
  ]
  // Added to the app itself instead of registered: none needs a scope of its own, and thirty scopes slow every start.
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()
  for (const add of routes) await add(typed, {})
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
): Door['verifyToken'] =>
  tokenVerifier({
    secrets: config.JWT_SECRET,
    issuer: config.JWT_ISSUER,
    audience: config.JWT_AUDIENCE,
    issuerKeys,
    tenantClaim: config.JWT_TENANT_CLAIM,
    roleClaim: config.JWT_ROLE_CLAIM,
    clock,
  })

/** A share that leaves the others some of the connections, however slow its questions are. */
const requestsAtOnce = ({ REQUESTS_AT_ONCE, DATABASE_POOL_SIZE }: Context['config']): number =>
  REQUESTS_AT_ONCE ?? Math.max(1, Math.floor(DATABASE_POOL_SIZE * 0.7))

const trustedProxies = (proxies: Context['config']['TRUST_PROXY']) =>
  typeof proxies === 'number' ? (_address: string, hop: number) => hop < proxies : proxies
