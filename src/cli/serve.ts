// cloudops serve, api, worker
import { type Config, loadConfig } from '../config.ts'
import { holdPorts, type Parts } from '../hold-ports.ts'
import { leaveToken, removeToken } from '../kernel/development-token.ts'
import { plainLog } from '../kernel/plain-log.ts'
import type { Running } from '../serve.ts'
import { VERSION } from '../version.ts'
import { type Command, paint, print } from './command.ts'
import { developmentToken } from './token.ts'

const serveParts = (summary: string, parts: Parts): Command => ({
  usage: '',
  summary,
  details: 'Configured by environment variables; `cloudops config` shows them. Stops on SIGTERM or Ctrl-C.',
  async run() {
    const { config, sources } = loadConfig()
    const terminal = process.stdout.isTTY && config.NODE_ENV !== 'production' ? onTerminal() : undefined
    const ports = await holdPorts(config, parts)
    if (terminal) print(`Starting the Cloud Operations Service ${VERSION}`)
    const { createLog } = await import('../kernel/log.ts')
    const log = createLog(config.LOG_LEVEL, terminal)
    // Opened while the rest is loaded: most of opening the embedded database is compiling it, which needs no JavaScript.
    const { open } = await import('../kernel/db/open.ts')
    const engine = open(config, log, { prepared: true })
    // Whoever waits for it meets its failure.
    engine.catch(() => {})
    // Loaded here and not at the top: it is nearly all of the service, which the other commands need not wait for.
    const { start, stopOnSignals } = await import('../serve.ts')
    const running = await start(config, parts, { watch: stopOnSignals, ports, log, engine })
    // Whoever asks for a level gets it; otherwise every request and job would push the link out of sight.
    if (sources.LOG_LEVEL === 'default') terminal?.quietUntilStopped()
    if (config.NODE_ENV === 'production' || !running.url) return
    if (sources.JWT_SECRET !== 'generated') return removeToken(config.DATA_DIR)
    await keepTokenLeft(config)
    await welcome(running, await developmentToken(config))
  },
})

export const serve = serveParts('Run the API and the worker in one process.', { api: true, worker: true })
export const api = serveParts('Run the API alone.', { api: true, worker: false })
export const worker = serveParts('Run the worker alone: jobs and schedules.', { api: false, worker: true })

/** Plain lines in place of JSON. */
function onTerminal() {
  const plain = plainLog(text => process.stdout.write(text))
  const quietUntilStopped = () => {
    plain.quiet(true)
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => plain.quiet(false))
  }
  return { ...plain, quietUntilStopped }
}

const DAY_MS = 86_400_000

/** What the command line calls with; renewed long before it expires. */
async function keepTokenLeft(config: Config): Promise<void> {
  const leave = async () => leaveToken(config.DATA_DIR, await developmentToken(config, { hours: 7 * 24 }))
  await leave()
  setInterval(() => void leave().catch(() => {}), DAY_MS).unref()
}

/** The first thing a newcomer sees: where it is, what is simulated, a link to open and a call that works as pasted. */
async function welcome({ url, managementUrl, sandboxUrl }: Running, token: string): Promise<void> {
  print()
  const seconds = (performance.now() / 1000).toFixed(1)
  print(paint('bold', `Cloud Operations Service at ${url}, ready after ${seconds} s`))
  if (managementUrl) print(`API reference: ${managementUrl}/docs   metrics: ${managementUrl}/metrics`)
  if (sandboxUrl)
    print(
      paint('yellow', `The provider is SIMULATED, at ${sandboxUrl}. Set DIGITALOCEAN_TOKEN for a real one.`),
    )
  print('Development secrets were generated in DATA_DIR. As a platform_admin, for the next 12 hours:')
  print()
  if (managementUrl) {
    // In the fragment, which no browser sends: the console exchanges it for its session and takes it out of the address.
    print(`Open the console:\n${managementUrl.replace('127.0.0.1', 'localhost')}/#token=${token}`)
    print()
  }
  print('Call the API:')
  print(`curl -H 'Authorization: Bearer ${token}' ${url}/api/v1/inventory`)
  print()
}
