// The only way to the API. Every call is one documented operation; a refused one throws a `Problem`.
import { signal } from '@preact/signals'
import createClient from 'openapi-fetch'
import type { components, paths } from './generated/api.d.ts'

export type Schemas = components['schemas']

/** Empty on the management listener: the API answers there too. Elsewhere the page's `<meta>` names it. */
export const apiAddress =
  document.querySelector('meta[name="cloudops-api"]')?.getAttribute('content')?.replace(/\/$/, '') ?? ''

/** What the API refused, in its own words; also what never got there. */
export class Problem extends Error {
  title: string
  detail: string
  status: number
  code: string
  requestId: string | undefined
  /** Of single fields: `/name` points into the body, `?name` at a filter. */
  errors: { pointer: string; message: string }[]
  constructor(problem: Partial<Schemas['Problem']>) {
    super(problem.detail ?? problem.title)
    this.title = problem.title ?? 'The call failed'
    this.detail = problem.detail ?? ''
    this.status = problem.status ?? 0
    this.code = problem.code ?? 'unknown'
    this.requestId = problem.request_id
    this.errors = problem.errors ?? []
  }
}

/** One call of the current page, for "as curl". */
export interface Call {
  method: string
  url: string
  body: string | undefined
}

export const calls = signal<Call[]>([])

/** Goes up when a session has ended under a page; `session.tsx` asks for another. */
export const refusedSessions = signal(0)

export const api = createClient<paths>({
  baseUrl: apiAddress || location.origin,
  credentials: 'include',
  headers: { accept: 'application/json, */*' },
})

api.use({
  async onRequest({ request, schemaPath }) {
    if (schemaPath === '/api/v1/session') return
    const text = request.body ? await request.clone().text() : undefined
    const call = { method: request.method, url: request.url, body: text && withoutSecrets(text) }
    const others = calls.value.filter(({ method, url }) => method !== call.method || url !== call.url)
    calls.value = [...others, call].slice(-20)
  },
  async onResponse({ response, schemaPath }) {
    if (response.ok) return
    if (response.status === 401 && schemaPath !== '/api/v1/session') refusedSessions.value += 1
    throw await problemOf(response)
  },
  onError: ({ error }) =>
    error instanceof DOMException && error.name === 'AbortError'
      ? error
      : new Problem({
          title: 'The service cannot be reached',
          detail: 'Nothing answered. It may be starting or stopping.',
        }),
})

/** The body of a call's answer: `const { data } = await ok(api.GET('/api/v1/inventory', { signal }))`. */
export async function ok<T>(call: Promise<{ data?: T }>): Promise<Exclude<T, string>> {
  // Lists can be had as CSV too, but only by those who ask for it.
  return (await call).data as Exclude<T, string>
}

export async function problemOf(response: Response): Promise<Problem> {
  const body = await response.json().catch(() => ({}))
  return new Problem({ title: response.statusText, status: response.status, ...body })
}

/** Acts that are sent again by mistake count once. */
export const once = () => ({ 'Idempotency-Key': crypto.randomUUID() })

const SECRET = /secret|token|password|^value$|^access_key/

const withoutSecrets = (text: string): string =>
  JSON.stringify(
    JSON.parse(text, (key, value) => (SECRET.test(key) && typeof value === 'string' ? '$SECRET' : value)),
  )

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

export function asCurl({ method, url, body }: Call): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`,
    '-H "Authorization: Bearer $TOKEN"',
  ]
  if (body !== undefined) lines.push("-H 'Content-Type: application/json'", `-d ${quoted(body)}`)
  return lines.join(' \\\n  ')
}
