// Decides what the simulated provider is: a real HTTP server on loopback whose answers follow the official
// specification, over a world that remembers. Each family of endpoints is a file of its own.
import { randomUUID } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { type SandboxClock, systemClock } from '../clock.ts'
import { keptFile } from '../kept-file.ts'
import { KEPT_FORM, type KeptWorld, readWorld, writeWorld } from '../world/kept-world.ts'
import { companyParts, smallCompany } from '../world/small-company.ts'
import { runDue, type World } from '../world/world.ts'
import { accountRoutes, projectRoutes, sshKeyRoutes, tagRoutes } from './account.ts'
import { actionRoutes } from './actions.ts'
import { billingRoutes } from './billing.ts'
import { controlRoutes } from './control.ts'
import { dropletActionRoutes, dropletRoutes } from './droplets.ts'
import type { LoggedRequest, ProviderContext } from './endpoints.ts'
import { applyBeforeHandler, applyToBody, applyToBytes, type FaultSpec, Faults } from './faults.ts'
import { appRoutes, databaseRoutes, kubernetesRoutes, registryRoutes } from './managed.ts'
import { domainRoutes, firewallRoutes, loadBalancerRoutes, reservedIpRoutes, vpcRoutes } from './network.ts'
import { ApiError, pathOf, queryOf, unauthorized } from './protocol.ts'
import { createRateLimiter, type RateLimits } from './rate-limits.ts'
import { imageActionRoutes, imageRoutes, volumeRoutes } from './storage.ts'

export const SANDBOX_TOKEN = 'sandbox-provider-token'

export type SandboxProviderOptions = {
  seed?: World
  clock?: SandboxClock
  /** One token, or several that each have rate limits of their own. */
  token?: string | readonly string[]
  /** Any other token is taken too, with rate limits of its own. */
  anyToken?: boolean
  /** How long a droplet boots and an action runs, by the clock. */
  actionDelayMs?: number
  rateLimits?: RateLimits | false
  /** The file that the small company is kept in, across restarts; a world that is given is not kept. */
  file?: string
}

export type SandboxProvider = {
  listen(port?: number): Promise<{ url: string }>
  close(): Promise<void>
  readonly world: World
  readonly faults: Faults
  readonly clock: SandboxClock
  /** The latest thousand requests for the provider's own paths, oldest first. */
  readonly requests: LoggedRequest[]
}

const families: ((app: FastifyInstance, provider: ProviderContext) => void)[] = [
  accountRoutes,
  actionRoutes,
  appRoutes,
  billingRoutes,
  controlRoutes,
  databaseRoutes,
  domainRoutes,
  dropletActionRoutes,
  dropletRoutes,
  firewallRoutes,
  imageActionRoutes,
  imageRoutes,
  kubernetesRoutes,
  loadBalancerRoutes,
  projectRoutes,
  registryRoutes,
  reservedIpRoutes,
  sshKeyRoutes,
  tagRoutes,
  volumeRoutes,
  vpcRoutes,
]

export function createSandboxProvider(options: SandboxProviderOptions = {}): SandboxProvider {
  const clock = options.clock ?? systemClock
  const file = options.file === undefined ? undefined : keptFile<KeptWorld>(options.file, KEPT_FORM)
  const kept = file?.read()
  const company = () =>
    kept === undefined ? smallCompany({ startedAt: clock.now() }) : readWorld(kept, companyParts)
  const provider: ProviderContext = {
    world: options.seed ?? company(),
    clock,
    actionDelayMs: options.actionDelayMs ?? 2000,
    faults: new Faults(),
    requests: [],
  }
  const app = Fastify({
    forceCloseConnections: true,
    genReqId: () => randomUUID(),
    bodyLimit: 4 * 1024 * 1024,
    // A tag stands in the path and may have 255 characters, each of them encoded.
    routerOptions: { maxParamLength: 1000 },
  })
  readEmptyJson(app)
  answerErrors(app)
  const keep = () => file?.write(writeWorld(provider.world))
  guard(app, provider, options, keep)
  for (const family of families) family(app, provider)
  return {
    async listen(port = 0) {
      const url = await app.listen({ host: '127.0.0.1', port })
      // When it began decides which months are billed.
      if (kept === undefined) keep()
      return { url }
    },
    close: () => app.close(),
    world: provider.world,
    faults: provider.faults,
    clock,
    requests: provider.requests,
  }
}

/** Clients send the JSON content type with a bodiless DELETE too. */
function readEmptyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (text === '') done(null, undefined)
    else parse(request, String(text), done)
  })
}

function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const refusal =
      error instanceof ApiError
        ? error
        : new ApiError(error.statusCode ?? 500, error.statusCode ? error.message : `sandbox: ${error.stack}`)
    reply.code(refusal.status).headers(refusal.headers)
    return { id: refusal.id, message: refusal.message, request_id: request.id }
  })
  app.setNotFoundHandler(request => {
    throw new ApiError(404, `The sandbox does not simulate ${request.method} ${pathOf(request)}.`)
  })
}

/** Auth, rate limits and faults stand before every path of the provider, and before none of the sandbox. */
function guard(
  app: FastifyInstance,
  provider: ProviderContext,
  options: SandboxProviderOptions,
  keep: () => void,
): void {
  const { world, clock, faults, requests } = provider
  const tokens = new Set([options.token ?? SANDBOX_TOKEN].flat())
  const limiter = createRateLimiter(options.rateLimits ?? {})
  const planned = new WeakMap<FastifyRequest, FaultSpec>()

  app.addHook('onRequest', async (request, reply) => {
    const now = clock.now()
    runDue(world, now)
    reply.headers({ 'x-sandbox': 'simulated', 'x-request-id': request.id })
    if (pathOf(request).startsWith('/__sandbox/')) return
    const token = tokenOf(request)
    if (token === undefined || !(options.anyToken || tokens.has(token))) throw unauthorized()
    try {
      limiter.admit(token, pathOf(request), now)
    } finally {
      reply.headers(limiter.headers(token, now))
    }
    const fault = faults.take({ method: request.method, path: pathOf(request), query: queryOf(request) })
    if (fault === undefined) return
    planned.set(request, fault)
    if (applyBeforeHandler(fault, world, now, request)) {
      reply.hijack()
      return reply
    }
  })

  // Before faults spoil the answer: what was done is done. What only time has changed needs no writing, it happens again.
  app.addHook('onSend', async (request, _reply, payload) => {
    if (request.method !== 'GET' || planned.has(request)) keep()
    return payload
  })

  app.addHook('preSerialization', async (request, reply, body) => {
    const fault = planned.get(request)
    return fault === undefined || reply.statusCode >= 400 ? body : applyToBody(fault, request, body)
  })

  app.addHook('onSend', async (request, reply, payload) => {
    const fault = planned.get(request)
    return fault === undefined ? payload : applyToBytes(fault, request, reply, payload)
  })

  app.addHook('onResponse', async (request, reply) => {
    if (pathOf(request).startsWith('/__sandbox/')) return
    const { method, url } = request
    requests.push({ method, url, status: reply.statusCode, at: clock.now(), token: tokenOf(request) })
    if (requests.length > 1000) requests.shift()
  })
}

const tokenOf = ({ headers }: FastifyRequest): string | undefined =>
  /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
