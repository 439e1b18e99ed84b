// Decides how droplets are listed, made and destroyed. The plain listing leaves GPU droplets out, as the
// real one does; there is no idempotency key: two creates make two droplets.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { findPublicImage, findRegion, findSize, regions } from '../world/catalogue.ts'
import { booted, buildDroplet, isGpu } from '../world/compute.ts'
import type { Droplet, Image } from '../world/official.ts'
import { addResource, removeResource, type World } from '../world/world.ts'
import { actionLink, startAction } from './actions.ts'
import { Body } from './body.ts'
import { notFound, unprocessable } from './errors.ts'
import { listing, type Pageable, pageable } from './paging.ts'
import type { Provider } from './server.ts'
import { attachVolume, detachEverywhere } from './volumes.ts'

export type DropletKind = 'droplet' | 'gpu_droplet'

export function findDroplet(
  world: World,
  id: string | number,
): { kind: DropletKind; droplet: Droplet } | undefined {
  for (const kind of ['droplet', 'gpu_droplet'] as const) {
    const droplet = world.shelves[kind].get(String(id))
    if (droplet !== undefined) return { kind, droplet }
  }
  return undefined
}

export function replaceDroplet(world: World, droplet: Droplet): boolean {
  const found = findDroplet(world, droplet.id)
  if (found !== undefined) world.shelves[found.kind].replace(droplet)
  return found !== undefined
}

type Query = { tag_name?: string; name?: string; type?: string }

function selected(world: World, { tag_name: tag, name, type }: Query): Pageable<Droplet> {
  if (tag !== undefined && (name !== undefined || type !== undefined)) {
    throw unprocessable('tag_name can not be combined with name or type.')
  }
  if (type !== undefined && type !== 'droplets' && type !== 'gpus') throw unprocessable('type is invalid.')
  const shelf = world.shelves[type === 'gpus' ? 'gpu_droplet' : 'droplet']
  if (tag !== undefined) return pageable(shelf.filter(droplet => droplet.tags.includes(tag), { tag }))
  if (name === undefined) return shelf
  const wanted = name.toLowerCase()
  return pageable(shelf.filter(droplet => droplet.name.toLowerCase() === wanted, { name: wanted }))
}

/** Everything that held on to a droplet lets go of it. */
export function destroyDroplet(world: World, kind: DropletKind, id: number): void {
  removeResource(world, kind, String(id))
  detachEverywhere(world, id)
  const { reserved_ip, reserved_ipv6, firewall, load_balancer } = world.shelves
  for (const reserved of reserved_ip.filter(item => item.droplet_id === id)) {
    reserved_ip.replace({ ...reserved, droplet_id: null })
  }
  for (const reserved of reserved_ipv6.filter(item => item.droplet_id === id)) {
    reserved_ipv6.replace({ ...reserved, droplet_id: null })
  }
  const others = (ids: readonly number[] | null | undefined) => (ids ?? []).filter(other => other !== id)
  for (const wall of firewall.filter(item => item.droplet_ids?.includes(id) ?? false)) {
    firewall.replace({ ...wall, droplet_ids: others(wall.droplet_ids) })
  }
  for (const balancer of load_balancer.filter(item => item.droplet_ids?.includes(id) ?? false)) {
    load_balancer.replace({ ...balancer, droplet_ids: others(balancer.droplet_ids) })
  }
}

export function findImage(world: World, word: string | number): Image | undefined {
  return findPublicImage(String(word)) ?? world.shelves.image.get(String(word))
}

