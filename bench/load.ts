// Two servers under load in turn. An answer other than 2xx is a failed measurement, never a fast one.
import autocannon from 'autocannon'
import { alternate, type Bench, type Measurement, medians, type Pair, roundsTable } from './figure.ts'
import { POOL_SIZE, type ServerProcess } from './process.ts'

const ROUNDS = 7
const CONNECTIONS = 32
const ROUND_SECONDS = 2
// The service has several times the bare route's code for the compiler to get through; both get the same time.
const WARM_UP_SECONDS = 25

export interface Request {
  method: 'GET' | 'POST'
  path: string
  body?: string
}

export interface Side {
  server: ServerProcess
  path: string
  headers: Record<string, string>
  /** Makes each request anew, where they differ; none: GET of the path. */
  next?: () => Request
}

interface Round {
  perSecond: number
  p99Ms: number
  /** Of the server's process. */
  cpuMicrosecondsPerRequest: number
}

async function underLoad({ server, path, headers, next }: Side, seconds: number): Promise<Round> {
  const before = await server.ask({})
  const result = await autocannon({
    url: server.url + path,
    headers,
    connections: CONNECTIONS,
    duration: seconds,
    ...(next && { requests: [{ setupRequest: request => ({ ...request, ...next() }) }] }),
  })
  const after = await server.ask({})
  const failed = result.non2xx + result.errors + result.timeouts
  const answered = result['2xx']
  if (failed > 0 || answered === 0) throw new Error(`${path}: ${failed} failed, ${answered} answered`)
  return {
    perSecond: answered / result.duration,
    p99Ms: result.latency.p99,
    cpuMicrosecondsPerRequest: (after.cpuMicroseconds - before.cpuMicroseconds) / answered,
  }
}

export async function roundsUnderLoad({ say }: Bench, ours: Side, peer: Side): Promise<Pair<Round>[]> {
  say(`${ours.path}: warming both up, then ${ROUNDS} rounds of ${ROUND_SECONDS} s each`)
  await underLoad(ours, WARM_UP_SECONDS)
  await underLoad(peer, WARM_UP_SECONDS)
  return alternate(
    ROUNDS,
    () => underLoad(ours, ROUND_SECONDS),
    () => underLoad(peer, ROUND_SECONDS),
  )
}

export const rates = (rounds: Pair<Round>[]) =>
  medians(
    rounds,
    round => round.perSecond,
    round => round.perSecond,
  )

/** Requests a second of both, and every round. */
export async function measureUnderLoad(
  bench: Bench,
  ours: Side,
  peer: Side,
  { names: [a, b] = ['ours', 'peer'], what = '' }: { names?: [string, string]; what?: string } = {},
): Promise<Measurement> {
  const rounds = await roundsUnderLoad(bench, ours, peer)
  const cpu = medians(
    rounds,
    round => round.cpuMicrosecondsPerRequest,
    round => round.cpuMicrosecondsPerRequest,
  )
  return {
    ...rates(rounds),
    details: [
      `${what}${HOW} Each server is a process of its own; the load and PostgreSQL share the machine with both. The service logs at \`info\`, to nowhere.`,
      '',
      `Processor time of the server’s own process for one request (median): ${a} ${cpu.ours.toFixed(0)} µs, ${b} ${cpu.peer.toFixed(0)} µs.`,
      '',
      ...roundsTable(
        [`${a}, requests/s`, `${b}, requests/s`, 'Ratio', `${a}, p99 ms`, `${b}, p99 ms`],
        rounds.map(({ ours, peer }) => [
          ours.perSecond,
          peer.perSecond,
          (ours.perSecond / peer.perSecond).toFixed(2),
          ours.p99Ms,
          peer.p99Ms,
        ]),
      ),
    ],
  }
}

export const HOW = `${CONNECTIONS} connections, pools of ${POOL_SIZE}, ${ROUNDS} alternating rounds of ${ROUND_SECONDS} s after ${WARM_UP_SECONDS} s of warming up; medians.`

export async function bodyOf<Body>({ server, path, headers }: Side): Promise<Body> {
  const response = await fetch(server.url + path, { headers })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Body
}

export interface Page {
  data: object[]
  next_cursor: string | null
  /** How fresh each kind is, and since when anything is known; a bare route does not say. */
  as_of?: object
  known_since?: string
}
