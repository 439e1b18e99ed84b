// Stopping without cutting anyone off. Node's own close() destroys connections that look idle, and a keep-alive
// connection looks idle while its next request is already on the wire. So: stop accepting, answer what comes with
// `Connection: close`, and only then close.
import { Server } from 'node:net'
import type { FastifyInstance } from 'fastify'

const POLL_MS = 20

export interface Drain {
  /** Resolves when every connection has ended, or the patience for silent ones has. */
  begin(patienceMs: number): Promise<void>
}

export function installDrain(app: FastifyInstance): Drain {
  let draining = false
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (draining) reply.header('connection', 'close')
    done()
  })
  return {
    async begin(patienceMs) {
      draining = true
      // The listener alone: http.Server.close() would also destroy connections between two requests.
      Server.prototype.close.call(app.server)
      const until = Date.now() + patienceMs
      while (Date.now() < until && (await connections(app)) > 0) {
        await new Promise(resolve => setTimeout(resolve, POLL_MS))
      }
    },
  }
}

const connections = (app: FastifyInstance): Promise<number> =>
  new Promise(resolve => app.server.getConnections((error, count) => resolve(error ? 0 : count)))
