// The part of autocannon (which brings no types) that the bench uses.
declare module 'autocannon' {
  export interface Options {
    url: string
    headers?: Record<string, string>
    connections: number
    /** Seconds. */
    duration: number
    /** Sent one after the other by each connection; each may be made anew. */
    requests?: { setupRequest(request: object): object }[]
  }

  export interface Result {
    '2xx': number
    non2xx: number
    errors: number
    timeouts: number
    /** Seconds. */
    duration: number
    latency: { p50: number; p99: number }
  }

  export default function autocannon(options: Options): Promise<Result>
}
