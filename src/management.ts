// The management listener, on loopback only: what operators' tools and developers read without a token.
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { forwardToApi, serveConsole } from './console.ts'
import type { Context } from './context.ts'
import { countToPush } from './features/billing/index.ts'
import { countOpenDrift } from './features/drift/index.ts'
import { countFindings } from './features/findings/index.ts'
import { inventoryAges, shareOfLooking } from './features/inventory/index.ts'
import { countUnderWay } from './features/sagas/index.ts'
import { countPending } from './features/webhooks/index.ts'
import { installSecurityHeaders, pagePolicy } from './kernel/http/security-headers.ts'
import { http } from './kernel/node-http.ts'
import { QUEUE_NAMES } from './kernel/queue/queues.ts'

export interface ManagementOptions {
  ctx: Context
  /** The API of this process; a worker has none. */
  api: FastifyInstance | undefined
  /** False until everything is started, and from the moment the process is told to stop. */
  isReady: () => boolean
}

const PING_TIMEOUT_MS = 2_000

/** Longer than a fetch that hangs takes to be given up and made again. */
const UNREACHED_SECONDS = 30

export async function buildManagement({ ctx, api, isReady }: ManagementOptions): Promise<FastifyInstance> {
  // The framework's own responses and log lines would repeat the URL, and with it whatever was pasted there.
  const refuse = (error: FastifyError, _request: FastifyRequest, reply: FastifyReply) => {
    const status = error.statusCode ?? 500
    if (status >= 500) ctx.log.error({ err: error }, 'unexpected error of the management listener')
    return reply.code(status).send({ error: http.STATUS_CODES[status] ?? 'Error' })
  }
  const app: FastifyInstance = fastify({
    loggerInstance: ctx.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // Closed last, when nothing is left that could be answered: browsers keep connections on which they never asked.
    forceCloseConnections: true,
    // Routed again as an unknown path, and so passes all hooks.
    frameworkErrors: (_error, { raw }, reply) => {
      raw.url = '/unreadable'
      app.routing(raw, reply.raw)
    },
  })
  app.setErrorHandler(refuse)
  if (!api) app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'Not Found' }))
  installSecurityHeaders(app, ctx.config.NODE_ENV === 'production')
  app.addHook('onSend', (_request, reply, payload, done) => {
    const page =
      String(reply.getHeader('content-type')).startsWith('text/html') && typeof payload === 'string'
    if (page) reply.header('content-security-policy', pagePolicy(payload))
    done()
  })

  // A web page must not reach this listener through a name that resolves to loopback (DNS rebinding).
  app.addHook('onRequest', async (request, reply) => {
    if (/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(request.headers.host ?? '')) return
    return reply.code(403).send({ error: 'This listener answers to localhost only.' })
  })

  app.get('/ready', async (_request, reply) => {
    const reason = isReady() ? await unreached(ctx) : 'starting or stopping'
    return reply.code(reason ? 503 : 200).send({ ready: !reason, ...(reason && { reason }) })
  })

  app.get('/metrics', async (_request, reply) => {
    await collect(ctx)
    return reply.type(ctx.metrics.registry.contentType).send(await ctx.metrics.registry.metrics())
  })

  if (api) {
    serveReference(app, api)
    forwardToApi(app, api, ctx.config.DEV_ORIGIN)
    serveConsole(app)
  }
  return app
}

/**
 * What keeps this process from its work. A database that cannot write is not among it: the process still answers reads,
 * and taking every node out would end those too. That is told by /api/health.
 */
async function unreached({ engine, jobs }: Context): Promise<string | undefined> {
  try {
    await engine.ping(PING_TIMEOUT_MS)
  } catch {
    return 'the database does not answer'
  }
  const queue = jobs.unreached(UNREACHED_SECONDS)
  return queue && `the queue ${queue} has not been reached for ${UNREACHED_SECONDS} s`
}

/** Gauges that are read when they are asked for. */
async function collect(ctx: Context): Promise<void> {
  const { engine, db, jobs, finance, providers, clock, metrics, log } = ctx
  for (const [state, count] of Object.entries(engine.pool() ?? {}))
    metrics.poolConnections.set({ state }, count)
  metrics.providerRequestsLeft.reset()
  for (const queue of QUEUE_NAMES) {
    const allowance = providers.for(queue).allowance()
    if (allowance) metrics.providerRequestsLeft.set({ queue }, allowance.remaining)
  }
  try {
    for (const { queue, ready, deferred, active, failed } of await jobs.depths()) {
      if (queue === 'dead_letters') {
        metrics.deadLetters.set(ready)
        continue
      }
      metrics.queueJobs.set({ queue, state: 'ready' }, ready)
      metrics.queueJobs.set({ queue, state: 'deferred' }, deferred)
      metrics.queueJobs.set({ queue, state: 'active' }, active)
      metrics.queueJobs.set({ queue, state: 'failed' }, failed)
    }
    if (finance) metrics.invoicesToPush.set(await countToPush(db))
    metrics.openDrift.set(await countOpenDrift(db))
    metrics.lookShare.set(await shareOfLooking(ctx))
    for (const { check, open, monthly_cost_minor } of await countFindings(ctx)) {
      metrics.openFindings.set({ check }, open)
      metrics.findingsCost.set({ check }, monthly_cost_minor / 100)
    }
    metrics.webhooksPending.set(await countPending(db))
    for (const { status, count } of await countUnderWay(db)) metrics.sagasUnderWay.set({ status }, count)
    for (const { kind, seconds } of await inventoryAges(db, clock.now().toISOString()))
      metrics.inventoryAge.set({ kind }, seconds)
  } catch (error) {
    // The rest of the metrics matter most when the database is away.
    log.warn({ err: error }, 'gauges that come from the database could not be read')
  }
}

/** The API reference: a page that brings everything along, 4 MB that are loaded when somebody first asks for them. */
function serveReference(app: FastifyInstance, api: FastifyInstance): void {
  app.get('/openapi.json', async () => api.swagger())
  let loading: Promise<FastifyInstance> | undefined
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    loading ??= loadReference().catch(error => {
      loading = undefined
      throw error
    })
    const { statusCode, headers, payload } = await (await loading).inject(request.url)
    if (statusCode === 404) return reply.callNotFound()
    for (const name of ['content-type', 'location'] as const)
      if (headers[name] !== undefined) reply.header(name, headers[name])
    return reply.code(statusCode).send(payload)
  }
  app.get('/docs', answer)
  app.get('/docs/*', answer)
}

async function loadReference(): Promise<FastifyInstance> {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const app = fastify()
  await app.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Cloud Operations Service',
      withDefaultFonts: false,
      // Nothing that would send the document, or a request, anywhere but here.
      telemetry: false,
      showDeveloperTools: 'never',
      hideClientButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  })
  return app
}
