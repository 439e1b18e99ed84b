// Decides how VPCs are kept: a range of addresses in one region, not deletable while droplets are in it.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { findRegion } from '../world/catalogue.ts'
import { buildVpc } from '../world/network.ts'
import { addResource } from '../world/world.ts'
import { Body } from './body.ts'
import { conflict, ProviderError, unprocessable } from './errors.ts'
import { familyRoutes } from './family.ts'
import type { Provider } from './server.ts'

export function vpcRoutes(app: FastifyInstance, provider: Provider): void {
  const { world, clock } = provider
  familyRoutes(app, provider, {
    kind: 'vpc',
    path: '/v2/vpcs',
    one: 'vpc',
    many: 'vpcs',
    beforeDelete(vpc) {
      if (vpc.default) throw new ProviderError(403, 'Can not delete default VPCs')
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
