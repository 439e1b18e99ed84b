// Decides what the account itself answers: who it is, which regions there are, which sizes they offer.
import type { FastifyInstance } from 'fastify'
import { regions, sizes } from '../world/catalogue.ts'
import { listing, pageable } from './paging.ts'
import type { Provider } from './server.ts'

export function accountRoutes(app: FastifyInstance, { world }: Provider): void {
  app.get('/v2/account', async () => ({ account: world.account }))
  app.get('/v2/regions', async request => listing(request, 'regions', pageable(regions)))
  app.get('/v2/sizes', async request => listing(request, 'sizes', pageable(sizes)))
}
