// cloudops sandbox: the simulated provider and finance service alone.
import closeWithGrace from 'close-with-grace'
import { loadConfig } from '../config.ts'
import { createLog } from '../kernel/log.ts'
import { SANDBOX_PORTS, sandboxFolder } from '../sandbox.ts'
import { type Command, CommandError, paint, print, text, usageError } from './command.ts'

export const sandbox: Command = {
  usage: '[--provider-port N] [--finance-port N] [--droplets N] [--action-delay MS] [--no-rate-limits]',
  summary: 'Run the simulated provider and finance service alone (development only).',
  details: `Seeded with a small company, which it keeps in DATA_DIR, or with any number of droplets. Droplets take --action-delay (2000) to boot; the provider’s rate limits hold unless turned off. Default ports: ${SANDBOX_PORTS.provider} and ${SANDBOX_PORTS.finance}; 0 takes a free one.`,
  options: {
    'provider-port': { type: 'string' },
    'finance-port': { type: 'string' },
    droplets: { type: 'string' },
    'action-delay': { type: 'string' },
    'no-rate-limits': { type: 'boolean' },
  },
  async run({ options }) {
    const { config } = loadConfig()
    if (config.NODE_ENV === 'production') throw new CommandError('In production nothing is simulated.')
    const number = (name: string, fallback: number) => {
      const value = text(options, name)
      if (value !== undefined && !/^\d{1,7}$/.test(value)) throw usageError(`--${name} takes a whole number`)
      return value === undefined ? fallback : Number(value)
    }
    const ports = {
      provider: number('provider-port', SANDBOX_PORTS.provider),
      finance: number('finance-port', SANDBOX_PORTS.finance),
    }
    const droplets = number('droplets', 0)
    const { startSandbox, generated } = await import('../../sandbox/main.ts')
    const financeSecret = config.FINANCE_JWT_SECRET ?? config.JWT_SECRET
    const running = await startSandbox({
      log: createLog(config.LOG_LEVEL),
      ports,
      financeSecret,
      folder: sandboxFolder(config),
      provider: {
        actionDelayMs: number('action-delay', 2_000),
        ...(options['no-rate-limits'] === true && { rateLimits: false as const }),
      },
      ...(droplets > 0 && { seed: generated({ droplets }) }),
    })
    closeWithGrace({ delay: 5_000, logger: false }, () => running.close())
    print(paint('bold', 'SIMULATED provider and finance service'))
    print('Point a service at them:')
    print(
      `DIGITALOCEAN_API_URL=${running.providerUrl} DIGITALOCEAN_TOKEN=${running.token} FINANCE_URL=${running.financeUrl} npm start`,
    )
  },
}
