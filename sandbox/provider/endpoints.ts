// Decides what endpoints work with, and what nearly all kinds have in common: a paged listing, one object or 404, and a
// delete that is 204 the first time and 404 the second. What differs is handed in.
import type { FastifyInstance } from 'fastify'
import type { SandboxClock } from '../clock.ts'
import type { Items, Kind } from '../world/kinds.ts'
import { removeResource, type World } from '../world/world.ts'
import type { Faults } from './faults.ts'
import { listing, notFound, type Pageable } from './protocol.ts'

/** The token is what the request carried, for tests to look at. */
export type LoggedRequest = {
  method: string
  url: string
  status: number
  at: Date
  token: string | undefined
}

/** What a family of endpoints works with. */
export type ProviderContext = {
  readonly world: World
  readonly clock: SandboxClock
  readonly actionDelayMs: number
  readonly faults: Faults
  readonly requests: LoggedRequest[]
}

export type ResourceEndpoints<K extends Kind> = {
  kind: K
  path: string
  one: string
  many: string
  show?: (item: Items[K]) => unknown
  /** The part of the shelf a query asks for; the whole of it when left out. */
  select?: (query: Record<string, string | undefined>) => Pageable<Items[K]>
  find?: (id: string) => Items[K] | undefined
  /** Refuses a delete, or lets go of what depends on it; false: this kind has no delete. */
  beforeDelete?: ((item: Items[K]) => void) | false
}

type Params = { Params: { id: string }; Querystring: Record<string, string | undefined> }

export function resourceRoutes<K extends Kind>(
  app: FastifyInstance,
  { world }: ProviderContext,
  family: ResourceEndpoints<K>,
): void {
  const shelf = world.shelves[family.kind]
  const show = family.show ?? ((item: Items[K]) => item)
  const find = (id: string): Items[K] => {
    const item = family.find === undefined ? shelf.get(id) : family.find(id)
    if (item === undefined) throw notFound()
    return item
  }

  app.get<Params>(family.path, async request =>
    listing(request, family.many, family.select?.(request.query) ?? shelf, show),
  )

  app.get<Params>(`${family.path}/:id`, async request => ({ [family.one]: show(find(request.params.id)) }))

  if (family.beforeDelete === false) return
  const beforeDelete = family.beforeDelete
  app.delete<Params>(`${family.path}/:id`, async (request, reply) => {
    const item = find(request.params.id)
    beforeDelete?.(item)
    removeResource(world, family.kind, shelf.idOf(item))
    return reply.code(204).send()
  })
}
