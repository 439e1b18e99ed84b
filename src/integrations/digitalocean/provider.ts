// Puts the provider client together, one for each queue. A queue asks with its own token where there is one, and with the
// common one otherwise. The provider counts by token, so a queue with a token of its own leaves the others theirs, and
// queues that were given the same one share its rate limiter.
import type { Logger } from 'pino'
import type { Dispatcher } from 'undici'
import { createAgent } from '../../kernel/http-client.ts'
import { QUEUE_NAMES, type QueueName } from '../../kernel/queue/queues.ts'
import { systemTimer, type Timer } from '../../kernel/retry.ts'
import { type Billing, createBilling } from './billing.ts'
import { type Connection, createClient, createConnection, type Fetch } from './client.ts'
import { createDropletLifecycle, createDroplets, type DropletLifecycle, type Droplets } from './droplets.ts'
import { ProviderError } from './errors.ts'
import { type Allowance, defaultLimits, type Limits, type ProviderRateLimiter } from './limits.ts'
import { createPolling, type Polling } from './polling.ts'
import { createProjects, type Projects } from './projects.ts'
import { createResources, type Resources } from './resources.ts'
import { createSizes, type Sizes } from './sizes.ts'

interface SharedOptions {
  baseUrl: string
  timer?: Timer
  /** In place of undici's. */
  fetch?: Fetch
  /** In place of a connection pool of the provider's own. */
  dispatcher?: Dispatcher
  log?: Pick<Logger, 'debug'>
  limits?: Partial<Limits>
  random?: () => number
}

export interface ProviderOptions extends SharedOptions {
  token: string
  /** Clients of one token share one: the provider counts by token, not by client. */
  rateLimiter?: ProviderRateLimiter
}

export interface Provider extends Resources, Droplets, DropletLifecycle, Projects, Billing, Sizes, Polling {
  /** Why there is no provider behind this; undefined when there is one. */
  absent?: string
  /** What the provider last said about the token's rate limit. */
  allowance(): Allowance | null
  close(): Promise<void>
}

export interface Providers {
  for(queue: QueueName): Provider
  close(): Promise<void>
}

export interface TokenProviders extends Providers {
  /** The queues' own tokens from now on; a queue that is not named has none. The next request goes out with the new one. */
  use(tokens: ReadonlyMap<QueueName, string>): void
}

export interface ProvidersOptions extends SharedOptions {
  /** The token of every queue that has none of its own. */
  token: string | undefined
  /** What to say where there is neither. */
  absent: (queue: QueueName) => string
}

export function createProvider({ token, rateLimiter, ...options }: ProviderOptions): Provider {
  const shared = shareConnections(options)
  const connection = shared.connect(token, rateLimiter)
  return shared.provider({ connection: () => connection, absent: () => undefined, close: shared.close })
}

export function createProviders({ token: common, absent, ...options }: ProvidersOptions): TokenProviders {
  const shared = shareConnections(options)
  let tokens: ReadonlyMap<QueueName, string> = new Map()
  /** By their tokens. */
  let connections = new Map<string, Connection>()

  function use(next: ReadonlyMap<QueueName, string>): void {
    const wanted = new Set(common === undefined ? next.values() : [common, ...next.values()])
    // A token that stays keeps its rate limiter: what it has asked for still counts.
    connections = new Map([...wanted].map(token => [token, connections.get(token) ?? shared.connect(token)]))
    tokens = next
  }

  function clientOf(queue: QueueName): Provider {
    const tokenNow = () => tokens.get(queue) ?? common
    return shared.provider({
      connection() {
        const token = tokenNow()
        if (token === undefined) throw new ProviderError(absent(queue), { kind: 'network' })
        return connections.get(token)!
      },
      absent: () => (tokenNow() === undefined ? absent(queue) : undefined),
      // The connections are shared, and closed together.
      close: async () => {},
    })
  }

  use(tokens)
  const clients = new Map(QUEUE_NAMES.map(queue => [queue, clientOf(queue)]))
  return { use, for: queue => clients.get(queue)!, close: shared.close }
}

/** One client for every queue, for tests and figures. */
export const oneProvider = (provider: Provider): Providers => ({
  for: () => provider,
  close: () => provider.close(),
})

interface ProviderParts {
  /** The connection that the next request takes. Throws when there is none. */
  connection: () => Connection
  absent: () => string | undefined
  close: () => Promise<void>
}

/** What the clients of one process have in common: the connection pool, the timer, the limits. */
function shareConnections(options: SharedOptions) {
  const { baseUrl, fetch, timer = systemTimer, log, random = Math.random } = options
  const limits = { ...defaultLimits, ...options.limits }
  const { requestTimeoutMs: silenceMs } = limits
  // The silence between two chunks is what bounds a CSV: no deadline covers its reading.
  const agent = options.dispatcher || fetch ? null : createAgent({ connections: 8, silenceMs })
  const dispatcher = options.dispatcher ?? agent ?? undefined
  return {
    connect: (token: string, rateLimiter?: ProviderRateLimiter): Connection =>
      createConnection({ baseUrl, token, fetch, dispatcher, timer, limits, rateLimiter }),

    provider({ connection, absent, close }: ProviderParts): Provider {
      const client = createClient({ connection, timer, limits, random, log })
      const parts = { client, timer, limits }
      const resources = createResources(parts)
      const droplets = createDroplets(parts)
      const { poll } = createPolling(timer, limits)
      return {
        ...resources,
        ...droplets,
        ...createDropletLifecycle({ resources, droplets, poll, limits, sleep: timer.sleep }),
        poll,
        ...createProjects(parts),
        ...createBilling(parts),
        ...createSizes(parts),
        get absent() {
          return absent()
        },
        allowance: () => (absent() === undefined ? connection().rateLimiter.allowance() : null),
        close,
      }
    },

    async close() {
      await agent?.close()
    },
  }
}
