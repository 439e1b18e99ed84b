// cloudops serve, api, worker
import { type Config, loadConfig } from '../config.ts'
import { holdPorts, type Parts } from '../hold-ports.ts'
import { leaveToken, removeToken } from '../kernel/development-token.ts'
import type { Running } from '../serve.ts'
import { type Command, paint, print } from './command.ts'
import { developmentToken } from './token.ts'

const serveParts = (summary: string, parts: Parts): Command => ({
  usage: '',
  summary,
  details: 'Configured by environment variables; `cloudops config` shows them. Stops on SIGTERM or Ctrl-C.',
  async run() {
    const { config, sources } = loadConfig()
    const ports = await holdPorts(config, parts)
    // Loaded here and not at the top: it is nearly all of the service, which the other commands need not wait for.
    const { start, stopOnSignals } = await import('../serve.ts')
    const running = await start(config, parts, stopOnSignals, ports)
    if (config.NODE_ENV === 'production' || !running.url) return
    if (sources.JWT_SECRET !== 'generated') return removeToken(config.DATA_DIR)
    await keepTokenLeft(config)
    await welcome(running, await developmentToken(config))
  },
})

export const serve = serveParts('Run the API and the worker in one process.', { api: true, worker: true })
export const api = serveParts('Run the API alone.', { api: true, worker: false })
export const worker = serveParts('Run the worker alone: jobs and schedules.', { api: false, worker: true })

const DAY_MS = 86_400_000

/** What the command line calls with; renewed long before it expires. */
async function keepTokenLeft(config: Config): Promise<void> {
  const leave = async () => leaveToken(config.DATA_DIR, await developmentToken(config, { hours: 7 * 24 }))
  await leave()
  setInterval(() => void leave().catch(() => {}), DAY_MS).unref()
}

/** The first thing a newcomer sees: where it is, what is simulated, and a call that works as pasted. */
async function welcome({ url, managementUrl, sandboxUrl }: Running, token: string): Promise<void> {
  print()
  print(paint('bold', `Cloud Operations Service at ${url}`))
  if (managementUrl) print(`API reference: ${managementUrl}/docs   metrics: ${managementUrl}/metrics`)
  if (sandboxUrl)
    print(
      paint('yellow', `The provider is SIMULATED, at ${sandboxUrl}. Set DIGITALOCEAN_TOKEN for a real one.`),
    )
  print('Development secrets were generated in DATA_DIR. As a platform_admin, for the next 12 hours:')
  print()
  print(`curl -H 'Authorization: Bearer ${token}' ${url}/api/v1/inventory`)
  print()
}
