// Requests as the official specification types them: a path it knows, its parameters filled in and encoded,
// a body of the documented shape. Building a request here is what keeps a typo from reaching the provider.
import type { Order } from './exchange.ts'
import type { paths } from './generated/api.d.ts'

type Post = { [P in keyof paths]: paths[P]['post'] extends undefined ? never : P }[keyof paths]

type JsonBody<Operation> = Operation extends { requestBody: { content: { 'application/json': infer B } } }
  ? B
  : Operation extends { requestBody?: { content: { 'application/json': infer B } } }
    ? B
    : never

export type PostBody<P extends Post> = JsonBody<paths[P]['post']>

export function getOrder(path: keyof paths, ...params: string[]): Order {
  return { method: 'GET', target: fillPath(path, params) }
}

export function postOrder<P extends Post>(path: P, body: PostBody<P>, ...params: string[]): Order {
  return { method: 'POST', target: fillPath(path, params), body: JSON.stringify(body) }
}

export function deleteOrder(path: keyof paths, ...params: string[]): Order {
  return { method: 'DELETE', target: fillPath(path, params) }
}

/** Fills the `{placeholders}` in their order. */
export function fillPath(template: string, params: readonly string[]): string {
  let at = 0
  const path = template.replace(/\{[^{}]+\}/g, () => {
    const param = params[at++]
    // `..` survives encoding and would climb to another endpoint.
    if (!param || param === '.' || param === '..') throw new TypeError(`not an id: ${JSON.stringify(param)}`)
    return encodeURIComponent(param)
  })
  if (at !== params.length) throw new TypeError(`${template} takes ${at} ids, not ${params.length}`)
  return path
}
