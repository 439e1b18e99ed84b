// Which security headers every answer carries. helmet decides them, once, when the app is built: its plugin would work
// the same headers out again for every request, which took a twentieth of a small one.
import { createHash } from 'node:crypto'
import helmet, { type FastifyHelmetOptions } from '@fastify/helmet'
import fastify, { type FastifyInstance } from 'fastify'

export type Headers = Record<string, string>

const decided = new Map<boolean, Promise<Headers>>()

/** Answers the headers, for answers that no hook comes by. */
export async function installSecurityHeaders(app: FastifyInstance, production: boolean): Promise<Headers> {
  if (!decided.has(production)) decided.set(production, decide(production))
  const headers = await decided.get(production)!
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
  return headers
}

async function decide(production: boolean): Promise<Headers> {
  const headers = await headersOf({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    hsts: production && { maxAge: 31_536_000, includeSubDomains: true },
  })
  // What is answered is for the one who asked: no cache on the way keeps it.
  return { ...headers, 'cache-control': 'no-store' }
}

/** What helmet has put on an answer by the time a handler sees it. */
async function headersOf(options: FastifyHelmetOptions): Promise<Headers> {
  const stand = fastify()
  await stand.register(helmet, options)
  stand.get('/', async (_request, reply) => reply.raw.getHeaders())
  const answer = await stand.inject('/')
  await stand.close()
  return answer.json()
}

/** What a page of our own may load: what comes from here, and the very scripts that are written in it. */
export function pagePolicy(html: string): string {
  const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)]
  const hashes = inline.map(
    ([, script]) => `'sha256-${createHash('sha256').update(script!).digest('base64')}'`,
  )
  return [
    "default-src 'none'",
    `script-src ${["'self'", ...hashes].join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
