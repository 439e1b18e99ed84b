// The composition root: turns a configuration into the parts the service is made of, and takes them down again.

import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { Deps } from './deps.ts'
import { auditKeys } from './features/audit-log/index.ts'
import { provisioningSagas } from './features/provisioning/index.ts'
import type { SagaKind } from './features/sagas/index.ts'
import { createVault, tokenSecret, watchProviderTokens } from './features/secrets/index.ts'
import { storageEncryptionOf } from './features/storage-backends/index.ts'
import { endAllClocks, timeByClocks } from './features/test-clocks/index.ts'
import { webhookEncryptionOf } from './features/webhooks/index.ts'
import { createProviders, type Limits, type Providers } from './integrations/digitalocean/index.ts'
import { createFinance, type Finance } from './integrations/finance/index.ts'
import { createStorage, type Storage } from './integrations/storage/index.ts'
import { createWebhookSender } from './integrations/webhooks/index.ts'
import { startDatabaseClock } from './kernel/db/database-clock.ts'
import type { Engine } from './kernel/db/engine.ts'
import { migrate } from './kernel/db/migrations.ts'
import { open, waitUntilReachable } from './kernel/db/open.ts'
import { createLog } from './kernel/log.ts'
import { createMetrics } from './kernel/metrics.ts'
import { createJobs } from './kernel/queue/jobs.ts'
import { timerOf } from './kernel/retry.ts'
import { oneTimeForAll } from './kernel/tenant-time.ts'
import { type Clock, dateIdsBy, type Machine } from './kernel/time.ts'
import { VERSION } from './version.ts'

export interface Context extends Deps {
  config: Config
  version: string
  /** Every workflow that the API starts and the worker drives. */
  sagaKinds: readonly SagaKind[]
  /** Ends the queue's and the database's work; jobs in flight get the grace. */
  close(graceMs: number): Promise<void>
}

export interface ContextOptions {
  config: Config
  /** Whether this process runs jobs. */
  worker: boolean
  /** In place of the database's time, for tests. */
  clock?: Clock
  /** Another machine than this one, for tests: its clock may be wrong. */
  machine?: Machine
  log?: Logger
  /** A database that is open already, for tests. */
  engine?: Engine
  /** The database, while it is being opened. */
  opening?: Promise<Engine>
  /** Provider clients that are made already, for tests. */
  providers?: Providers
  /** Bounds of the provider clients, where a test needs others. */
  providerLimits?: Partial<Limits>
  /** Workflows of a test's own. */
  sagaKinds?: (deps: Deps) => SagaKind[]
  /** A finance client that is made already, for tests. */
  finance?: Finance
  /** The places where files are kept, for tests. */
  storage?: Storage
}

const DATABASE_TIMEOUT_MS = 30_000

export async function createContext(options: ContextOptions): Promise<Context> {
  const { config, worker, log = createLog(config.LOG_LEVEL) } = options
  if (!options.engine)
    log.info({ engine: config.DATABASE_URL ? 'postgres' : 'pglite' }, 'opening the database')
  const engine = options.engine ?? (await (options.opening ?? open(config, log, { prepared: true })))
  let stopClock = () => {}
  try {
    await waitUntilReachable(engine, log, DATABASE_TIMEOUT_MS)
    let { clock } = options
    if (!clock) {
      const databaseClock = await startDatabaseClock(engine.db, log, options.machine)
      stopClock = databaseClock.close
      clock = databaseClock
      dateIdsBy(clock)
    }
    const applied = await migrate(engine, clock, { log })
    if (applied.length > 0) log.info({ migrations: applied.map(m => m.name) }, 'database migrated')
    const production = config.NODE_ENV === 'production'
    if (production) await endTestClocks(engine, clock, log)
    const vault = createVault(config.SECRET_KEY)
    const { providers, providerTokens } = await providersOf(options, { db: engine.db, log, vault }, clock)
    const finance = options.finance ?? financeOf(config, clock)
    const webhookSender = createWebhookSender({ allowPrivate: config.WEBHOOKS_ALLOW_PRIVATE })
    const storage = options.storage ?? storageOf(config, clock)
    const metrics = createMetrics()
    const jobs = createJobs({ engine, log, metrics, worker })
    await jobs.start()
    const deps: Deps = {
      vault,
      providers,
      providerTokens,
      finance,
      webhookSender,
      webhookEncryption: webhookEncryptionOf(config.SECRET_KEY),
      storage,
      auditKeys: auditKeys(config.SECRET_KEY),
      storageEncryption: storageEncryptionOf(config.SECRET_KEY),
      platformTenantId: config.PLATFORM_TENANT_ID,
      findingPolicy: {
        off_days: config.FINDINGS_OFF_DAYS,
        snapshot_days: config.FINDINGS_SNAPSHOT_DAYS,
        image_days: config.FINDINGS_IMAGE_DAYS,
        sweep_failed_hours: config.FINDINGS_SWEEP_FAILED_HOURS,
      },
      engine,
      db: engine.db,
      jobs,
      clock,
      tenantTime: production ? oneTimeForAll(clock) : timeByClocks(clock),
      log,
      metrics,
    }
    return {
      ...deps,
      config,
      version: VERSION,
      sagaKinds: (options.sagaKinds ?? provisioningSagas)(deps),
      async close(graceMs) {
        await jobs.stop(graceMs)
        await providers.close()
        await finance?.close()
        await webhookSender.close()
        await storage.close()
        stopClock()
        await engine.close()
      },
    }
  } catch (error) {
    stopClock()
    await engine.close().catch(() => {})
    throw error
  }
}

/** A database that was a sandbox's is put to use: time goes by itself from now on. */
async function endTestClocks({ db }: Engine, clock: Clock, log: Logger): Promise<void> {
  const tenants = await endAllClocks(db, clock.now())
  if (tenants.length > 0) log.warn({ tenants }, 'test clocks were ended: in production time goes by itself')
}

/** The clients close with the watch that tells them of new tokens. */
async function providersOf(
  { config, providers: given, providerLimits: limits, clock: frozen }: ContextOptions,
  parts: Parameters<typeof watchProviderTokens>[0],
  clock: Clock,
): Promise<Pick<Context, 'providers' | 'providerTokens'>> {
  if (given) return { providers: given, providerTokens: { refresh: async () => {} } }
  const providers = createProviders({
    baseUrl: config.DIGITALOCEAN_API_URL,
    token: config.DIGITALOCEAN_TOKEN,
    absent: queue =>
      `there is no provider: DIGITALOCEAN_TOKEN is not set, nor the secret ${tokenSecret(queue)}`,
    log: parts.log,
    limits,
    // A test's frozen clock would never let a wait end.
    ...(!frozen && { timer: timerOf(() => clock.now().getTime()) }),
  })
  const watch = await watchProviderTokens(parts, providers.use)
  const close = async () => {
    await watch.close()
    await providers.close()
  }
  return { providers: { for: providers.for, close }, providerTokens: watch }
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
