// One running process: the API, the worker, or both, with the management listener beside them; and its orderly end.
import { setImmediate as turn } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { buildApp } from './app.ts'
import type { Config } from './config.ts'
import { type Context, createContext } from './context.ts'
import { seedExampleCatalog } from './features/catalog/index.ts'
import { type HeldPorts, holdPorts, MANAGEMENT_HOST, type Parts, release } from './hold-ports.ts'
import type { Engine } from './kernel/db/engine.ts'
import { boundHeapGrowth } from './kernel/heap-growth.ts'
import { type Drain, installDrain } from './kernel/http/listener.ts'
import { compileSchemas } from './kernel/http/validation.ts'
import { createLog } from './kernel/log.ts'
import { buildManagement } from './management.ts'
import { connectSandbox } from './sandbox.ts'
import { registerTasks, startFirstSweep, startSchedule, startWorker } from './worker.ts'

export interface Running {
  ctx: Context
  /** Where the API listens; undefined in a worker. */
  url: string | undefined
  managementUrl: string | undefined
  /** Where the simulated provider is, when there is one. */
  sandboxUrl: string | undefined
  stop(): Promise<void>
}

export type Stoppable = Pick<Running, 'ctx' | 'stop'>

/** Connections that say nothing are given this long before they are closed. */
const SILENCE_MS = 2_000

export interface StartOptions {
  /**
   * Handed the way to stop before anyone can call: from then on a signal must not cut anyone off. What it returns is called
   * when the start fails.
   */
  watch?: (stoppable: Stoppable) => () => void
  /** What is held, or being opened, already. */
  ports?: HeldPorts
  engine?: Promise<Engine>
  log?: Logger
}

export async function start(
  given: Config,
  parts: Parts,
  { watch = () => () => {}, log = createLog(given.LOG_LEVEL), ...before }: StartOptions = {},
): Promise<Running> {
  boundHeapGrowth()
  const ports = before.ports ?? (await holdPorts(given, parts))
  const simulation = await connectSandbox(given, log).catch(async error => {
    release(ports)
    await (await before.engine?.catch(() => undefined))?.close()
    throw error
  })
  const { config } = simulation
  const ctx = await createContext({ config, worker: parts.worker, log, opening: before.engine }).catch(
    async error => {
      release(ports)
      await simulation.close()
      throw error
    },
  )
  const started = Promise.withResolvers<void>()
  started.promise.catch(() => {})
  const stopping = new AbortController()
  let ready = false
  let unwatch: (() => void) | undefined
  let api: FastifyInstance | undefined
  let drain: Drain | undefined
  let management: FastifyInstance | undefined
  try {
    await registerTasks(ctx)
    if (simulation.sandboxUrl) await seedExampleCatalog(ctx)
    if (parts.api) {
      api = await buildApp(ctx)
      drain = installDrain(api)
    }
    await api?.ready()
    unwatch = watch({ ctx, stop })
    ports.api?.release()
    const url = await api?.listen({
      host: config.HOST,
      port: config.PORT,
      listenTextResolver: address => `API listens at ${address}`,
    })
    // Whoever waits for the API is answered first.
    await turn()
    if (config.MANAGEMENT_PORT > 0) management = await buildManagement({ ctx, api, isReady: () => ready })
    await management?.ready()
    ports.management.release()
    const managementUrl = await management?.listen({
      host: MANAGEMENT_HOST,
      port: config.MANAGEMENT_PORT,
      listenTextResolver: address => `management listens at ${address}`,
    })
    if (parts.worker) {
      await startWorker(ctx)
      await startFirstSweep(ctx)
      startSchedule(ctx)
    }
    ready = true
    started.resolve()
    void compileSchemas(stopping.signal).catch(err => ctx.log.error({ err }, 'a schema cannot be compiled'))
    ctx.log.info({ url, management_url: managementUrl, engine: ctx.engine.kind, ...parts }, 'started')
    return { ctx, url, managementUrl, sandboxUrl: simulation.sandboxUrl, stop }
  } catch (error) {
    release(ports)
    unwatch?.()
    await management?.close()
    await api?.close()
    await ctx.close(1_000)
    await simulation.close()
    started.reject(error)
    throw error
  }

  async function stop(): Promise<void> {
    await started.promise
    ready = false
    stopping.abort()
    const graceMs = config.SHUTDOWN_GRACE_SECONDS * 1000
    const until = Date.now() + graceMs
    ctx.log.info('stopping: finishing requests and jobs in flight')
    await drain?.begin(Math.min(SILENCE_MS, graceMs / 2))
    await api?.close()
    await ctx.close(Math.max(1_000, until - Date.now() - 500))
    await management?.close()
    await simulation.close()
    ctx.log.info('stopped')
  }
}

/** Stops on SIGTERM and SIGINT; a second signal, or a grace that runs out, exits at once. Returns the way to undo it. */
export function stopOnSignals({ ctx, stop }: Stoppable): () => void {
  return closeWithGrace(
    {
      delay: ctx.config.SHUTDOWN_GRACE_SECONDS * 1000,
      logger: { error: message => ctx.log.error(String(message)) },
    },
    async ({ err, signal }) => {
      if (err) ctx.log.fatal({ err }, 'an unexpected error ends the process')
      else ctx.log.info({ signal }, 'asked to stop')
      await stop()
    },
  ).uninstall
}
