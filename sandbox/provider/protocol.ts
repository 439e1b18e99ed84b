// Decides how the provider reads requests and writes errors and listings.
import type { FastifyRequest } from 'fastify'

// Decides what a refusal looks like: `{id, message, request_id}`, the id being the status in words.

const words: Record<number, string> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  412: 'precondition_failed',
  422: 'unprocessable_entity',
  429: 'too_many_requests',
  500: 'server_error',
  503: 'service_unavailable',
}

export class ApiError extends Error {
  readonly status: number
  readonly id: string
  readonly headers: Record<string, string>

  constructor(
    status: number,
    message: string,
    extra: { id?: string; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.status = status
    this.id = extra.id ?? words[status] ?? 'server_error'
    this.headers = extra.headers ?? {}
  }
}

export const unauthorized = () => new ApiError(401, 'Unable to authenticate you.')
export const notFound = () => new ApiError(404, 'The resource you requested could not be found.')
export const unprocessable = (message: string) => new ApiError(422, message)
export const conflict = (message: string) => new ApiError(409, message)
export const tooManyRequests = (headers: Record<string, string> = {}) =>
  new ApiError(429, 'API rate limit exceeded.', { headers })

// Decides how a request body is read: field by field, refusing what the provider would refuse, with its
// status for a bad body (422) and never with a type error.

export class Body {
  readonly fields: Record<string, unknown>

  constructor(request: Pick<FastifyRequest, 'body'>) {
    const body = request.body ?? {}
    if (typeof body !== 'object' || Array.isArray(body))
      throw unprocessable('The request body must be an object.')
    this.fields = body as Record<string, unknown>
  }

  text(name: string): string {
    const value = this.maybeText(name)
    if (value === undefined || value === '') throw unprocessable(`${name} is required.`)
    return value
  }

  maybeText(name: string): string | undefined {
    const value = this.fields[name]
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'string') throw unprocessable(`${name} must be a string.`)
    return value
  }

  whole(name: string): number {
    const value = this.maybeWhole(name)
    if (value === undefined) throw unprocessable(`${name} is required.`)
    return value
  }

  maybeWhole(name: string): number | undefined {
    const value = this.fields[name]
    if (value === undefined || value === null) return undefined
    if (!Number.isSafeInteger(value)) throw unprocessable(`${name} must be an integer.`)
    return value as number
  }

  flag(name: string): boolean {
    return this.fields[name] === true
  }

  texts(name: string): string[] {
    return this.#list(name, item => typeof item === 'string', 'strings')
  }

  wholes(name: string): number[] {
    return this.#list(name, item => Number.isSafeInteger(item), 'integers')
  }

  objects(name: string): Record<string, unknown>[] {
    return this.#list(name, item => typeof item === 'object' && item !== null, 'objects')
  }

  tags(): string[] {
    const tags = this.texts('tags')
    for (const tag of tags) checkTag(tag)
    return [...new Set(tags)]
  }

  #list<T>(name: string, passes: (item: unknown) => boolean, what: string): T[] {
    const value = this.fields[name]
    if (value === undefined || value === null) return []
    if (!Array.isArray(value) || !value.every(passes))
      throw unprocessable(`${name} must be a list of ${what}.`)
    return value as T[]
  }
}

export function checkTag(tag: string): void {
  if (!/^[a-zA-Z0-9_:-]{1,255}$/.test(tag)) throw unprocessable(`The tag name '${tag}' is invalid.`)
}

// Decides which part of a listing is answered, and the links beside it. The links are absolute production
// URLs, as the real ones are: a client that follows them blindly carries its token to another host.

const PRODUCTION = 'https://api.digitalocean.com'

/** What can be paged: a Collection, or a plain array. */
export type Pageable<T> = { readonly size: number; slice(offset: number, limit: number): T[] }

export function pageable<T>(items: readonly T[]): Pageable<T> {
  return { size: items.length, slice: (offset, limit) => items.slice(offset, offset + limit) }
}

export function queryOf(request: FastifyRequest): URLSearchParams {
  const question = request.url.indexOf('?')
  return new URLSearchParams(question < 0 ? '' : request.url.slice(question + 1))
}

export function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0]!
}

function bounded(query: URLSearchParams, name: string, fallback: number, highest: number): number {
  const raw = query.get(name)
  if (raw === null || raw === '') return fallback
  const value = Number(raw)
  if (!Number.isInteger(value) || value < 1 || value > highest) {
    throw unprocessable(`${name} must be between 1 and ${highest}.`)
  }
  return value
}

export type Listing = { links: { pages?: Record<string, string> }; meta: { total: number } }

export function listing<T>(
  request: FastifyRequest,
  key: string,
  items: Pageable<T>,
  show: (item: T) => unknown = item => item,
): Listing & Record<string, unknown> {
  const query = queryOf(request)
  const page = bounded(query, 'page', 1, Number.MAX_SAFE_INTEGER)
  const perPage = bounded(query, 'per_page', 20, 200)
  const last = Math.max(1, Math.ceil(items.size / perPage))
  return {
    [key]: items.slice((page - 1) * perPage, perPage).map(show),
    links: links(pathOf(request), query, page, last),
    meta: { total: items.size },
  }
}

/** Only the links that make sense: none at all when everything fits on one page. */
function links(path: string, query: URLSearchParams, page: number, last: number): Listing['links'] {
  const to = (number: number) => pageUrl(path, query, number)
  const pages: Record<string, string> = {}
  if (page > 1) {
    pages.first = to(1)
    pages.prev = to(Math.min(page - 1, last))
  }
  if (page < last) {
    pages.next = to(page + 1)
    pages.last = to(last)
  }
  return Object.keys(pages).length === 0 ? {} : { pages }
}

export function pageUrl(path: string, query: URLSearchParams, number: number): string {
  const changed = new URLSearchParams(query)
  changed.set('page', String(number))
  return `${PRODUCTION}${path}?${changed}`
}
