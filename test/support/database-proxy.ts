// A TCP proxy on loopback in front of PostgreSQL that does to connections what networks and crashes do: it loses the
// answers of commits, cuts, delays, freezes, and goes to another server after a failover. It reads the protocol only to
// know when a transaction is committed; see postgres-frames.ts.
import { connect, createServer } from 'node:net'
import { type Ended, ProxiedConnection } from './proxied-connection.ts'

/** Which commits are lost: those of `commit` alone, or those of a writing statement that is a transaction by itself too. */
export type Lose = 'commits' | 'commits and autocommits'

export interface ProxyCounters {
  connections: number
  /** Connections that found no server. */
  refused: number
  /** Committed transactions that wrote something, answered or not. */
  commits: number
  autocommits: number
  /** Those among them whose answer the client never got. */
  lostCommits: number
  lostAutocommits: number
  /** Connections cut by cut(). */
  cut: number
  /** Round trips: how often the server was done with what it was asked. */
  answers: number
  freezes: number
  frozenConnections: number
}

export interface DatabaseProxy {
  port: number
  /** The same database, through the proxy. */
  url(databaseUrl: string): string
  /** From now on loses the answer of a commit with this probability: the server has committed, the connection is cut. */
  loseCommits(probability: number, which?: Lose): void
  /** Every piece of data waits this long, in both directions; `delay(0)` ends it. */
  delay(fromMs: number, toMs?: number): void
  /**
   * The connections there are become half-open: nothing is forwarded and nothing closed, in either direction. New ones are
   * served, or accepted and frozen as well.
   */
  freeze(newConnections?: 'served' | 'frozen'): void
  /** What was frozen goes on where it stood, or is cut. */
  thaw(how?: 'resume' | 'cut'): void
  /** Cuts each connection with this probability, in the middle of whatever it does; says how many. */
  cut(share?: number): number
  /** New connections go to another server. Those there are stay: cut them, or let the old server do so. */
  pointTo(databaseUrl: string): void
  /** How many connections there are now. */
  open(): number
  counters: Readonly<ProxyCounters>
  close(): Promise<void>
}

export interface ProxyOptions {
  /** The server, as the address of any database on it. */
  upstream: string
  /** Between 0 and 1; for runs that are repeated by a seed. */
  random?: () => number
}

export async function startDatabaseProxy({
  upstream,
  random = Math.random,
}: ProxyOptions): Promise<DatabaseProxy> {
  const counters: ProxyCounters = {
    connections: 0,
    refused: 0,
    commits: 0,
    autocommits: 0,
    lostCommits: 0,
    lostAutocommits: 0,
    cut: 0,
    answers: 0,
    freezes: 0,
    frozenConnections: 0,
  }
  const connections = new Set<ProxiedConnection>()
  let server = addressOf(upstream)
  let losing = { probability: 0, which: 'commits' as Lose }
  let waits: [number, number] = [0, 0]
  let frozenFromTheStart = false

  const isLost = (ended: Ended): boolean => {
    const lost =
      (ended === 'commit' || losing.which === 'commits and autocommits') && random() < losing.probability
    counters[ended === 'commit' ? 'commits' : 'autocommits']++
    if (lost) counters[ended === 'commit' ? 'lostCommits' : 'lostAutocommits']++
    return lost
  }
  const delayMs = () => (waits[1] === 0 ? 0 : waits[0] + random() * (waits[1] - waits[0]))

  const listener = createServer({ noDelay: true }, client => {
    counters.connections++
    const connection = new ProxiedConnection(client, connect({ ...server, noDelay: true }), {
      isLost,
      delayMs,
      onAnswer: () => counters.answers++,
      onRefused: () => counters.refused++,
      onClosed: () => connections.delete(connection),
    })
    connections.add(connection)
    if (frozenFromTheStart) freezeOne(connection)
  })
  const freezeOne = (connection: ProxiedConnection) => {
    if (connection.freeze()) counters.frozenConnections++
  }
  await new Promise<void>((resolve, reject) =>
    listener.once('error', reject).listen(0, '127.0.0.1', () => resolve()),
  )
  const { port } = listener.address() as { port: number }

  return {
    port,
    url: databaseUrl => {
      const through = new URL(databaseUrl)
      through.host = `127.0.0.1:${port}`
      return through.href
    },
    loseCommits: (probability, which = 'commits') => {
      losing = { probability, which }
    },
    delay: (fromMs, toMs = fromMs) => {
      waits = [fromMs, toMs]
    },
    freeze: (newConnections = 'served') => {
      counters.freezes++
      frozenFromTheStart = newConnections === 'frozen'
      for (const connection of connections) freezeOne(connection)
    },
    thaw: (how = 'resume') => {
      frozenFromTheStart = false
      for (const connection of [...connections]) connection.thaw(how)
    },
    cut: (share = 1) => {
      const chosen = [...connections].filter(() => random() < share)
      for (const connection of chosen) connection.end()
      counters.cut += chosen.length
      return chosen.length
    },
    pointTo: databaseUrl => {
      server = addressOf(databaseUrl)
    },
    open: () => connections.size,
    counters,
    close: () =>
      new Promise(resolve => {
        listener.close(() => resolve())
        for (const connection of [...connections]) connection.end()
      }),
  }
}

function addressOf(databaseUrl: string): { host: string; port: number } {
  const { hostname, port } = new URL(databaseUrl)
  return { host: hostname, port: Number(port) || 5432 }
}
