// Taking a port and giving it up. It is taken before anything else starts, so that a process which cannot have it opens no
// database; until the app listens, requests get 503 `starting`. On shutdown nobody is cut off.
import { randomUUID } from 'node:crypto'
import { Server } from 'node:net'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { PortError } from '../errors.ts'
import { http } from '../node-http.ts'
import { problem } from './problems.ts'

export interface HeldPort {
  /** For the app, which listens on it in the same turn of the event loop. */
  release(): void
}

/** `variable`: the setting that chose the port. Port 0 is any free one. */
export async function holdPort(host: string, port: number, variable: string): Promise<HeldPort> {
  if (port === 0) return { release() {} }
  const server = http.createServer((_request, response) => {
    const body = JSON.stringify(problem(503, 'starting', 'The service is starting.', randomUUID()))
    response
      .writeHead(503, {
        'content-type': 'application/problem+json',
        'content-length': Buffer.byteLength(body),
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'retry-after': '1',
        connection: 'close',
      })
      .end(body)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(explained(error, host, port, variable)))
    server.listen({ host, port }, resolve)
  })
  return {
    release() {
      server.close()
      server.closeIdleConnections()
    },
  }
}

function explained(error: NodeJS.ErrnoException, host: string, port: number, variable: string): Error {
  const texts: Record<string, string> = {
    EADDRINUSE: `The port is taken: ${host}:${port}. Another process listens there: stop it, or set ${variable} to another one.`,
    EACCES: `Port ${port} may not be used by this user. Set ${variable} to one above 1023.`,
    EADDRNOTAVAIL: `${host} is no address of this machine. Set HOST to one that is.`,
    ENOTFOUND: `${host} is the name of no machine. Set HOST to an address of this one.`,
  }
  const text = texts[error.code ?? '']
  return text === undefined ? error : new PortError(text)
}

const POLL_MS = 20
const LONGEST_INTAKE_MS = 1_000
// The first may be the rest of a turn that has polled the listener already.
const QUIET_TURNS = 3

export interface Drain {
  /** Resolves when every connection has ended, or the rest have been idle for that long. */
  begin(idleMs: number): Promise<void>
}

/**
 * Node's own close() cuts off two groups: clients whose connection the kernel has accepted but this process has not, and
 * keep-alive connections that look idle while their next request is on the wire. So: accept everyone who waits, stop
 * listening, answer with `Connection: close`, and only then close.
 */
export function installDrain(app: FastifyInstance): Drain {
  let stage: 'open' | 'intake' | 'draining' = 'open'
  const intake = Promise.withResolvers<void>()
  let accepted = 0
  let answeredAt = 0

  app.server.on('connection', () => {
    accepted++
  })
  app.addHook('onRequest', (_request, _reply, done) => {
    if (stage === 'intake') intake.promise.then(() => done())
    else done()
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (stage !== 'open') {
      reply.header('connection', 'close')
      answeredAt = Date.now()
    }
    done()
  })

  /**
   * The event loop accepts one waiting connection a turn, so a turn without one found none. Requests are held back
   * meanwhile: the turns stay short, and nobody comes back with a new connection.
   */
  async function acceptWaiting(): Promise<void> {
    const until = Date.now() + LONGEST_INTAKE_MS
    for (let quiet = 0; quiet < QUIET_TURNS && Date.now() < until; ) {
      const before = accepted
      await turn()
      quiet = accepted === before ? quiet + 1 : 0
    }
  }

  return {
    async begin(idleMs) {
      stage = 'intake'
      await acceptWaiting()
      // The listener alone: http.Server.close() would also destroy connections between two requests.
      Server.prototype.close.call(app.server)
      stage = 'draining'
      answeredAt = Date.now()
      intake.resolve()
      while (Date.now() - answeredAt < idleMs && (await connections(app)) > 0) await pause(POLL_MS)
    },
  }
}

const connections = (app: FastifyInstance): Promise<number> =>
  new Promise(resolve => app.server.getConnections((error, count) => resolve(error ? 0 : count)))
