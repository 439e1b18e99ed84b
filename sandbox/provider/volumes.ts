// Decides how volumes are kept, attached and grown: one name for each region, on one droplet at a time,
// never deleted while attached, never shrunk.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { findRegion } from '../world/catalogue.ts'
import { buildSnapshot } from '../world/compute.ts'
import { buildVolume } from '../world/network.ts'
import type { Volume } from '../world/official.ts'
import { addResource, type World } from '../world/world.ts'
import { actionsOf, findAction, startAction } from './actions.ts'
import { Body } from './body.ts'
import { findDroplet, replaceDroplet } from './droplets.ts'
import { conflict, notFound, unprocessable } from './errors.ts'
import { familyRoutes } from './family.ts'
import { listing, pageable } from './paging.ts'
import type { Provider } from './server.ts'

export function attachVolume(world: World, volumeId: string, dropletId: number): boolean {
  const volume = world.shelves.volume.get(volumeId)
  const droplet = findDroplet(world, dropletId)?.droplet
  if (volume === undefined || droplet === undefined) return false
  world.shelves.volume.replace({ ...volume, droplet_ids: [dropletId] })
  return replaceDroplet(world, { ...droplet, volume_ids: [...new Set([...droplet.volume_ids, volumeId])] })
}

function detachVolume(world: World, volumeId: string, dropletId: number): boolean {
  const volume = world.shelves.volume.get(volumeId)
  if (volume === undefined) return false
  world.shelves.volume.replace({ ...volume, droplet_ids: [] })
  const droplet = findDroplet(world, dropletId)?.droplet
  if (droplet === undefined) return true
  return replaceDroplet(world, { ...droplet, volume_ids: droplet.volume_ids.filter(id => id !== volumeId) })
}

export function detachEverywhere(world: World, dropletId: number): void {
  const { volume } = world.shelves
  for (const item of volume.filter(each => each.droplet_ids?.includes(dropletId) ?? false)) {
    volume.replace({ ...item, droplet_ids: [] })
  }
}

type WithIds = { Params: { id: string; action: string } }

export function volumeRoutes(app: FastifyInstance, provider: Provider): void {
  const { world, clock } = provider
  const shelf = world.shelves.volume
  const find = (id: string): Volume => {
    const volume = shelf.get(id)
    if (volume === undefined) throw notFound()
    return volume
  }

  familyRoutes(app, provider, {
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
    const effect = plan(world, volume, body)
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

function plan(world: World, volume: Volume, body: Body): () => boolean {
  const type = body.text('type')
  const attached = volume.droplet_ids ?? []
  if (type === 'resize') {
    const gigabytes = body.whole('size_gigabytes')
    if (gigabytes <= (volume.size_gigabytes ?? 0)) throw unprocessable('volumes may only be resized upwards')
    return () => {
      const current = world.shelves.volume.get(volume.id)
      if (current === undefined) return false
      world.shelves.volume.replace({ ...current, size_gigabytes: gigabytes })
      return true
    }
  }
  const dropletId = body.whole('droplet_id')
  const droplet = findDroplet(world, dropletId)?.droplet
  if (droplet === undefined) throw notFound()
  if (type === 'attach') {
    if (attached.length > 0) throw unprocessable('volume is already attached to a Droplet')
    if (droplet.region.slug !== volume.region.slug)
      throw unprocessable('Droplet and volume must be in one region')
    return () => attachVolume(world, volume.id, dropletId)
  }
  if (type === 'detach') {
    if (!attached.includes(dropletId)) throw unprocessable('volume is not attached to this Droplet')
    return () => detachVolume(world, volume.id, dropletId)
  }
  throw unprocessable('The action type is invalid.')
}
