// Decides how droplets are listed, made, changed and destroyed. The plain listing leaves GPU droplets out, as the real one
// does; there is no idempotency key: two creates make two droplets.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { findRegion, findSize, regions } from '../world/catalogue.ts'
import { booted, buildDroplet, buildImage, buildSnapshot, isGpu, resized } from '../world/compute.ts'
import type { Droplet } from '../world/kinds.ts'
import {
  addResource,
  attachVolume,
  defineEffect,
  destroyDroplet,
  findDroplet,
  findImage,
  replaceDroplet,
  type World,
} from '../world/world.ts'
import { actionLink, actionsOf, findAction, recordAction, startAction } from './actions.ts'
import type { ProviderContext } from './endpoints.ts'
import { Body, listing, notFound, type Pageable, pageable, unprocessable } from './protocol.ts'

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

export function dropletRoutes(app: FastifyInstance, provider: ProviderContext): void {
  const { world, clock } = provider
  const boot = defineEffect(world, 'droplet boots', ({ id }: { id: number }) => {
    const droplet = findDroplet(world, id)?.droplet
    return droplet !== undefined && replaceDroplet(world, booted(droplet))
  })

  const destroy = (kind: 'droplet' | 'gpu_droplet', { id, region }: Droplet) => {
    destroyDroplet(world, kind, id)
    recordAction(provider, { type: 'destroy', resource: { kind: 'droplet', id }, region })
  }

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
        effect: boot({ id: droplet.id }),
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
    destroy(found.kind, found.droplet)
    return reply.code(204).send()
  })

  app.delete<{ Querystring: Query }>('/v2/droplets', async (request, reply) => {
    const tag = request.query.tag_name
    if (tag === undefined) throw unprocessable('tag_name is required.')
    for (const kind of ['droplet', 'gpu_droplet'] as const) {
      for (const droplet of world.shelves[kind].filter(item => item.tags.includes(tag), { tag })) {
        destroy(kind, droplet)
      }
    }
    return reply.code(204).send()
  })
}

// Decides what a droplet action does and when it is refused: one at a time, power actions only where they
// change something, a resize only of a droplet that is off. The effect shows once the action is completed.

type Plan = (droplet: Droplet, now: Date) => Droplet

const status =
  (next: Droplet['status']): Plan =>
  droplet => ({ ...droplet, status: next })

const feature =
  (name: string, on: boolean): Plan =>
  droplet => ({
    ...droplet,
    features: on
      ? [...new Set([...droplet.features, name])]
      : droplet.features.filter(present => present !== name),
  })

/** What an action will do to the droplet; throws what the provider would refuse. */
function plan(world: World, type: string, body: Body, droplet: Droplet): Plan {
  const isOff = droplet.status === 'off'
  switch (type) {
    case 'power_off':
    case 'shutdown':
      if (isOff) throw unprocessable('Droplet is already powered off.')
      return status('off')
    case 'power_on':
      if (!isOff) throw unprocessable('Droplet is already powered on.')
      return status('active')
    case 'reboot':
    case 'power_cycle':
      if (isOff) throw unprocessable('Droplet is powered off.')
      return status('active')
    case 'password_reset':
      return same => same
    case 'enable_backups':
      return feature('backups', true)
    case 'disable_backups':
      return feature('backups', false)
    case 'enable_ipv6':
      return feature('ipv6', true)
    case 'rename': {
      const name = body.text('name')
      if (!/^[a-zA-Z0-9.-]{1,255}$/.test(name))
        throw unprocessable('Name Only valid hostname characters are allowed.')
      return same => ({ ...same, name })
    }
    case 'resize': {
      const size = findSize(body.text('size'))
      if (size === undefined || !size.regions.includes(droplet.region.slug))
        throw unprocessable('Invalid size.')
      if (!isOff) throw unprocessable('Droplet must be powered off to be resized.')
      if (size.slug === droplet.size_slug) throw unprocessable('This Droplet is already this size.')
      if (size.disk < droplet.disk) throw unprocessable('This size has a smaller disk.')
      return same => resized(same, size, body.flag('disk'))
    }
    case 'rebuild':
    case 'restore': {
      const word = body.fields.image
      const image = typeof word === 'string' || typeof word === 'number' ? findImage(world, word) : undefined
      if (image === undefined) throw unprocessable('Image not found.')
      return same => ({ ...same, image })
    }
    case 'snapshot':
      return (same, now) =>
        takeSnapshot(world, same, body.maybeText('name') ?? `${same.name}-${now.getTime()}`, now)
    default:
      throw unprocessable('The action type is invalid.')
  }
}

/** A droplet's snapshot is a snapshot and a private image at once, under one number. */
function takeSnapshot(world: World, droplet: Droplet, name: string, now: Date): Droplet {
  const id = world.ids.number()
  const about = { name, region: droplet.region.slug, createdAt: wholeSeconds(now), minDiskSize: droplet.disk }
  addResource(
    world,
    'snapshot',
    buildSnapshot({ ...about, id: String(id), of: { kind: 'droplet', id: String(droplet.id) } }),
    { now },
  )
  addResource(world, 'image', buildImage({ ...about, id, type: 'snapshot' }), { now })
  return { ...droplet, snapshot_ids: [...droplet.snapshot_ids, id] }
}

type WithIds = { Params: { id: string; action: string } }

/** An action as it was asked for, of the droplet as it was then. */
type Asked = { droplet: Droplet; type: string; fields: Record<string, unknown> }

export function dropletActionRoutes(app: FastifyInstance, provider: ProviderContext): void {
  const { world } = provider
  const change = defineEffect(world, 'droplet changes', ({ droplet, type, fields }: Asked, now) => {
    const current = findDroplet(world, droplet.id)?.droplet
    if (current === undefined) return false
    const changed = plan(world, type, new Body({ body: fields }), droplet)
    return replaceDroplet(world, { ...changed(current, now), locked: false })
  })
  const find = (id: string) => {
    const found = findDroplet(world, id)
    if (found === undefined) throw notFound()
    return found.droplet
  }

  app.get<WithIds>('/v2/droplets/:id/actions', async request =>
    listing(request, 'actions', pageable(actionsOf(provider, `droplet:${find(request.params.id).id}`))),
  )

  app.get<WithIds>('/v2/droplets/:id/actions/:action', async request => ({
    action: findAction(provider, request.params.action, `droplet:${find(request.params.id).id}`),
  }))

  app.post<WithIds>('/v2/droplets/:id/actions', async (request, reply) => {
    const droplet = find(request.params.id)
    const body = new Body(request)
    const type = body.text('type')
    if (droplet.locked) throw unprocessable('Droplet already has a pending event.')
    plan(world, type, body, droplet)
    replaceDroplet(world, { ...droplet, locked: true })
    const action = startAction(provider, {
      type,
      resource: { kind: 'droplet', id: droplet.id },
      region: droplet.region,
      effect: change({ droplet, type, fields: body.fields }),
    })
    reply.code(201)
    return { action }
  })
}
