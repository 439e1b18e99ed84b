// Puts the provider client together: a token's line, the courier, and the calls on top of them.
// The token lives in the exchange's closure alone; the object returned holds none.
import type { Logger } from 'pino'
import { Agent, type Dispatcher } from 'undici'
import { type Billing, createBilling } from './billing.ts'
import { type Clock, systemClock } from './clock.ts'
import { createCourier } from './courier.ts'
import { createDropletLife, type DropletLife } from './droplet-life.ts'
import { createDroplets, type Droplets } from './droplets.ts'
import type { Fetch } from './exchange.ts'
import { defaultLimits, type Limits } from './limits.ts'
import { createLine, type Line } from './line.ts'
import type { Allowance, Pace } from './pace.ts'
import { createPatience, type Patience } from './patience.ts'
import { createProjects, type Projects } from './projects.ts'
import { createResources, type Resources } from './resources.ts'

export interface ProviderOptions {
  baseUrl: string
  token: string
  clock?: Clock
  /** In place of undici's. */
  fetch?: Fetch
  /** In place of a connection pool of the provider's own. */
  dispatcher?: Dispatcher
  log?: Pick<Logger, 'debug'>
  limits?: Partial<Limits>
  /** Clients of one token share one pace: the provider counts by token, not by client. */
  pace?: Pace
  random?: () => number
}

export interface Provider extends Resources, Droplets, DropletLife, Projects, Billing, Patience {
  /** Why there is no provider behind this; undefined when there is one. */
  absent?: string
  /** What the provider last said about the token's rate limit. */
  allowance(): Allowance | null
  close(): Promise<void>
}

export function createProvider({ token, pace, ...options }: ProviderOptions): Provider {
  const workshop = createWorkshop(options)
  const line = workshop.line(token, pace)
  return workshop.provider({ line: () => line, absent: () => undefined, close: workshop.close })
}

export interface Behind {
  /** The line that the next request takes. Throws when there is none. */
  line: () => Line
  absent: () => string | undefined
  close: () => Promise<void>
}

/** What clients of one process have in common: the connections, the clock, the bounds. */
export function createWorkshop(options: Omit<ProviderOptions, 'token' | 'pace'>) {
  const { baseUrl, fetch, clock = systemClock, log, random = Math.random } = options
  const limits = { ...defaultLimits, ...options.limits }
  const agent = options.dispatcher || fetch ? null : createAgent(limits)
  const dispatcher = options.dispatcher ?? agent ?? undefined
  return {
    line: (token: string, pace?: Pace): Line =>
      createLine({ baseUrl, token, fetch, dispatcher, clock, limits, pace }),

    provider({ line, absent, close }: Behind): Provider {
      const courier = createCourier({ line, clock, limits, random, log })
      const parts = { courier, clock, limits }
      const resources = createResources(parts)
      const droplets = createDroplets(parts)
      const patience = createPatience(clock, limits)
      return {
        ...resources,
        ...droplets,
        ...createDropletLife({ resources, droplets, patience, limits, sleep: clock.sleep }),
        ...patience,
        ...createProjects(parts),
        ...createBilling(parts),
        get absent() {
          return absent()
        },
        allowance: () => (absent() === undefined ? line().pace.allowance() : null),
        close,
      }
    },

    async close() {
      await agent?.close()
    },
  }
}

function createAgent({ requestTimeoutMs }: Limits): Agent {
  return new Agent({
    connections: 8,
    connect: { timeout: Math.min(10_000, requestTimeoutMs) },
    headersTimeout: requestTimeoutMs,
    // Between two chunks: what bounds a CSV, whose reading no timer of ours covers.
    bodyTimeout: requestTimeoutMs,
  })
}
