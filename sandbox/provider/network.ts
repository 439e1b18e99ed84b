// Decides how the network's resources are kept: domains, firewalls, load balancers, reserved addresses and VPCs.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { findRegion } from '../world/catalogue.ts'
import type { Firewall, ForwardingRule, Region, ReservedIp } from '../world/kinds.ts'
import { buildDomain, buildFirewall, buildLoadBalancer, buildVpc } from '../world/network.ts'
import {
  addResource,
  defaultProject,
  defineEffect,
  findDroplet,
  noteTags,
  schedule,
  type World,
} from '../world/world.ts'
import { requireProject } from './account.ts'
import { actionLink, startAction } from './actions.ts'
import { type ProviderContext, resourceRoutes } from './endpoints.ts'
import { ApiError, Body, conflict, notFound, unprocessable } from './protocol.ts'

// Decides how domains are kept: by name, each name once.

export function domainRoutes(app: FastifyInstance, provider: ProviderContext): void {
  const { world, clock } = provider
  resourceRoutes(app, provider, { kind: 'domain', path: '/v2/domains', one: 'domain', many: 'domains' })

  app.post('/v2/domains', async (request, reply) => {
    const body = new Body(request)
    const name = body.text('name').toLowerCase()
    if (!/^([a-z0-9-]+\.)+[a-z]{2,}$/.test(name))
      throw unprocessable('Name Only valid hostname characters are allowed.')
    if (world.shelves.domain.get(name) !== undefined) throw unprocessable('Name already exists')
    const domain = addResource(world, 'domain', buildDomain(name, body.maybeText('ip_address')), {
      now: clock.now(),
    })
    reply.code(201)
    // The zone file is not there yet when the provider answers.
    return { domain: { ...domain, ttl: null, zone_file: null } }
  })
}

// Decides how firewalls are kept: waiting until the clock has passed the delay, then succeeded.

type Rules = Pick<Firewall, 'inbound_rules' | 'outbound_rules'>

export function firewallRoutes(app: FastifyInstance, provider: ProviderContext): void {
  const { world, clock, actionDelayMs } = provider
  const shelf = world.shelves.firewall
  resourceRoutes(app, provider, {
    kind: 'firewall',
    path: '/v2/firewalls',
    one: 'firewall',
    many: 'firewalls',
  })

  const read = (body: Body, id: string, createdAt: string): Firewall => {
    const name = body.text('name')
    if (!/^[a-zA-Z0-9][a-zA-Z0-9.-]+$/.test(name)) throw unprocessable('invalid name')
    if (shelf.filter(other => other.name === name && other.id !== id).length > 0)
      throw conflict('duplicate name')
    const inbound = body.objects('inbound_rules')
    const outbound = body.objects('outbound_rules')
    if (inbound.length + outbound.length === 0) throw unprocessable('must have at least one rule')
    return buildFirewall({
      id,
      name,
      createdAt,
      status: 'waiting',
      dropletIds: body.wholes('droplet_ids'),
      tags: body.tags(),
      rules: { inbound_rules: inbound, outbound_rules: outbound } as Rules,
    })
  }
  const settle = defineEffect(world, 'firewall settles', ({ id }: { id: string }) => {
    const firewall = shelf.get(id)
    if (firewall !== undefined) shelf.replace({ ...firewall, status: 'succeeded' })
    return firewall !== undefined
  })
  const settleLater = (id: string) =>
    schedule(world, new Date(clock.now().getTime() + actionDelayMs), settle({ id }))

  app.post('/v2/firewalls', async (request, reply) => {
    const firewall = read(new Body(request), world.ids.uuid(), wholeSeconds(clock.now()))
    addResource(world, 'firewall', firewall, { now: clock.now() })
    settleLater(firewall.id)
    reply.code(202)
    return { firewall }
  })

  app.put<{ Params: { id: string } }>('/v2/firewalls/:id', async request => {
    const before = shelf.get(request.params.id)
    if (before === undefined) throw notFound()
    const firewall = shelf.replace(read(new Body(request), before.id, before.created_at!))
    noteTags(world, firewall)
    settleLater(firewall.id)
    return { firewall }
  })
}

// Decides how load balancers are kept: new without an address until the clock has passed the delay, then
// active with one.

