// Decides how tags are kept: a tag exists from its first mention until it is deleted, and counts what
// carries it now.
import type { FastifyInstance } from 'fastify'
import { KINDS, type Kind } from '../world/kinds.ts'
import { shelfOf, type World } from '../world/world.ts'
import { Body, checkTag } from './body.ts'
import { notFound, unprocessable } from './errors.ts'
import { listing, pageable } from './paging.ts'
import type { Provider } from './server.ts'

/** Under which word the provider counts a kind; `resource_type` in requests is the singular. */
const taggable = {
  droplets: ['droplet', 'gpu_droplet'],
  images: ['image'],
  volumes: ['volume'],
  volume_snapshots: ['snapshot'],
  databases: ['database'],
} as const satisfies Record<string, readonly Kind[]>

type Tagged = { tags?: string[] | null }

const carries = (item: object, tag: string) => (item as Tagged).tags?.includes(tag) ?? false

function show(world: World, name: string) {
  const entries = Object.entries(taggable).map(([word, kinds]) => {
    const uris = kinds.flatMap(kind =>
      shelfOf(world, kind)
        .filter(item => carries(item, name), { tag: name })
        .map(item => `https://api.digitalocean.com${KINDS[kind].path}/${shelfOf(world, kind).idOf(item)}`),
    )
    const last = uris.at(-1)
    return [word, { count: uris.length, ...(last === undefined ? {} : { last_tagged_uri: last }) }] as const
  })
  const count = entries.reduce((sum, [, entry]) => sum + entry.count, 0)
  return { name, resources: { count, ...Object.fromEntries(entries) } }
}

type WithTag = { Params: { tag: string } }

export function tagRoutes(app: FastifyInstance, { world }: Provider): void {
  const require = (name: string) => {
    if (!world.tags.has(name)) throw notFound()
    return name
  }
  const retag = (kind: Kind, id: string, change: (tags: string[]) => string[]) => {
    const shelf = shelfOf(world, kind)
    const item = shelf.get(id)
    if (item !== undefined) shelf.replace({ ...item, tags: change((item as Tagged).tags ?? []) })
    return item !== undefined
  }

  app.get('/v2/tags', async request =>
    listing(request, 'tags', pageable([...world.tags].sort()), name => show(world, name)),
  )

  app.get<WithTag>('/v2/tags/:tag', async request => ({ tag: show(world, require(request.params.tag)) }))

  app.post('/v2/tags', async (request, reply) => {
    const name = new Body(request).text('name')
    checkTag(name)
    world.tags.add(name)
    reply.code(201)
    return { tag: show(world, name) }
  })

  app.delete<WithTag>('/v2/tags/:tag', async (request, reply) => {
    const name = require(request.params.tag)
    world.tags.delete(name)
    for (const kind of Object.values(taggable).flat()) {
      for (const item of shelfOf(world, kind).filter(each => carries(each, name), { tag: name })) {
        retag(kind, shelfOf(world, kind).idOf(item), tags => tags.filter(tag => tag !== name))
      }
    }
    return reply.code(204).send()
  })

  for (const method of ['POST', 'DELETE'] as const) {
    app.route<WithTag>({
      method,
      url: '/v2/tags/:tag/resources',
      async handler(request, reply) {
        const name = require(request.params.tag)
        for (const { resource_id: id, resource_type: type } of new Body(request).objects('resources')) {
          const kinds: readonly Kind[] | undefined = Object.entries(taggable).find(
            ([word]) => word === `${type}s`,
          )?.[1]
          if (kinds === undefined) throw unprocessable('resource_type is invalid.')
          const change = (tags: string[]) =>
            method === 'POST' ? [...new Set([...tags, name])] : tags.filter(tag => tag !== name)
          if (!kinds.some(kind => retag(kind, String(id), change))) throw notFound()
        }
        return reply.code(204).send()
      },
    })
  }
}
