// The composition root: turns a configuration into the parts the service is made of, and takes them down again.
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { BillingKernel } from './features/billing/index.ts'
import type { InventoryKernel } from './features/inventory/index.ts'
import type { SagaKind } from './features/sagas/index.ts'
import { absentProvider, createProvider, type Provider } from './integrations/digitalocean/index.ts'
import { createFinance, type Finance } from './integrations/finance/index.ts'
import { createStorage, type Storage } from './integrations/storage/index.ts'
import { type Clock, systemClock } from './kernel/clock.ts'
import type { Engine } from './kernel/db/engine.ts'
import { migrate } from './kernel/db/migrations.ts'
import { open, waitUntilReachable } from './kernel/db/open.ts'
import type { Kernel } from './kernel/kernel.ts'
import { createLog } from './kernel/log.ts'
import { createMetrics } from './kernel/metrics.ts'
import { createJobs } from './kernel/queue/jobs.ts'
import { sealFor } from './kernel/sealed.ts'
import { sagaKinds } from './saga-kinds.ts'
import { VERSION } from './version.ts'

export interface Context extends Kernel, InventoryKernel, BillingKernel {
  config: Config
  version: string
  sagaKinds: readonly SagaKind[]
  /** Ends the queue's and the database's work; jobs in flight get the grace. */
  close(graceMs: number): Promise<void>
}

export interface ContextOptions {
  config: Config
  /** Whether this process runs jobs. */
  worker: boolean
  clock?: Clock
  log?: Logger
  /** A database that is open already, for tests. */
  engine?: Engine
  /** A provider client that is made already, for tests. */
  provider?: Provider
  /** Workflows of a test's own. */
  sagaKinds?: (ctx: Context) => SagaKind[]
  /** A finance client that is made already, for tests. */
  finance?: Finance
  /** The places where files are kept, for tests. */
  storage?: Storage
}

const DATABASE_PATIENCE_MS = 30_000

export async function createContext(options: ContextOptions): Promise<Context> {
  const { config, worker, clock = systemClock, log = createLog(config.LOG_LEVEL) } = options
  const { DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize, DATA_DIR: dataDir } = config
  const engine = options.engine ?? (await open({ url, poolSize, dataDir, log }))
  try {
    await waitUntilReachable(engine, log, DATABASE_PATIENCE_MS)
    const applied = await migrate(engine, clock)
    if (applied.length > 0) log.info({ migrations: applied.map(m => m.name) }, 'database migrated')
    const provider = options.provider ?? providerOf(config, log)
    const finance = options.finance ?? financeOf(config, clock)
    const storage = options.storage ?? storageOf(config, clock)
    const metrics = createMetrics()
    const jobs = createJobs({ engine, log, metrics, worker })
    await jobs.start()
    const ctx: Context = {
      config,
      version: VERSION,
      provider,
      finance,
      storage,
      storageSeal: sealFor('storage backends', config.SECRET_KEY),
      platformTenantId: config.PLATFORM_TENANT_ID,
      engine,
      db: engine.db,
      jobs,
      clock,
      log,
      metrics,
      sagaKinds: [],
      async close(graceMs) {
        await jobs.stop(graceMs)
        await provider.close()
        await finance?.close()
        await storage.close()
        await engine.close()
      },
    }
    ctx.sagaKinds = (options.sagaKinds ?? sagaKinds)(ctx)
    return ctx
  } catch (error) {
    await engine.close().catch(() => {})
    throw error
  }
}

function providerOf(
  { DIGITALOCEAN_TOKEN: token, DIGITALOCEAN_API_URL: baseUrl }: Config,
  log: Logger,
): Provider {
  if (token) return createProvider({ baseUrl, token, log })
  return absentProvider('there is no provider: DIGITALOCEAN_TOKEN is not set')
}

/** No address: there is no finance service, and nothing is pushed. */
function financeOf(config: Config, clock: Clock): Finance | undefined {
  if (config.FINANCE_URL === undefined) return undefined
  return createFinance({
    baseUrl: config.FINANCE_URL,
    secret: config.FINANCE_JWT_SECRET ?? config.JWT_SECRET[0]!,
    tenantId: config.FINANCE_TENANT_ID ?? config.PLATFORM_TENANT_ID,
    clock,
  })
}

const storageOf = ({ DATA_DIR: dataDir, NODE_ENV }: Config, clock: Clock): Storage =>
  createStorage({ dataDir, production: NODE_ENV === 'production', clock })