export function loadBalancerRoutes(app: FastifyInstance, provider: ProviderContext): void {
  const { world, clock, actionDelayMs } = provider
  const shelf = world.shelves.load_balancer
  const activate = defineEffect(world, 'load balancer activates', ({ id }: { id: string }) => {
    const balancer = shelf.get(id)
    if (balancer !== undefined) shelf.replace({ ...balancer, status: 'active', ip: world.ids.ipv4() })
    return balancer !== undefined
  })
  resourceRoutes(app, provider, {
    kind: 'load_balancer',
    path: '/v2/load_balancers',
    one: 'load_balancer',
    many: 'load_balancers',
  })

  app.post('/v2/load_balancers', async (request, reply) => {
    const body = new Body(request)
    const region = findRegion(body.text('region'))
    if (region === undefined) throw unprocessable('region is invalid')
    const rules = body.objects('forwarding_rules') as ForwardingRule[]
    if (rules.length === 0) throw unprocessable('forwarding_rules is required.')
    const projectId = requireProject(world, body.maybeText('project_id'))?.id ?? defaultProject(world).id
    const balancer = buildLoadBalancer({
      id: world.ids.uuid(),
      name: body.text('name'),
      region,
      createdAt: wholeSeconds(clock.now()),
      projectId,
      ip: '',
      status: 'new',
      dropletIds: body.wholes('droplet_ids'),
      tag: body.maybeText('tag') ?? '',
      rules,
    })
    addResource(world, 'load_balancer', balancer, { projectId, now: clock.now() })
    schedule(world, new Date(clock.now().getTime() + actionDelayMs), activate({ id: balancer.id }))
    reply.code(202)
    return { load_balancer: balancer }
  })
}

// Decides how reserved addresses are kept, IPv4 and IPv6 apart: held by the account, pointed at a droplet
// or at none, and shown with that droplet whole.

/** The droplet in place of its id. */
function shown<T extends { droplet_id: number | null }>(world: World, { droplet_id: id, ...reserved }: T) {
  return { ...reserved, droplet: id === null ? null : (findDroplet(world, id)?.droplet ?? null) }
}

export function reservedIpRoutes(app: FastifyInstance, provider: ProviderContext): void {
  const { world, clock } = provider
  const shelf = world.shelves.reserved_ip
  type Pointed = { ip: string; dropletId: number | null }
  const pointAt = defineEffect(world, 'reserved ip points', ({ ip, dropletId }: Pointed) => {
    const reserved = shelf.get(ip)
    if (reserved === undefined) return false
    shelf.replace({ ...reserved, droplet_id: dropletId, locked: false })
    return true
  })
  const start = (reserved: ReservedIp, dropletId: number | null) =>
    startAction(provider, {
      type: dropletId === null ? 'unassign_ip' : 'assign_ip',
      resource: { kind: 'reserved_ip', id: reserved.ip },
      region: reserved.region,
      effect: pointAt({ ip: reserved.ip, dropletId }),
    })

  resourceRoutes(app, provider, {
    kind: 'reserved_ip',
    path: '/v2/reserved_ips',
    one: 'reserved_ip',
    many: 'reserved_ips',
    show: reserved => shown(world, reserved),
  })
  resourceRoutes(app, provider, {
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

// Decides how VPCs are kept: a range of addresses in one region, not deletable while droplets are in it.

export function vpcRoutes(app: FastifyInstance, provider: ProviderContext): void {
  const { world, clock } = provider
  resourceRoutes(app, provider, {
    kind: 'vpc',
    path: '/v2/vpcs',
    one: 'vpc',
    many: 'vpcs',
    beforeDelete(vpc) {
      if (vpc.default) throw new ApiError(403, 'Can not delete default VPCs')
      const inside = [world.shelves.droplet, world.shelves.gpu_droplet].some(
        shelf => shelf.filter(droplet => droplet.vpc_uuid === vpc.id).length > 0,
      )
      if (inside) throw conflict('Can not delete VPC with members')
    },
  })

  app.post('/v2/vpcs', async (request, reply) => {
    const body = new Body(request)
    const name = body.text('name')
    const region = body.text('region')
    if (findRegion(region) === undefined) throw unprocessable('region is invalid')
    if (world.shelves.vpc.filter(vpc => vpc.name === name).length > 0)
      throw unprocessable('name is already in use')
    const vpc = buildVpc({
      id: world.ids.uuid(),
      name,
      region,
      ipRange: body.maybeText('ip_range') ?? `10.${120 + (world.shelves.vpc.size % 100)}.0.0/20`,
      description: body.maybeText('description') ?? '',
      createdAt: wholeSeconds(clock.now()),
    })
    reply.code(201)
    return { vpc: addResource(world, 'vpc', vpc, { now: clock.now() }) }
  })
}
