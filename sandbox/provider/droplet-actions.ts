// Decides what a droplet action does and when it is refused: one at a time, power actions only where they
// change something, a resize only of a droplet that is off. The effect shows once the action is completed.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { findSize } from '../world/catalogue.ts'
import { buildImage, buildSnapshot, resized } from '../world/compute.ts'
import type { Droplet } from '../world/official.ts'
import { addResource, type World } from '../world/world.ts'
import { actionsOf, findAction, startAction } from './actions.ts'
import { Body } from './body.ts'
import { findDroplet, findImage, replaceDroplet } from './droplets.ts'
import { notFound, unprocessable } from './errors.ts'
import { listing, pageable } from './paging.ts'
import type { Provider } from './server.ts'

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

export function dropletActionRoutes(app: FastifyInstance, provider: Provider): void {
  const { world } = provider
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
    const change = plan(world, type, body, droplet)
    replaceDroplet(world, { ...droplet, locked: true })
    const action = startAction(provider, {
      type,
      resource: { kind: 'droplet', id: droplet.id },
      region: droplet.region,
      effect(now) {
        const current = findDroplet(world, droplet.id)?.droplet
        return current !== undefined && replaceDroplet(world, { ...change(current, now), locked: false })
      },
    })
    reply.code(201)
    return { action }
  })
}
