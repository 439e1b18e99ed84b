// Decides how volumes, images and snapshots are kept. A volume has one name for each region, is on one droplet at a time,
// is never deleted while attached, and never shrinks.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { findRegion, publicImages } from '../world/catalogue.ts'
import { buildSnapshot } from '../world/compute.ts'
import type { Image, Volume } from '../world/kinds.ts'
import { buildVolume } from '../world/network.ts'
import {
  addResource,
  attachVolume,
  defineEffect,
  detachVolume,
  type Effect,
  findDroplet,
  findImage,
  removeResource,
  type World,
} from '../world/world.ts'
import { actionsOf, findAction, startAction } from './actions.ts'
import { type ProviderContext, resourceRoutes } from './endpoints.ts'
import {
  ApiError,
  Body,
  conflict,
  listing,
  notFound,
  type Pageable,
  pageable,
  unprocessable,
} from './protocol.ts'

type WithIds = { Params: { id: string; action: string } }

export function volumeRoutes(app: FastifyInstance, provider: ProviderContext): void {
  const { world, clock } = provider
  const shelf = world.shelves.volume
  const effects = volumeEffects(world)
  const find = (id: string): Volume => {
    const volume = shelf.get(id)
    if (volume === undefined) throw notFound()
    return volume
  }

  resourceRoutes(app, provider, {
    kind: 'volume',
    path: '/v2/volumes',
    one: 'volume',
    many: 'volumes',
    select({ name, region }) {
      if (name === undefined && region === undefined) return shelf
      const passes = (volume: Volume) =>
        (name === undefined || volume.name === name) &&
        (region === undefined || volume.region.slug === region)
      return pageable(shelf.filter(passes, name === undefined ? {} : { name }))
    },
    beforeDelete(volume) {
      if ((volume.droplet_ids ?? []).length > 0) throw conflict('volume is still attached to a Droplet')
    },
  })

  app.post('/v2/volumes', async (request, reply) => {
    const body = new Body(request)
    const name = body.text('name')
    if (!/^[a-z]([a-z0-9-]{0,62}[a-z0-9])?$/.test(name)) throw unprocessable('invalid volume name')
    const gigabytes = body.whole('size_gigabytes')
    if (gigabytes < 1 || gigabytes > 16_384) throw unprocessable('invalid volume size')
    const region = findRegion(body.text('region'))
    if (region === undefined) throw unprocessable('region is invalid')
    const taken = shelf.filter(other => other.name === name && other.region.slug === region.slug, { name })
    if (taken.length > 0) throw conflict('volume already exists')
    const volume = buildVolume({
      id: world.ids.uuid(),
      name,
      region,
      gigabytes,
      createdAt: wholeSeconds(clock.now()),
      description: body.maybeText('description') ?? '',
      tags: body.tags(),
      filesystemType: body.maybeText('filesystem_type') ?? '',
      filesystemLabel: body.maybeText('filesystem_label') ?? '',
    })
    reply.code(201)
    return { volume: addResource(world, 'volume', volume, { now: clock.now() }) }
  })

  app.get<WithIds>('/v2/volumes/:id/actions', async request =>
    listing(request, 'actions', pageable(actionsOf(provider, `volume:${find(request.params.id).id}`))),
  )

  app.get<WithIds>('/v2/volumes/:id/actions/:action', async request => ({
    action: findAction(provider, request.params.action, `volume:${find(request.params.id).id}`),
  }))

  app.post<WithIds>('/v2/volumes/:id/actions', async (request, reply) => {
    const volume = find(request.params.id)
    const body = new Body(request)
    const effect = plan(world, effects, volume, body)
    const type = `${body.text('type')}_volume`
    const resource = { kind: 'volume' as const, id: volume.id }
    reply.code(202)
    return { action: startAction(provider, { type, resource, region: volume.region, effect }) }
  })

  app.get<WithIds>('/v2/volumes/:id/snapshots', async request => {
    const { id } = find(request.params.id)
    return listing(
      request,
      'snapshots',
      pageable(world.shelves.snapshot.filter(item => item.resource_id === id)),
    )
  })

  app.post<WithIds>('/v2/volumes/:id/snapshots', async (request, reply) => {
    const volume = find(request.params.id)
    const body = new Body(request)
    const snapshot = buildSnapshot({
      id: world.ids.uuid(),
      name: body.text('name'),
      region: volume.region.slug,
      createdAt: wholeSeconds(clock.now()),
      of: { kind: 'volume', id: volume.id },
      minDiskSize: volume.size_gigabytes ?? 1,
      tags: body.tags(),
    })
    reply.code(201)
    return { snapshot: addResource(world, 'snapshot', snapshot, { now: clock.now() }) }
  })
}

type Attached = { id: string; dropletId: number }

const volumeEffects = (world: World) => ({
  resize: defineEffect(world, 'volume grows', ({ id, gigabytes }: { id: string; gigabytes: number }) => {
    const volume = world.shelves.volume.get(id)
    if (volume === undefined) return false
    world.shelves.volume.replace({ ...volume, size_gigabytes: gigabytes })
    return true
  }),
  attach: defineEffect(world, 'volume is attached', ({ id, dropletId }: Attached) =>
    attachVolume(world, id, dropletId),
  ),
  detach: defineEffect(world, 'volume is detached', ({ id, dropletId }: Attached) =>
    detachVolume(world, id, dropletId),
  ),
})

