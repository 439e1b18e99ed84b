// Decides how the whole sandbox is started: both simulated services on loopback, announced as simulated in
// the log, so that nobody takes them for the real ones.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createSandboxFinance } from './finance/server.ts'
import { createSandboxProvider, SANDBOX_TOKEN, type SandboxProviderOptions } from './provider/server.ts'
import type { World } from './world/world.ts'

export { generated } from './world/generated.ts'
export { SANDBOX_TOKEN }

/** The one method of a pino logger that is needed here. */
export type SandboxLog = { info(details: object, message: string): void }

export type SandboxOptions = {
  log: SandboxLog
  /** Zero, the default, takes a free port. */
  ports?: { provider?: number; finance?: number }
  seed?: World
  provider?: Pick<SandboxProviderOptions, 'actionDelayMs' | 'rateLimits'>
  /** The folder where both keep what they know; none: until they end. */
  folder?: string
  /** What finance verifies its bearer with; several during a rotation. */
  financeSecret?: string | readonly string[]
}

export type RunningSandbox = {
  providerUrl: string
  financeUrl: string
  token: string
  /** The first of the secrets finance accepts. */
  financeSecret: string
  close(): Promise<void>
}

export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  const secrets = [options.financeSecret ?? randomBytes(32).toString('base64url')].flat()
  const { folder } = options
  const provider = createSandboxProvider({
    // Whoever tries out a token for each queue need not tell the sandbox of them.
    anyToken: true,
    ...options.provider,
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    // A generated world has a million things and follows from its seed.
    ...(folder !== undefined && options.seed === undefined && { file: join(folder, 'provider.json') }),
  })
  const finance = createSandboxFinance({
    secret: secrets,
    ...(folder !== undefined && { file: join(folder, 'finance.json') }),
  })
  const close = async () => {
    await Promise.all([provider.close(), finance.close()])
  }
  try {
    const [{ url: providerUrl }, { url: financeUrl }] = await Promise.all([
      provider.listen(options.ports?.provider),
      finance.listen(options.ports?.finance),
    ])
    options.log.info(
      { url: providerUrl, control: `${providerUrl}/__sandbox/state` },
      'SIMULATED provider is listening',
    )
    options.log.info(
      { url: financeUrl, control: `${financeUrl}/__sandbox/invoices` },
      'SIMULATED finance service is listening',
    )
    return { providerUrl, financeUrl, token: SANDBOX_TOKEN, financeSecret: secrets[0]!, close }
  } catch (error) {
    // One port may be taken while the other is already open.
    await close()
    throw error
  }
}
