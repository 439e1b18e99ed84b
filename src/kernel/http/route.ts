// How a feature writes its routes: what an operation is called, takes, answers and refuses, and a handler that is given
// typed values and returns data. Success is `{"data": …}`, a list adds `next_cursor` and a `Link`.
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import type { Executor } from '../db/tables.ts'
import type { Guard, RoutePermission } from './caller.ts'
import { type Caller, callerOf, type Scope, scopeOf } from './caller.ts'
import { inRequest } from './idempotency.ts'
import { jsonPage, jsonText } from './json.ts'
import { type cursorOf, type Key, PageQuery, withNextLink } from './pages.ts'
import type { DeclaredProblems } from './problems.ts'
import { Many, One, Query } from './schemas.ts'

/** JSON that the database wrote. It goes out as it is, where a serializer would parse and write it again. */
export class JsonText {
  text: string

  constructor(text: string) {
    this.text = text
  }
}

interface Access {
  guard: Guard
  permission?: RoutePermission
  permissionInstead?: string
}

export interface Group extends Access {
  /** The heading of the operations in the API's description. */
  tag: string
}

interface Operation<P extends TSchema> extends Partial<Group> {
  /** Its name in the API's description and in the audit log. */
  id: string
  summary: string
  description?: string
  params?: P
  /** Problems of its own. */
  problems?: DeclaredProblems
  /** Left out of the API's description: another path of an operation that is in it. */
  hidden?: boolean
  /** Further settings of the route. */
  config?: object
}

interface Call<P extends TSchema, Q extends TSchema, B extends TSchema> extends Operation<P> {
  query?: Q
  body?: B
  /** What `data` is. Without it there is nothing to say (204), which `done` puts in words. */
  data?: TSchema
  /** What a request with `preview: true`, in its body or query, is answered with: 200, and nothing is changed. */
  preview?: TSchema
  /** A 201 names what was made: the handler sets `Location`. */
  status?: 200 | 201 | 202
  /** Of a PUT: it may answer 201 as well, which the handler sets. */
  mayCreate?: boolean
  done?: string
  /** The media types that it takes; none: JSON alone. The route's scope must be able to read them. */
  consumes?: string[]
  /** In bytes, for a body whose schema sets no bound. */
  bodyLimit?: number
}

type Cursors = ReturnType<typeof cursorOf>

interface Listing<P extends TSchema, F extends TProperties, Row> extends Operation<P> {
  /** What each item is. */
  items: TSchema
  /** Query parameters beside `limit` and `cursor`. */
  filters?: F
  cursor: Cursors | ((filter: Static<TObject<F>>) => Cursors)
  /** The sort key of a row, which the cursor holds. */
  key: (row: Row) => Key
}

interface Given<Deps, P> {
  /** Under an idempotency key its database is the key's transaction. */
  deps: Deps
  caller: Caller
  scope: Scope
  params: P
  request: FastifyRequest
  reply: FastifyReply
}

interface GivenCall<Deps, P, Q, B> extends Given<Deps, P> {
  query: Q
  body: B
}

interface GivenPage<Deps, P, F> extends Given<Deps, P> {
  filter: F
  /** How many rows to read: one more than are shown tells whether there is another page. */
  limit: number
  /** The sort key of the last row of the page before. */
  after: Key | null
}

type AddCall<Deps> = <P extends TSchema = TSchema, Q extends TSchema = TSchema, B extends TSchema = TSchema>(
  url: string,
  operation: Call<P, Q, B>,
  handler: (given: GivenCall<Deps, Static<P>, Static<Q>, Static<B>>) => unknown,
) => void

export interface Routes<Deps> {
  /** Rows that carry their JSON as `json`, or rows that the schema of an item describes. */
  list<Row extends object, F extends TProperties = Record<never, never>, P extends TSchema = TSchema>(
    url: string,
    operation: Listing<P, F, Row>,
    handler: (given: GivenPage<Deps, Static<P>, Static<TObject<F>>>) => Promise<Row[]>,
  ): void
  get: AddCall<Deps>
  post: AddCall<Deps>
  put: AddCall<Deps>
  patch: AddCall<Deps>
  delete: AddCall<Deps>
  /** For the few that answer with something else than JSON. */
  app: FastifyInstance
}

