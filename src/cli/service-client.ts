// The command line's way to a running service: its own HTTP API, so that the embedded engine (one process at a time)
// and many nodes are reached alike, and what an operator does is checked and recorded like any other call.
import { loadConfig } from '../config.ts'
import { CommandError } from './command.ts'
import { developmentToken } from './token.ts'

export interface ServiceClient {
  get<T>(path: string): Promise<T>
  /** Every page of a list. */
  all<T>(path: string): Promise<T[]>
  post<T>(path: string, body?: object): Promise<T>
  patch<T>(path: string, body: object): Promise<T>
  call<T>(method: string, path: string, body?: object): Promise<T>
}

interface Refusal {
  code?: string
  detail?: string
  errors?: { pointer: string; message: string }[]
}

/** The service's own no, with the code of its problem. */
export class RefusedError extends CommandError {
  code: string
  constructor(message: string, code: string) {
    super(message)
    this.code = code
  }
}

export async function serviceClient(): Promise<ServiceClient> {
  const { config } = loadConfig()
  const host = config.HOST === '0.0.0.0' || config.HOST === '::' ? '127.0.0.1' : config.HOST
  const base = config.CLOUDOPS_URL ?? `http://${host}:${config.PORT}`
  const token =
    config.CLOUDOPS_TOKEN ?? (config.NODE_ENV === 'production' ? undefined : await developmentToken(config))
  if (!token) throw new CommandError('Set CLOUDOPS_TOKEN to a platform_admin token of your issuer.')

  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
    const answer = await fetch(`${base}${path}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
    }).catch(() => {
      throw new CommandError(
        `No service answers at ${base}. Start it with \`npm start\`, or set CLOUDOPS_URL.`,
      )
    })
    const content = (answer.status === 204 ? {} : await answer.json().catch(() => ({}))) as Refusal
    if (!answer.ok) throw refused(answer.status, content)
    return content as T
  }

  async function all<T>(path: string): Promise<T[]> {
    const rows: T[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = `limit=500${cursor && `&cursor=${cursor}`}`
      const page: { data: T[]; next_cursor: string | null } = await call('GET', `${path}?${query}`)
      rows.push(...page.data)
      cursor = page.next_cursor
    }
    return rows
  }

  return {
    get: path => call('GET', path),
    all,
    post: (path, body) => call('POST', path, body),
    patch: (path, body) => call('PATCH', path, body),
    call,
  }
}

function refused(status: number, { code = '', detail, errors = [] }: Refusal): RefusedError {
  const fields = errors.map(({ pointer, message }) => `\n  - ${pointer} ${message}`).join('')
  return new RefusedError(`${status} ${code}: ${detail ?? 'the service refused'}${fields}`, code)
}
