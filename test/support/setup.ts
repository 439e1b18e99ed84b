// A fresh bundle for each test: its own database, app, clock and tokens. Nothing is shared, nothing is left behind.

import type { TestContext } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { createSandboxFinance, type SandboxFinance } from '../../sandbox/finance/server.ts'
import {
  createSandboxProvider,
  SANDBOX_TOKEN,
  type SandboxProvider,
  type SandboxProviderOptions,
} from '../../sandbox/provider/server.ts'
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { type Context, createContext } from '../../src/context.ts'
import type { Deps } from '../../src/deps.ts'
import type { SagaKind } from '../../src/features/sagas/index.ts'
import { setPaused } from '../../src/features/scheduled-tasks/store.ts'
import type { Limits } from '../../src/integrations/digitalocean/index.ts'
import { createFinance, type FinanceLimits } from '../../src/integrations/finance/index.ts'
import type { Engine } from '../../src/kernel/db/engine.ts'
import { createLog } from '../../src/kernel/log.ts'
import { registerTasks, startWorker } from '../../src/worker.ts'
import { openTestEngine } from './database.ts'
import { keys, refuseUndeclared } from './description.ts'
import { type Answer, type Sent, send } from './http.ts'
import { lasting, type Owner } from './lasting.ts'
import { OLDER_SECRET, SECRET, type TokenMaker, tokenMaker } from './tokens.ts'

export type { Answer }

export type CallOptions = Omit<Sent, 'agent'>

export interface Bundle {
  /** The simulated provider, when the test asked for one. */
  sandbox: SandboxProvider
  /** The simulated finance service, when the test asked for one. */
  finance: SandboxFinance
  ctx: Context
  app: FastifyInstance
  url: string
  clock: TestClock
  tokens: TokenMaker
  /** Everything the service logged, as text. */
  logged(): string
  /**
   * A real HTTP request; as a platform_admin unless a token (or null) is given. Fails on an answer that the API’s
   * description does not have.
   */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
}

export interface TestClock {
  now(): Date
  set(time: string): void
  advance(ms: number): void
}

export const testEnvironment = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'debug',
  JWT_SECRET: `${SECRET},${OLDER_SECRET}`,
  SECRET_KEY: 'test-secret-key-4c1be09d27f85a63d1',
  SESSION_SIGNING_SALT: 'test-session-salt-9e3b70c4a8d1f652',
  ALLOWED_ORIGIN_DOMAIN: 'example.com',
}

export interface SetupOptions {
  /** A simulated provider to mirror: the small company, or a world of the test's own. */
  provider?: SandboxProviderOptions
  /** Bounds of the provider client, where a test needs others than quick ones. */
  providerLimits?: Partial<Limits>
  /** A simulated finance service to push to, and the bounds of its client. */
  finance?: Partial<FinanceLimits>
  env?: Record<string, string>
  /** Also run jobs. */
  worker?: boolean
  /** Have the checks run after whole sweeps, as the service does: a second of work that few tests need. */
  findings?: boolean
  /** Workflows of the test's own, instead of the service's. */
  sagaKinds?: (deps: Deps) => SagaKind[]
  /** False where a test counts what is kept: its requests have no keys but those it gives them. */
  keys?: boolean
  /** The address of a proxy before the test's database, on PostgreSQL. */
  through?: (databaseUrl: string) => Promise<string>
  /** Added before the app listens, for routes that only a test needs. */
  extend?: (app: FastifyInstance, ctx: Context) => void
}

/**
 * The provider client without its pauses: it asks again at once. Its limits are generous, for a busy machine eats seconds; a
 * test that waits one out sets it.
 */
const quickLimits: Partial<Limits> = {
  rates: [],
  endpointRates: {},
  attempts: 3,
  backoffBaseMs: 1,
  requestTimeoutMs: 60_000,
  pollBaseMs: 5,
  pollCapMs: 100,
  settleMs: 60_000,
  // Waited out by every rollback that finds nothing.
  recheckMs: 100,
  troubleMs: 60_000,
  bootMs: 120_000,
  destroyMs: 60_000,
}

/** Making one takes as long as opening a database, and most tests need none. */
const noSandbox = new Proxy({} as SandboxProvider, {
  get() {
    throw new Error('this test asked for no provider')
  },
})