function plan(world: World, effects: ReturnType<typeof volumeEffects>, volume: Volume, body: Body): Effect {
  const type = body.text('type')
  const attached = volume.droplet_ids ?? []
  if (type === 'resize') {
    const gigabytes = body.whole('size_gigabytes')
    if (gigabytes <= (volume.size_gigabytes ?? 0)) throw unprocessable('volumes may only be resized upwards')
    return effects.resize({ id: volume.id, gigabytes })
  }
  const dropletId = body.whole('droplet_id')
  const droplet = findDroplet(world, dropletId)?.droplet
  if (droplet === undefined) throw notFound()
  if (type === 'attach') {
    if (attached.length > 0) throw unprocessable('volume is already attached to a Droplet')
    if (droplet.region.slug !== volume.region.slug)
      throw unprocessable('Droplet and volume must be in one region')
    return effects.attach({ id: volume.id, dropletId })
  }
  if (type === 'detach') {
    if (!attached.includes(dropletId)) throw unprocessable('volume is not attached to this Droplet')
    return effects.detach({ id: volume.id, dropletId })
  }
  throw unprocessable('The action type is invalid.')
}

// Decides how images and snapshots are listed. A droplet's snapshot is both at once, under one number:
// deleting either deletes the other.

export function imageRoutes(app: FastifyInstance, provider: ProviderContext): void {
  const { world } = provider
  const { image, snapshot } = world.shelves
  // Public images first, then the account's own; never copied into one list, which may be long.
  const all: Pageable<Image> = {
    get size() {
      return publicImages.length + image.size
    },
    slice(offset, limit) {
      const shown = publicImages.slice(offset, offset + limit)
      return [...shown, ...image.slice(Math.max(0, offset - publicImages.length), limit - shown.length)]
    },
  }

  resourceRoutes(app, provider, {
    kind: 'image',
    path: '/v2/images',
    one: 'image',
    many: 'images',
    find: id => findImage(world, id),
    select({ private: own, type, tag_name: tag }) {
      if (tag !== undefined) return pageable(image.filter(item => item.tags?.includes(tag) ?? false))
      if (type === 'distribution') return pageable(publicImages)
      if (type === 'application') return pageable([])
      if (type !== undefined) throw unprocessable('type is invalid.')
      return own === 'true' ? image : all
    },
    beforeDelete(item) {
      if (item.public) throw new ApiError(403, 'You do not have access for the attempted action.')
      removeResource(world, 'snapshot', String(item.id))
    },
  })

  resourceRoutes(app, provider, {
    kind: 'snapshot',
    path: '/v2/snapshots',
    one: 'snapshot',
    many: 'snapshots',
    select({ resource_type: type }) {
      if (type === undefined) return snapshot
      return pageable(snapshot.filter(item => item.resource_type === type))
    },
    beforeDelete(item) {
      if (item.resource_type === 'droplet') removeResource(world, 'image', item.id)
    },
  })
}

// Decides what an image action does: a transfer adds a region, a convert makes a snapshot of a backup.

export function imageActionRoutes(app: FastifyInstance, provider: ProviderContext): void {
  const { world } = provider
  const shelf = world.shelves.image
  type Changed = { id: number; change: Partial<Image> }
  const change = defineEffect(world, 'image changes', ({ id, change: changed }: Changed) => {
    const image = shelf.get(String(id))
    if (image !== undefined) shelf.replace({ ...image, ...changed })
    return image !== undefined
  })
  const find = (id: string): Image => {
    const image = shelf.get(id)
    if (image === undefined) throw notFound()
    return image
  }

  app.get<WithIds>('/v2/images/:id/actions', async request =>
    listing(request, 'actions', pageable(actionsOf(provider, `image:${find(request.params.id).id}`))),
  )

  app.get<WithIds>('/v2/images/:id/actions/:action', async request => ({
    action: findAction(provider, request.params.action, `image:${find(request.params.id).id}`),
  }))

  app.post<WithIds>('/v2/images/:id/actions', async (request, reply) => {
    const image = find(request.params.id)
    const body = new Body(request)
    const type = body.text('type')
    const regions = (image.regions ?? []) as string[]
    let changed: Partial<Image>
    let region = findRegion(regions[0] ?? '')
    if (type === 'transfer') {
      region = findRegion(body.text('region'))
      if (region === undefined) throw unprocessable('region is invalid')
      if (regions.includes(region.slug)) throw unprocessable('Image is already available in this region.')
      changed = { regions: [...regions, region.slug] as Image['regions'] }
    } else if (type === 'convert') {
      if (image.type !== 'backup') throw unprocessable('Only backups can be converted.')
      changed = { type: 'snapshot' }
    } else throw unprocessable('The action type is invalid.')
    reply.code(201)
    const resource = { kind: 'image' as const, id: image.id }
    const effect = change({ id: image.id, change: changed })
    return { action: startAction(provider, { type, resource, region: region!, effect }) }
  })
}
