// The console on the management listener: its built files, and the way from them to the API of this process.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const dist = join(import.meta.dirname, '../console/dist')

/** Everything from here, nothing inline: what a provider calls its resources can never become a script. */
const POLICY = [
  "default-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** A page of the console is any address that a browser asks for as a page and that nothing else answers. */
export function serveConsole(app: FastifyInstance): void {
  app.get<{ Params: { file: string } }>('/assets/:file', async (request, reply) => {
    const { file } = request.params
    const type = TYPES[/^[\w-][\w.-]*\.(\w+)$/.exec(file)?.[1] ?? '']
    if (type === undefined) return reply.callNotFound()
    const compressed = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
    const content = await read(join('assets', compressed ? `${file}.gz` : file))
    if (content === undefined) return reply.callNotFound()
    reply.type(type).header('vary', 'accept-encoding')
    // The name changes with the content.
    reply.header('cache-control', 'public, max-age=31536000, immutable')
    if (compressed) reply.header('content-encoding', 'gzip')
    return reply.send(content)
  })
  app.get('/', sendPage)
  app.setNotFoundHandler((request, reply) =>
    isPage(request) ? sendPage(request, reply) : reply.code(404).send({ error: 'Not Found' }),
  )
}

const isPage = ({ method, headers, url }: FastifyRequest): boolean =>
  method === 'GET' && /\btext\/html\b/.test(headers.accept ?? '') && !/^\/(api|assets|docs)\//.test(url)

async function sendPage(_request: FastifyRequest, reply: FastifyReply) {
  const page = await read('index.html')
  if (page === undefined)
    return reply
      .code(404)
      .send({ error: 'The console is not built here: `npm ci` with development dependencies builds it.' })
  reply.type('text/html; charset=utf-8').header('content-security-policy', POLICY)
  return reply.header('cache-control', 'no-cache').send(page)
}

async function read(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(join(dist, file))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Of one connection, not of the response. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding']

/**
 * `/api/*` here is the API itself, so that pages of this listener call their own origin. One of them counts as the
 * development origin: `Host` has been checked, so `Origin` is no other site's. All other origins are passed on as they are.
 */
export function forwardToApi(app: FastifyInstance, api: FastifyInstance, devOrigin: string): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body)
  app.all('/api/*', async (request, reply) => {
    const { host, origin, ...headers } = request.headers
    const own = origin === `http://${host}`
    const left = new AbortController()
    reply.raw.once('close', () => left.abort())
    const answer = await api.inject({
      method: request.method as 'GET',
      url: request.url,
      headers: { ...headers, ...(origin !== undefined && { origin: own ? devOrigin : origin }) },
      payload: request.body as Buffer | undefined,
      remoteAddress: request.socket.remoteAddress,
      payloadAsStream: true,
      signal: left.signal,
    })
    for (const [name, value] of Object.entries(answer.headers)) {
      if (HOP_BY_HOP.includes(name) || (own && name.startsWith('access-control-'))) continue
      if (value !== undefined) reply.header(name, value)
    }
    return reply.code(answer.statusCode).send(answer.stream())
  })
}
