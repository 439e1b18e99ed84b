// The command line's way to a running service: its own HTTP API, so that the embedded engine (one process at a time)
// and many nodes are reached alike, and what an operator does is checked and recorded like any other call.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type ClientConfig, loadClientConfig, loadConfig } from '../config.ts'
import { leftToken } from '../kernel/development-token.ts'
import { CommandError } from './command.ts'

export interface ServiceClient {
  get<T>(path: string): Promise<T>
  /** Every page of a list. */
  all<T>(path: string): Promise<T[]>
  /** Under an Idempotency-Key, where one is given. */
  post<T>(path: string, body?: object, key?: string): Promise<T>
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
  /** After how many seconds to ask again; undefined: it would be the same. */
  retryAfter: number | undefined
  constructor(message: string, code: string, retryAfter?: number) {
    super(message)
    this.code = code
    this.retryAfter = retryAfter
  }
}

/** Nobody answered: what became of the request is not known. */
export class UnansweredError extends CommandError {}

export async function serviceClient(): Promise<ServiceClient> {
  const config = loadClientConfig()
  const host = config.HOST === '0.0.0.0' || config.HOST === '::' ? '127.0.0.1' : config.HOST
  const base = config.CLOUDOPS_URL ?? `http://${host}:${config.PORT}`
  const token = config.CLOUDOPS_TOKEN ?? (await developmentTokenOf(config))

  async function call<T>(method: string, path: string, body?: object, key?: string): Promise<T> {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    }
    const { status, text, retryAfter } = await send(
      method,
      `${base}${path}`,
      headers,
      body && JSON.stringify(body),
    ).catch(() => {
      throw new UnansweredError(
        `No service answers at ${base}. Start it with \`npm start\`, or set CLOUDOPS_URL.`,
      )
    })
    const content = parsed(text)
    if (status >= 400) throw refused(status, content, retryAfter)
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
    post: (path, body, key) => call('POST', path, body, key),
    patch: (path, body) => call('PATCH', path, body),
    call: (method, path, body) => call(method, path, body),
  }
}

/** Left by the service beside which the command is called, or signed where its issuer's secret is set. */
async function developmentTokenOf(config: ClientConfig): Promise<string> {
  if (config.NODE_ENV === 'production')
    throw new CommandError('Set CLOUDOPS_TOKEN to a platform_admin token of your issuer.')
  if (config.hasJwtSecret) {
    // Loaded here and not at the top: most calls need not sign.
    const { developmentToken } = await import('./token.ts')
    return developmentToken(loadConfig({ makeSecrets: false }).config)
  }
  const left = leftToken(config.DATA_DIR)
  if (left !== undefined) return left
  throw new CommandError(
    `There is no token: no service has left one in ${config.DATA_DIR}. Start it here with \`npm start\`, set DATA_DIR to its folder, or set CLOUDOPS_TOKEN and CLOUDOPS_URL.`,
  )
}

/** Not by fetch, which alone takes as long to load as all of a command. */
async function send(
  method: string,
  url: string,
  headers: Record<string, string>,
  body: string | undefined,
): Promise<{ status: number; text: string; retryAfter?: number }> {
  const { http, https } = await import('../kernel/node-http.ts')
  const { request } = url.startsWith('https:') ? https : http
  const call = request(url, { method, headers })
  // Of what follows the answer's head its reader is told.
  call.on('error', () => {})
  call.end(body)
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  answer.setEncoding('utf8')
  let text = ''
  for await (const chunk of answer) text += chunk
  const seconds = Number(answer.headers['retry-after'])
  return { status: answer.statusCode!, text, ...(seconds > 0 && { retryAfter: seconds }) }
}

function parsed(text: string): Refusal {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function refused(
  status: number,
  { code = '', detail, errors = [] }: Refusal,
  retryAfter?: number,
): RefusedError {
  const fields = errors.map(({ pointer, message }) => `\n  - ${pointer} ${message}`).join('')
  return new RefusedError(`${status} ${code}: ${detail ?? 'the service refused'}${fields}`, code, retryAfter)
}
