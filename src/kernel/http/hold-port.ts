// A port is taken before anything else is begun: who cannot have it must not open a database or start a sandbox first.
// Until the listener itself is ready, whoever calls is told that the service is starting.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { PortError } from '../errors.ts'
import { problem } from './problems.ts'

export interface HeldPort {
  /** Lets go of it, for the listener that takes it in the same turn. */
  release(): void
}

/** `variable` is where the port was chosen. Port 0 is any that is free. */
export async function holdPort(host: string, port: number, variable: string): Promise<HeldPort> {
  if (port === 0) return { release() {} }
  const server = createServer((_request, response) => {
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
  const words: Record<string, string> = {
    EADDRINUSE: `The port is taken: ${host}:${port}. Another process listens there: stop it, or set ${variable} to another one.`,
    EACCES: `Port ${port} may not be used by this user. Set ${variable} to one above 1023.`,
    EADDRNOTAVAIL: `${host} is no address of this machine. Set HOST to one that is.`,
    ENOTFOUND: `${host} is the name of no machine. Set HOST to an address of this one.`,
  }
  const text = words[error.code ?? '']
  return text === undefined ? error : new PortError(text)
}
