// A page of a tenant's resources among a million of others, through the whole service and by hand.
import { deepStrictEqual } from 'node:assert'
import type { Bench, Figure, Measurement } from '../figure.ts'
import { bodyOf, details, PATH, ROUNDS, round, warmUp } from '../list.ts'
import { underLoad } from '../load.ts'
import { millionResources } from '../million-resources.ts'
import { alternate, median } from '../rounds.ts'
import { startServer } from '../server-process.ts'
import { headersFor, POOL_SIZE, serviceEnvironment } from '../service-environment.ts'

const TENANT = 'tenant-500'

export default {
  name: 'inventory-list',
  measures: `\`GET ${PATH}\` of one tenant of 1,000 among 1,000,000 resources, through the service: JWT, tenancy, validation, rate limit, security headers, CORS, request log, metrics, and how fresh each kind is.`,
  peer: 'a bare Fastify route with a hand-written, named `pg` query for the same rows and `JSON.stringify`: no authentication, no validation, no log, no freshness.',
  unit: 'requests/s',
  bar: { atLeast: 1 },
  measure,
} satisfies Figure

async function measure(bench: Bench): Promise<Measurement> {
  const url = await millionResources(bench)
  const environment = serviceEnvironment(url)
  const service = await startServer('service.ts', environment)
  const headers = await headersFor(environment.JWT_SECRET, { tenant_id: TENANT })
  const bare = await startServer('bare-inventory.ts', {
    DATABASE_URL: url,
    DATABASE_POOL_SIZE: POOL_SIZE,
    TENANT,
  })
  const { as_of, ...page } = await bodyOf(service.url + PATH, headers)
  deepStrictEqual(await bodyOf(bare.url + PATH, headers), page)
  deepStrictEqual(page.data.length, 100)

  bench.say(`warming both up, then ${ROUNDS} rounds`)
  await underLoad(service, warmUp(PATH, headers))
  await underLoad(bare, warmUp(PATH, headers))
  const rounds = await alternate(
    ROUNDS,
    () => underLoad(service, round(PATH, headers)),
    () => underLoad(bare, round(PATH, headers)),
  )
  await service.stop()
  await bare.stop()
  return {
    ours: median(rounds.map(({ ours }) => ours.perSecond)),
    peer: median(rounds.map(({ peer }) => peer.perSecond)),
    details: details(rounds, ['ours', 'peer']),
  }
}
