// A client for each queue: it asks with the queue's own token where there is one, and with the common one otherwise. The
// provider counts by token, so a queue with a token of its own leaves the others theirs, and queues that were given the
// same one share its pace. Tokens change while calls are under way: the next request goes out with the new one.
import { QUEUE_NAMES, type QueueName } from '../../kernel/queue/queues.ts'
import { ProviderError } from './errors.ts'
import type { Line } from './line.ts'
import { createWorkshop, type Provider, type ProviderOptions } from './provider.ts'

export interface Providers {
  for(queue: QueueName): Provider
  close(): Promise<void>
}

export interface TokenProviders extends Providers {
  /** The queues' own tokens from now on; a queue that is not named has none. */
  use(tokens: ReadonlyMap<QueueName, string>): void
}

export interface ProvidersOptions extends Omit<ProviderOptions, 'token' | 'pace'> {
  /** The token of every queue that has none of its own. */
  token: string | undefined
  /** What to say where there is neither. */
  absent: (queue: QueueName) => string
}

export function createProviders({ token: common, absent, ...options }: ProvidersOptions): TokenProviders {
  const workshop = createWorkshop(options)
  let tokens: ReadonlyMap<QueueName, string> = new Map()
  /** By their tokens. */
  let lines = new Map<string, Line>()

  function use(next: ReadonlyMap<QueueName, string>): void {
    const wanted = new Set(common === undefined ? next.values() : [common, ...next.values()])
    // A token that stays keeps its pace: what it has asked for still counts.
    lines = new Map([...wanted].map(token => [token, lines.get(token) ?? workshop.line(token)]))
    tokens = next
  }

  function clientOf(queue: QueueName): Provider {
    const tokenNow = () => tokens.get(queue) ?? common
    const absentNow = () => (tokenNow() === undefined ? absent(queue) : undefined)
    const line = () => {
      const token = tokenNow()
      if (token === undefined) throw new ProviderError(absent(queue), { kind: 'network' })
      return lines.get(token)!
    }
    // Their connections are shared, and closed together.
    return workshop.provider({ line, absent: absentNow, close: async () => {} })
  }

  use(tokens)
  const clients = new Map(QUEUE_NAMES.map(queue => [queue, clientOf(queue)]))
  return { use, for: queue => clients.get(queue)!, close: workshop.close }
}

/** One client for every queue, for tests and figures. */
export const oneProvider = (provider: Provider): Providers => ({
  for: () => provider,
  close: () => provider.close(),
})
