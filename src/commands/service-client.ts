// The command line's way to a running service: its own HTTP API, so that the embedded engine (one process at a time)
// and many nodes are reached alike, and what an operator does is checked and recorded like any other call.
import { loadConfig } from '../config.ts'
import { CommandError } from './command.ts'
import { developmentToken } from './token.ts'

export interface ServiceClient {
  get<T>(path: string): Promise<T>
  post<T>(path: string, body?: object): Promise<T>
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
    const content = (answer.status === 204 ? {} : await answer.json().catch(() => ({}))) as {
      code?: string
      detail?: string
    }
    if (!answer.ok)
      throw new CommandError(
        `${answer.status} ${content.code ?? ''}: ${content.detail ?? 'the service refused'}`,
      )
    return content as T
  }
  return { get: path => call('GET', path), post: (path, body) => call('POST', path, body) }
}
