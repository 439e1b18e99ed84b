// Load on one address for one round. An answer other than 2xx is a failed measurement, never a fast one.
import autocannon from 'autocannon'
import type { ServerProcess } from './server-process.ts'

export interface Request {
  method: 'GET' | 'POST'
  path: string
  body?: string
}

export interface Load {
  path: string
  /** Makes each request anew, where they differ; none: GET of the path. */
  next?: () => Request
  headers: Record<string, string>
  connections: number
  seconds: number
}

export interface Round {
  perSecond: number
  p99Ms: number
  /** Of the server's process. */
  cpuMicrosecondsPerRequest: number
}

export async function underLoad(
  server: ServerProcess,
  { path, headers, connections, seconds, next }: Load,
): Promise<Round> {
  const before = await server.usage()
  const result = await autocannon({
    url: server.url + path,
    headers,
    connections,
    duration: seconds,
    ...(next && { requests: [{ setupRequest: request => ({ ...request, ...next() }) }] }),
  })
  const after = await server.usage()
  const failed = result.non2xx + result.errors + result.timeouts
  const answered = result['2xx']
  if (failed > 0 || answered === 0) throw new Error(`${path}: ${failed} failed, ${answered} answered`)
  return {
    perSecond: answered / result.duration,
    p99Ms: result.latency.p99,
    cpuMicrosecondsPerRequest: (after.cpuMicroseconds - before.cpuMicroseconds) / answered,
  }
}