/** The fields of a create, checked in the provider's words; nothing is made before all of them pass. */
function readCreate(world: World, body: Body) {
  const names = body.fields.names === undefined ? [body.text('name')] : body.texts('names')
  if (names.length === 0 || names.length > 10)
    throw unprocessable('You can create between 1 and 10 Droplets at once.')
  for (const name of names) {
    if (!/^[a-zA-Z0-9.-]{1,255}$/.test(name)) {
      throw unprocessable('Name Only valid hostname characters are allowed. (a-z, A-Z, 0-9, . and -)')
    }
  }
  const size = findSize(body.text('size'))
  if (size === undefined) throw unprocessable('You specified an invalid size for Droplet creation.')
  const slug = body.maybeText('region')
  const region =
    slug === undefined ? regions.find(item => size.regions.includes(item.slug)) : findRegion(slug)
  if (region === undefined) throw unprocessable('You specified an invalid region for Droplet creation.')
  if (!size.regions.includes(region.slug)) throw unprocessable('Size is not available in this region.')
  const word = body.fields.image
  const image = typeof word === 'string' || typeof word === 'number' ? findImage(world, word) : undefined
  if (image === undefined) throw unprocessable('You specified an invalid image for Droplet creation.')
  const vpcId = body.maybeText('vpc_uuid')
  if (vpcId !== undefined && world.shelves.vpc.get(vpcId) === undefined) throw unprocessable('VPC not found')
  const volumes = body.texts('volumes')
  for (const id of volumes)
    if (world.shelves.volume.get(id) === undefined) throw unprocessable('Volume not found')
  const held = world.shelves.droplet.size + world.shelves.gpu_droplet.size
  if (held + names.length > world.account.droplet_limit) {
    throw unprocessable('creating this/these droplet(s) will exceed your droplet limit')
  }
  return { names, size, region, image, vpcId, volumes, tags: body.tags() }
}

export function dropletRoutes(app: FastifyInstance, provider: Provider): void {
  const { world, clock } = provider

  app.get<{ Querystring: Query }>('/v2/droplets', async request =>
    listing(request, 'droplets', selected(world, request.query)),
  )

  app.get<{ Params: { id: string } }>('/v2/droplets/:id', async request => {
    const found = findDroplet(world, request.params.id)
    if (found === undefined) throw notFound()
    return { droplet: found.droplet }
  })

  app.post('/v2/droplets', async (request, reply) => {
    const body = new Body(request)
    const { names, size, region, image, vpcId, volumes, tags } = readCreate(world, body)
    const now = clock.now()
    const made = names.map(name => {
      const droplet = buildDroplet({
        id: world.ids.number(),
        name,
        region,
        size,
        image,
        createdAt: wholeSeconds(now),
        status: 'new',
        tags,
        features: [
          'droplet_agent',
          'private_networking',
          ...['backups', 'ipv6', 'monitoring'].filter(feature => body.flag(feature)),
        ],
        ...(vpcId === undefined ? {} : { vpcId }),
      })
      addResource(world, isGpu(size) ? 'gpu_droplet' : 'droplet', droplet, { now })
      world.ordered.push({ id: droplet.id, name, tags, at: now.toISOString() })
      for (const id of volumes) attachVolume(world, id, droplet.id)
      const action = startAction(provider, {
        type: 'create',
        resource: { kind: 'droplet', id: droplet.id },
        region,
        effect() {
          const current = findDroplet(world, droplet.id)?.droplet
          return current !== undefined && replaceDroplet(world, booted(current))
        },
      })
      return { droplet: findDroplet(world, droplet.id)!.droplet, link: actionLink(action, 'create') }
    })
    reply.code(202)
    const links = { actions: made.map(item => item.link) }
    return body.fields.names === undefined
      ? { droplet: made[0]!.droplet, links }
      : { droplets: made.map(item => item.droplet), links }
  })

  app.delete<{ Params: { id: string } }>('/v2/droplets/:id', async (request, reply) => {
    const found = findDroplet(world, request.params.id)
    if (found === undefined) throw notFound()
    destroyDroplet(world, found.kind, found.droplet.id)
    return reply.code(204).send()
  })

  app.delete<{ Querystring: Query }>('/v2/droplets', async (request, reply) => {
    const tag = request.query.tag_name
    if (tag === undefined) throw unprocessable('tag_name is required.')
    for (const kind of ['droplet', 'gpu_droplet'] as const) {
      for (const droplet of world.shelves[kind].filter(item => item.tags.includes(tag), { tag })) {
        destroyDroplet(world, kind, droplet.id)
      }
    }
    return reply.code(204).send()
  })
}
