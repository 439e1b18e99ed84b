// Without a provider's token, and never in production, the service talks to a simulated provider and a simulated
// finance service on loopback. Processes on one machine share one sandbox: the first starts it, the others find it.
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { createFinance, FinanceError } from './integrations/finance/index.ts'
import { systemClock } from './kernel/time.ts'

export const SANDBOX_PORTS = { provider: 4007, finance: 4008 }

/** Where the sandbox keeps its world. */
export const sandboxFolder = ({ DATA_DIR }: Config): string => join(DATA_DIR, 'sandbox')

export interface Simulation {
  /** The configuration, pointed at the sandbox where there is one. */
  config: Config
  sandboxUrl: string | undefined
  close(): Promise<void>
}

export async function connectSandbox(config: Config, log: Logger): Promise<Simulation> {
  if (config.DIGITALOCEAN_TOKEN !== undefined || config.NODE_ENV === 'production') {
    return { config, sandboxUrl: undefined, close: async () => {} }
  }
  // Loaded here: a service with a real provider has no use for it.
  const { startSandbox, SANDBOX_TOKEN } = await import('../sandbox/main.ts')
  const folder = sandboxFolder(config)
  const financeSecret = config.FINANCE_JWT_SECRET ?? config.JWT_SECRET
  let running: { close(): Promise<void> } | undefined
  let [providerUrl, financeUrl] = [address(SANDBOX_PORTS.provider), address(SANDBOX_PORTS.finance)]
  try {
    running = await startSandbox({ log, ports: SANDBOX_PORTS, financeSecret, folder })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
    if (await isSandbox(providerUrl)) {
      log.info({ url: providerUrl }, 'using the SIMULATED provider that another process started')
      if (config.FINANCE_URL === undefined && !(await takesOurTokens(financeUrl, financeSecret))) {
        // That process has secrets of its own: its finance service would refuse everything.
        const { createSandboxFinance } = await import('../sandbox/finance/server.ts')
        const finance = createSandboxFinance({ secret: financeSecret, file: join(folder, 'finance.json') })
        financeUrl = (await finance.listen()).url
        running = finance
        log.info({ url: financeUrl }, 'SIMULATED finance service is listening')
      }
    } else {
      const both = await startSandbox({ log, financeSecret, folder })
      ;({ providerUrl, financeUrl } = both)
      running = both
    }
  }
  log.warn(
    { url: providerUrl },
    'DIGITALOCEAN_TOKEN is not set: the provider is SIMULATED, nothing here is real',
  )
  return {
    config: {
      ...config,
      DIGITALOCEAN_API_URL: providerUrl,
      DIGITALOCEAN_TOKEN: SANDBOX_TOKEN,
      FINANCE_URL: config.FINANCE_URL ?? financeUrl,
    },
    sandboxUrl: providerUrl,
    close: async () => running?.close(),
  }
}

const address = (port: number) => `http://127.0.0.1:${port}`

/** Nothing is pushed: what is no invoice is refused for what it is, once the token has been accepted. */
async function takesOurTokens(baseUrl: string, secrets: string | string[]): Promise<boolean> {
  const finance = createFinance({
    baseUrl,
    secret: [secrets].flat()[0]!,
    tenantId: 'nobody',
    clock: systemClock,
    limits: { silenceMs: 2_000 },
  })
  try {
    await finance.importInvoice('{}')
    return true
  } catch (error) {
    return error instanceof FinanceError && error.fault === 'refused'
  } finally {
    await finance.close()
  }
}

async function isSandbox(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/__sandbox/state`, { signal: AbortSignal.timeout(2_000) })
    return answer.headers.get('x-sandbox') === 'simulated'
  } catch {
    return false
  }
}