/** A feature's routes, to be added to the app. */
export function routes<Deps extends { db: Executor }>(
  deps: Deps,
  group: Group,
  add: (routes: Routes<Deps>) => void,
): (app: FastifyInstance) => void {
  return app => {
    const call =
      (method: string): AddCall<Deps> =>
      (url, operation, handler) => {
        const { query, body, data, preview, status = 200, mayCreate, done, bodyLimit, consumes } = operation
        app.route({
          method,
          url,
          ...(bodyLimit !== undefined && { bodyLimit }),
          config: configOf(group, operation),
          schema: schemaOf(`${method} ${url}`, () => ({
            ...described(group, operation),
            ...(query && { querystring: query }),
            ...(body && { body }),
            ...(consumes && { consumes }),
            response: {
              ...(preview && { 200: One(preview) }),
              ...(data && { [status]: One(data), ...(mayCreate && { 201: One(data) }) }),
              ...(!data && { 204: Type.Null({ ...(done && { description: done }) }) }),
            },
          })),
          handler: async (request, reply) => {
            const given = givenTo(inRequest(deps, request), request, reply)
            const result = await handler({ ...given, query: request.query, body: request.body } as never)
            if (preview && isPreview(request)) return { data: result }
            // Under an idempotency key the response is sent after the commit: it must be returned.
            const created = mayCreate && reply.statusCode === 201
            reply.code((data ? (created ? 201 : status) : 204) as 204)
            if (!data) return null
            return result instanceof JsonText ? jsonText(reply, `{"data":${result.text}}`) : { data: result }
          },
        })
      }
    add({
      app,
      get: call('GET'),
      post: call('POST'),
      put: call('PUT'),
      patch: call('PATCH'),
      delete: call('DELETE'),
      list(url, operation, handler) {
        const { filters, items, key } = operation
        app.route({
          method: 'GET',
          url,
          config: configOf(group, operation),
          schema: schemaOf(`GET ${url}`, () => ({
            ...described(group, operation),
            querystring: Query({ ...PageQuery, ...filters }),
            response: { 200: Many(items) },
          })),
          handler: async (request, reply) => {
            const { limit, cursor, ...filter } = request.query as { limit: number; cursor?: string }
            const cursors =
              typeof operation.cursor === 'function' ? operation.cursor(filter as never) : operation.cursor
            const after = cursors.read(cursor)
            const given = givenTo(deps, request, reply)
            const rows = await handler({ ...given, filter, limit: limit + 1, after } as never)
            const page = cursors.page(rows, limit, key)
            const hasJson = rows.length > 0 && 'json' in rows[0]!
            return hasJson ? jsonPage(request, reply, page as never) : withNextLink(request, reply, page)
          },
        })
      },
    })
  }
}

const isPreview = ({ body, query }: FastifyRequest): boolean =>
  [body, query].some(part => (part as { preview?: boolean } | null | undefined)?.preview === true)

const givenTo = <Deps>(deps: Deps, request: FastifyRequest, reply: FastifyReply): Given<Deps, unknown> => {
  const caller = request.caller && callerOf(request)
  return { deps, caller, scope: caller && scopeOf(caller), params: request.params, request, reply } as never
}

function configOf(group: Group, operation: Operation<TSchema>) {
  const { guard, permission, permissionInstead } = { ...group, ...operation }
  return {
    guard,
    ...(permission !== undefined && { permission }),
    ...(permissionInstead !== undefined && { permissionInstead }),
    ...(operation.problems && { problems: operation.problems }),
    ...operation.config,
  }
}

const schemas = new Map<string, FastifySchema>()

/** Made once for the process: what is compiled of it is kept by it, and apps that follow begin with that. */
function schemaOf(route: string, make: () => FastifySchema): FastifySchema {
  const schema = schemas.get(route) ?? make()
  schemas.set(route, schema)
  return { ...schema }
}

const described = (
  { tag }: Group,
  { id, summary, description, params, hidden, ...own }: Operation<TSchema>,
): FastifySchema => ({
  tags: [own.tag ?? tag],
  operationId: id,
  summary,
  ...(description && { description }),
  ...(params && { params }),
  ...(hidden && { hide: true }),
})
