// A provider for tests: a real HTTP server on loopback that answers as the test scripts it, and a clock whose
// waits pass at once. It knows nothing of the client but its constructor.
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { createProvider, type Limits, type Provider } from '../../src/integrations/digitalocean/index.ts'
import type { Timer } from '../../src/kernel/retry.ts'

export const token = `dop_v1_${'5ec7e7'.repeat(10)}`

export interface Seen {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: string
}

export interface Reply {
  status?: number
  headers?: Record<string, string>
  /** An object is sent as JSON, text and bytes as they stand. */
  body?: unknown
  /** reset: the connection dies unanswered. cut: it dies within the body. hang: no answer ever comes. */
  fault?: 'reset' | 'cut' | 'hang'
}

export type Script = (request: Seen, count: number) => Reply

export interface TestClock extends Timer {
  waits: number[]
  pass(ms: number): void
}

export function testClock(start = Date.UTC(2026, 0, 15)): TestClock {
  let now = start
  const waits: number[] = []
  return {
    waits,
    now: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      waits.push(ms)
      now += ms
    },
    pass(ms) {
      now += ms
    },
  }
}

export interface Setup {
  provider: Provider
  clock: TestClock
  requests: Seen[]
  baseUrl: string
}

export async function setup(t: TestContext, script: Script, limits: Partial<Limits> = {}): Promise<Setup> {
  const requests: Seen[] = []
  const baseUrl = await serve(t, (request, count) => {
    requests.push(request)
    return script(request, count)
  })
  const clock = testClock()
  const provider = createProvider({ baseUrl, token, timer: clock, limits, random: () => 1 })
  t.after(() => provider.close())
  return { provider, clock, requests, baseUrl }
}

export async function serve(t: TestContext, script: Script): Promise<string> {
  let count = 0
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const url = new URL(request.url ?? '', 'http://provider.test')
    const { method = '', headers } = request
    count += 1
    answer(response, script({ method, path: url.pathname, query: url.searchParams, headers, body }, count))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function answer(response: ServerResponse, { status = 200, headers = {}, body, fault }: Reply): void {
  if (fault === 'hang') return
  if (fault === 'reset') {
    response.destroy()
    return
  }
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''))
  const length = bytes.byteLength + (fault === 'cut' ? 100 : 0)
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(status === 204 ? {} : { 'content-length': String(length) }),
    ...headers,
  })
  if (fault === 'cut') response.write(bytes, () => response.destroy())
  else response.end(bytes)
}

/** An honest paged endpoint over `items`; its links point at production, as the real ones do. */
export function pageOf(key: string, items: readonly unknown[], query: URLSearchParams): Reply {
  const page = Number(query.get('page') ?? 1)
  const perPage = Number(query.get('per_page') ?? 20)
  const more = page * perPage < items.length
  const next = `https://api.digitalocean.com/v2/${key}?page=${page + 1}&per_page=${perPage}`
  return {
    body: {
      [key]: items.slice((page - 1) * perPage, page * perPage),
      links: more ? { pages: { next } } : {},
      meta: { total: items.length },
    },
  }
}

export function fixture(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(`../fixtures/digitalocean/${name}.json`, import.meta.url), 'utf8'))
}

/** The first item of an official listing. */
export function example(name: string, key: string): Record<string, unknown> {
  return (fixture(name)[key] as Record<string, unknown>[])[0] as Record<string, unknown>
}

export function numbered(count: number): { id: number; name: string }[] {
  return Array.from({ length: count }, (_, at) => ({ id: at + 1, name: `item-${at + 1}` }))
}
