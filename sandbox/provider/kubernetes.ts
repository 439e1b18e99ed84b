// Decides how Kubernetes clusters are kept: provisioning until the clock has passed the delay, then running.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { findRegion } from '../world/catalogue.ts'
import { buildCluster } from '../world/managed.ts'
import { addResource, schedule } from '../world/world.ts'
import { Body } from './body.ts'
import { unprocessable } from './errors.ts'
import { familyRoutes } from './family.ts'
import type { Provider } from './server.ts'

export function kubernetesRoutes(app: FastifyInstance, provider: Provider): void {
  const { world, clock, actionDelayMs } = provider
  const shelf = world.shelves.kubernetes_cluster
  familyRoutes(app, provider, {
    kind: 'kubernetes_cluster',
    path: '/v2/kubernetes/clusters',
    one: 'kubernetes_cluster',
    many: 'kubernetes_clusters',
  })

  app.post('/v2/kubernetes/clusters', async (request, reply) => {
    const body = new Body(request)
    const region = body.text('region')
    if (findRegion(region) === undefined) throw unprocessable('invalid region')
    const pools = body.objects('node_pools').map(pool => ({
      name: String(pool.name),
      size: String(pool.size),
      count: Number(pool.count),
    }))
    if (pools.length === 0) throw unprocessable('must have at least one node pool')
    const fields = {
      id: world.ids.uuid(),
      name: body.text('name'),
      region,
      version: body.text('version'),
      createdAt: wholeSeconds(clock.now()),
      tags: body.tags(),
      pools,
    }
    const cluster = buildCluster({ ...fields, state: 'provisioning' })
    addResource(world, 'kubernetes_cluster', cluster, { now: clock.now() })
    schedule(world, new Date(clock.now().getTime() + actionDelayMs), () => {
      if (shelf.get(cluster.id) !== undefined) shelf.replace(buildCluster(fields))
    })
    reply.code(201)
    return { kubernetes_cluster: cluster }
  })
}
