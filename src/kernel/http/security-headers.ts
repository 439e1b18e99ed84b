// The security headers of every response.
import { createHash } from 'node:crypto'
import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'

export async function installSecurityHeaders(app: FastifyInstance, production: boolean): Promise<void> {
  await app.register(helmet, {
    // Below: the plugin would put the same text together again for every request.
    contentSecurityPolicy: false,
    hsts: production && { maxAge: 31_536_000, includeSubDomains: true },
  })
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('content-security-policy', "default-src 'none';frame-ancestors 'none'")
    // Responses are for one caller: no cache on the way may keep them.
    reply.header('cache-control', 'no-store')
    done()
  })
}

/** The policy of an HTML page of ours: it loads from this origin only, and runs the inline scripts it has now. */
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