export async function setup(t: Owner, options: SetupOptions = {}): Promise<Bundle> {
  const { after: undo } = lasting(t)
  const providerEnv: Record<string, string> = {}
  let sandbox = noSandbox
  if (options.provider) {
    sandbox = createSandboxProvider({ rateLimits: false, actionDelayMs: 0, ...options.provider })
    providerEnv.DIGITALOCEAN_API_URL = (await sandbox.listen()).url
    providerEnv.DIGITALOCEAN_TOKEN = SANDBOX_TOKEN
    undo(() => sandbox.close())
  }
  const clock = testClock()
  const financeService = options.finance && createSandboxFinance({ secret: SECRET, clock })
  const financeEnv: Record<string, string> = {}
  if (financeService) {
    financeEnv.FINANCE_URL = (await financeService.listen()).url
    undo(() => financeService.close())
  }
  const { config } = readConfig({ ...testEnvironment, ...providerEnv, ...financeEnv, ...options.env })
  const lines: string[] = []
  const log = createLog(config.LOG_LEVEL, { write: line => void lines.push(line) })
  const { engine, close } = await openTestEngine(options.through)
  undo(close)
  const providerLimits = { ...quickLimits, ...options.providerLimits }
  const { worker = false, sagaKinds } = options
  const finance = options.finance && financeClient(config.FINANCE_URL!, clock, options.finance)
  const ctx = await createContext({ config, worker, clock, log, engine, providerLimits, finance, sagaKinds })
  const { providers } = ctx
  undo(() => providers.close())
  undo(() => ctx.finance?.close())
  undo(() => ctx.webhookSender.close())
  undo(() => ctx.jobs.stop(5_000))
  await registerTasks(ctx)
  if (worker && !options.findings)
    await setPaused(ctx.db, 'findings', { at: clock.now().toISOString(), by: 'a test' })
  const app = await buildApp(ctx)
  undo(() => app.close())
  options.extend?.(app, ctx)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  if (worker) await startWorker(ctx)
  const tokens = tokenMaker(() => clock.now())
  const logged = () => lines.join('')
  return {
    ctx,
    app,
    url,
    sandbox,
    finance: financeService!,
    clock,
    tokens,
    logged,
    call: caller(url, tokens, options.keys ?? true),
  }
}

/** A client of the simulated finance service, as the configuration of the tests would make it. */
export const financeClient = (baseUrl: string, clock: TestClock, limits: Partial<FinanceLimits> = {}) =>
  createFinance({ baseUrl, secret: SECRET, tenantId: 'platform', clock, limits })

export const silentLog = pino({ level: 'silent' })

/** Starts at a fixed moment and moves only when told. */
function testClock(start = '2026-11-15T12:00:00.000Z'): TestClock {
  let time = Date.parse(start)
  return {
    now: () => new Date(time),
    set: value => {
      time = Date.parse(value)
    },
    advance: ms => {
      time += ms
    },
  }
}

/** Requests to an app at this address. */
export function caller(url: string, tokens: TokenMaker, withKeys = true): Bundle['call'] {
  const keyFor = withKeys ? keys() : () => undefined
  return async (method, path, { token, body, raw, headers = {} } = {}) => {
    const bearer = token === undefined ? await tokens.admin() : token
    const key = 'idempotency-key' in headers ? undefined : keyFor(method, path)
    const answering = async (): Promise<Answer> => {
      const answer = await send(method, url + path, {
        token: bearer,
        body,
        raw,
        headers: { ...(key && { 'idempotency-key': key.text }), ...headers },
      })
      refuseUndeclared(method, path, answer.status, answer.body)
      return answer
    }
    const answer = await answering()
    if (key) await key.retry(answer, answering)
    return answer
  }
}

interface NodeOptions {
  kinds?: readonly SagaKind[]
  engine?: Engine
}

/** A further process on the bundle's database, which runs no job yet. */
export async function anotherNode(
  t: TestContext,
  { ctx }: Bundle,
  { kinds = ctx.sagaKinds, engine = ctx.engine }: NodeOptions = {},
): Promise<Context> {
  const { config, clock, log, providers } = ctx
  const sagaKinds = () => [...kinds]
  const other = await createContext({ config, worker: true, engine, clock, log, providers, sagaKinds })
  t.after(() => other.jobs.stop(5_000))
  return other
}

export async function anotherWorker(t: TestContext, bundle: Bundle, options?: NodeOptions): Promise<void> {
  await startWorker(await anotherNode(t, bundle, options))
}
