// Decides how reserved addresses are kept, IPv4 and IPv6 apart: held by the account, pointed at a droplet
// or at none, and shown with that droplet whole.
import type { FastifyInstance } from 'fastify'
import { findRegion } from '../world/catalogue.ts'
import type { Region, ReservedIp } from '../world/official.ts'
import { addResource, defaultProject, type World } from '../world/world.ts'
import { actionLink, startAction } from './actions.ts'
import { Body } from './body.ts'
import { findDroplet } from './droplets.ts'
import { notFound, unprocessable } from './errors.ts'
import { familyRoutes } from './family.ts'
import { requireProject } from './projects.ts'
import type { Provider } from './server.ts'

/** The droplet in place of its id. */
function shown<T extends { droplet_id: number | null }>(world: World, { droplet_id: id, ...reserved }: T) {
  return { ...reserved, droplet: id === null ? null : (findDroplet(world, id)?.droplet ?? null) }
}

export function reservedIpRoutes(app: FastifyInstance, provider: Provider): void {
  const { world, clock } = provider
  const shelf = world.shelves.reserved_ip
  const pointAt = (ip: string, dropletId: number | null): boolean => {
    const reserved = shelf.get(ip)
    if (reserved === undefined) return false
    shelf.replace({ ...reserved, droplet_id: dropletId, locked: false })
    return true
  }
  const start = (reserved: ReservedIp, dropletId: number | null) =>
    startAction(provider, {
      type: dropletId === null ? 'unassign_ip' : 'assign_ip',
      resource: { kind: 'reserved_ip', id: reserved.ip },
      region: reserved.region,
      effect: () => pointAt(reserved.ip, dropletId),
    })

  familyRoutes(app, provider, {
    kind: 'reserved_ip',
    path: '/v2/reserved_ips',
    one: 'reserved_ip',
    many: 'reserved_ips',
    show: reserved => shown(world, reserved),
  })
  familyRoutes(app, provider, {
    kind: 'reserved_ipv6',
    path: '/v2/reserved_ipv6',
    one: 'reserved_ipv6',
    many: 'reserved_ipv6s',
    show: reserved => shown(world, reserved),
  })

  app.post('/v2/reserved_ips', async (request, reply) => {
    const body = new Body(request)
    const dropletId = body.maybeWhole('droplet_id')
    const droplet = dropletId === undefined ? undefined : findDroplet(world, dropletId)?.droplet
    if (dropletId !== undefined && droplet === undefined) throw unprocessable('Droplet not found')
    const region: Region | undefined = droplet?.region ?? findRegion(body.text('region'))
    if (region === undefined) throw unprocessable('region is invalid')
    if (shelf.size >= world.account.floating_ip_limit) throw unprocessable('Reserved IP limit reached')
    const projectId = requireProject(world, body.maybeText('project_id'))?.id ?? defaultProject(world).id
    const reserved: ReservedIp = {
      ip: world.ids.ipv4(),
      region,
      locked: droplet !== undefined,
      project_id: projectId,
      droplet_id: null,
    }
    addResource(world, 'reserved_ip', reserved, { projectId, now: clock.now() })
    reply.code(202)
    if (droplet === undefined) return { reserved_ip: shown(world, reserved), links: {} }
    const href = `https://api.digitalocean.com/v2/droplets/${droplet.id}`
    return {
      reserved_ip: shown(world, reserved),
      links: {
        droplets: [{ id: droplet.id, rel: 'droplet', href }],
        actions: [actionLink(start(reserved, droplet.id), 'assign_ip')],
      },
    }
  })

  app.post<{ Params: { id: string } }>('/v2/reserved_ips/:id/actions', async (request, reply) => {
    const reserved = shelf.get(request.params.id)
    if (reserved === undefined) throw notFound()
    const body = new Body(request)
    const type = body.text('type')
    if (type !== 'assign' && type !== 'unassign') throw unprocessable('The action type is invalid.')
    if (reserved.locked) throw unprocessable('The reserved IP already has a pending event.')
    const dropletId = type === 'assign' ? body.whole('droplet_id') : null
    if (dropletId !== null && findDroplet(world, dropletId) === undefined)
      throw unprocessable('Droplet not found')
    shelf.replace({ ...reserved, locked: true })
    reply.code(201)
    return { action: { ...start(reserved, dropletId), project_id: reserved.project_id } }
  })
}
