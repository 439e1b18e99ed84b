// Decides what the simulated S3-compatible service is: one bucket, its objects in memory, every request signed, every body
// as long and of such a hash as its headers say; and faults on request.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type SandboxClock, systemClock } from '../clock.ts'
import { FaultQueue } from '../fault-queue.ts'
import { type Keys, type Refusal, refusalOf } from './verify-signature.ts'

export type SandboxStorageOptions = Keys & { bucket: string; clock?: SandboxClock }

export type SandboxStorage = {
  listen(port?: number): Promise<{ url: string }>
  close(): Promise<void>
  readonly faults: FaultQueue<StorageFault>
  /** By key. */
  readonly objects: Map<string, Buffer>
  /** Method, path and status of each request; 0 when no answer left. */
  readonly requests: { method: string; path: string; status: number }[]
}

/** Bodies are kept in memory: this is for trying things out, not for real invoices. */
const LARGEST_OBJECT = 1024 ** 3

export function createSandboxStorage(options: SandboxStorageOptions): SandboxStorage {
  const clock = options.clock ?? systemClock
  const objects = new Map<string, Buffer>()
  const faults = new FaultQueue<StorageFault>()
  const requests: SandboxStorage['requests'] = []

  const server: Server = createServer((request, response) => {
    const seen = { method: request.method!, path: request.url!, status: 0 }
    requests.push(seen)
    response.on('finish', () => {
      seen.status = response.statusCode
    })
    answer(request, response).catch(() => response.destroy())
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('x-sandbox', 'simulated')
    const body = await bodyOf(request)
    const fault = faults.take(
      ({ method = request.method, path = '' }) => method === request.method && request.url!.includes(path),
    )
    if (fault?.fault === 'stall') return
    if (fault?.fault === 'redirect')
      return refuse(response, { status: 307, code: 'TemporaryRedirect', message: 'elsewhere' })
    if (fault?.fault === 'server_error')
      return refuse(response, { status: fault.status ?? 500, code: 'InternalError', message: 'simulated' })
    const refusal = refusalOf(request, options, clock.now()) ?? wrongBody(request, body)
    if (refusal) return refuse(response, refusal)
    const [, bucket, ...rest] = new URL(request.url!, 'http://sandbox').pathname.split('/')
    if (bucket !== options.bucket)
      return refuse(response, { status: 404, code: 'NoSuchBucket', message: 'The bucket does not exist' })
    const key = rest.map(decodeURIComponent).join('/')
    if (request.method === 'PUT') objects.set(key, body)
    if (request.method === 'DELETE') objects.delete(key)
    if (request.method === 'PUT') {
      const etag = `"${createHash('md5').update(body).digest('hex')}"`
      return void response.writeHead(200, { etag }).end()
    }
    if (request.method === 'DELETE') return void response.writeHead(204).end()
    const object = objects.get(key)
    if (!object)
      return refuse(response, { status: 404, code: 'NoSuchKey', message: 'The key does not exist.' })
    response.writeHead(200, { 'content-length': object.length, 'content-type': 'text/csv' })
    if (request.method === 'HEAD') return void response.end()
    if (fault?.fault === 'wrong_bytes') return void response.end(withOtherByte(object))
    if (fault?.fault !== 'cut') return void response.end(object)
    response.write(object.subarray(0, object.length >> 1), () => response.destroy())
  }

  return {
    async listen(port = 0) {
      await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
    faults,
    objects,
    requests,
  }
}

function wrongBody({ headers, method }: IncomingMessage, body: Buffer): Refusal | undefined {
  if (createHash('sha256').update(body).digest('hex') !== headers['x-amz-content-sha256'])
    return { status: 400, code: 'XAmzContentSHA256Mismatch', message: 'The hash is not that of the body.' }
  if (method === 'PUT' && headers['content-length'] === undefined)
    return { status: 411, code: 'MissingContentLength', message: 'You must provide the length.' }
  return undefined
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > LARGEST_OBJECT) throw new Error('too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function refuse(response: ServerResponse, { status, code, message }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/xml' })
  response.end(`<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>${code}</Code><Message>${message}</Message></Error>`)
}

function withOtherByte(object: Buffer): Buffer {
  const other = Buffer.from(object)
  other[other.length >> 1]! ^= 1
  return other
}

// Decides which faults the simulated S3-compatible service can be asked for.

export type StorageFault = (
  | { fault: 'server_error'; status?: number }
  /** Never answers. */
  | { fault: 'stall' }
  /** Answers, but in one byte something else than what was put. */
  | { fault: 'wrong_bytes' }
  /** Says how long the object is, and ends before. */
  | { fault: 'cut' }
  | { fault: 'redirect' }
) & {
  /** Of which requests; all, unless said otherwise. */
  method?: string
  /** A part of their paths. */
  path?: string
}
