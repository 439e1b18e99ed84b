// Which security headers every answer carries. helmet decides them, once, when the app is built: its plugin would work
// the same headers out again for every request, which took a twentieth of a small one.
import helmet, { type FastifyHelmetOptions } from '@fastify/helmet'
import fastify, { type FastifyInstance } from 'fastify'

const decided = new Map<boolean, Promise<Record<string, string>>>()

export async function installSecurityHeaders(app: FastifyInstance, production: boolean): Promise<void> {
  if (!decided.has(production)) decided.set(production, decide(production))
  const headers = await decided.get(production)!
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}

function decide(production: boolean): Promise<Record<string, string>> {
  return headersOf({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    hsts: production && { maxAge: 31_536_000, includeSubDomains: true },
  })
}

/** What helmet has put on an answer by the time a handler sees it. */
async function headersOf(options: FastifyHelmetOptions): Promise<Record<string, string>> {
  const stand = fastify()
  await stand.register(helmet, options)
  stand.get('/', async (_request, reply) => reply.raw.getHeaders())
  const answer = await stand.inject('/')
  await stand.close()
  return answer.json()
}
