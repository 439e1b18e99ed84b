// Stopping without cutting anyone off. Node's own close() would cut two groups: callers whose connection the system has
// taken but this process has not yet (closing the listener resets them), and keep-alive connections that look idle while
// their next request is already on the wire. So: take everyone who waits, stop listening, answer what comes with
// `Connection: close`, and only then close.
import { Server } from 'node:net'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

const POLL_MS = 20
const LONGEST_INTAKE_MS = 1_000
// The first may be the rest of a turn that has looked at the listener already.
const QUIET_TURNS = 3

export interface Drain {
  /** Resolves when every connection has ended, or those that are left have said nothing for that long. */
  begin(patienceMs: number): Promise<void>
}

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
   * The event loop takes one waiting connection a turn, so a turn that takes none found none. Requests are held
   * meanwhile: the turns stay short, and nobody comes back with a new connection.
   */
  async function takeEveryoneWaiting(): Promise<void> {
    const until = Date.now() + LONGEST_INTAKE_MS
    for (let quiet = 0; quiet < QUIET_TURNS && Date.now() < until; ) {
      const before = accepted
      await turn()
      quiet = accepted === before ? quiet + 1 : 0
    }
  }

  return {
    async begin(patienceMs) {
      stage = 'intake'
      await takeEveryoneWaiting()
      // The listener alone: http.Server.close() would also destroy connections between two requests.
      Server.prototype.close.call(app.server)
      stage = 'draining'
      answeredAt = Date.now()
      intake.resolve()
      while (Date.now() - answeredAt < patienceMs && (await connections(app)) > 0) await pause(POLL_MS)
    },
  }
}

const connections = (app: FastifyInstance): Promise<number> =>
  new Promise(resolve => app.server.getConnections((error, count) => resolve(error ? 0 : count)))
