// Decides how load balancers are kept: new without an address until the clock has passed the delay, then
// active with one.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { findRegion } from '../world/catalogue.ts'
import { buildLoadBalancer } from '../world/network.ts'
import type { ForwardingRule } from '../world/official.ts'
import { addResource, defaultProject, schedule } from '../world/world.ts'
import { Body } from './body.ts'
import { unprocessable } from './errors.ts'
import { familyRoutes } from './family.ts'
import { requireProject } from './projects.ts'
import type { Provider } from './server.ts'

export function loadBalancerRoutes(app: FastifyInstance, provider: Provider): void {
  const { world, clock, actionDelayMs } = provider
  const shelf = world.shelves.load_balancer
  familyRoutes(app, provider, {
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
    schedule(world, new Date(clock.now().getTime() + actionDelayMs), () => {
      const current = shelf.get(balancer.id)
      if (current !== undefined) shelf.replace({ ...current, status: 'active', ip: world.ids.ipv4() })
    })
    reply.code(202)
    return { load_balancer: balancer }
  })
}
