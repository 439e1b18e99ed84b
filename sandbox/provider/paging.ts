// Decides which part of a listing is answered, and the links beside it. The links are absolute production
// URLs, as the real ones are: a client that follows them blindly carries its token to another host.
import type { FastifyRequest } from 'fastify'
import { unprocessable } from './errors.ts'

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
