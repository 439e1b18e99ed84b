// Without a provider's token, and never in production, the service talks to a simulated provider and a simulated
// finance service on loopback. Processes on one machine share one sandbox: the first starts it, the others find it.
import type { Logger } from 'pino'
import type { RunningSandbox } from '../sandbox/main.ts'
import type { Config } from './config.ts'

export const SANDBOX_PORTS = { provider: 4007, finance: 4008 }

export interface Surroundings {
  /** The configuration, pointed at the sandbox where there is one. */
  config: Config
  sandboxUrl: string | undefined
  close(): Promise<void>
}

export async function surround(config: Config, log: Logger): Promise<Surroundings> {
  if (config.DIGITALOCEAN_TOKEN !== undefined || config.NODE_ENV === 'production') {
    return { config, sandboxUrl: undefined, close: async () => {} }
  }
  // Loaded here: a service with a real provider has no use for it.
  const { startSandbox, SANDBOX_TOKEN } = await import('../sandbox/main.ts')
  const financeSecret = config.FINANCE_JWT_SECRET ?? config.JWT_SECRET
  let running: RunningSandbox | undefined
  let [providerUrl, financeUrl] = [address(SANDBOX_PORTS.provider), address(SANDBOX_PORTS.finance)]
  try {
    running = await startSandbox({ log, ports: SANDBOX_PORTS, financeSecret })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
    if (await isSandbox(providerUrl)) {
      log.info({ url: providerUrl }, 'using the SIMULATED provider that another process started')
    } else {
      running = await startSandbox({ log, financeSecret })
      ;({ providerUrl, financeUrl } = running)
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

async function isSandbox(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/__sandbox/state`, { signal: AbortSignal.timeout(2_000) })
    return answer.headers.get('x-sandbox') === 'simulated'
  } catch {
    return false
  }
}
