// How the deployments' figures are measured: the service and hand-written routes on the same database, each with
// deployments of its own, so that neither waits for a row of the other's.
import { newId } from '../src/kernel/ids.ts'
import { query } from './databases.ts'
import type { Bench, Measurement } from './figure.ts'
import { type Load, type Request, underLoad } from './load.ts'
import { alternate, median } from './rounds.ts'
import { startServer } from './server-process.ts'
import { headersFor, POOL_SIZE, serviceEnvironment } from './service-environment.ts'

const ROUNDS = 7
const WARM_UP_SECONDS = 6
const ROUND_SECONDS = 2
const CONNECTIONS = 32
const DEPLOYMENTS = 2_000

export const PEER =
  'the same by hand-written SQL in a bare Fastify route: no authentication, no schema, no log.'
const base = '/api/v1/deployments'

/** The requests of one side, each made when it is sent. */
export type Requests = (tenant: string, ids: string[]) => () => Request

export async function measureDeployments({ database, say }: Bench, requests: Requests): Promise<Measurement> {
  const url = await database()
  const environment = serviceEnvironment(url)
  const service = await startServer('service.ts', environment)
  const bare = await startServer('bare-deployments.ts', { DATABASE_URL: url, DATABASE_POOL_SIZE: POOL_SIZE })
  const headers = {
    ...(await headersFor(environment.JWT_SECRET, { role: 'platform_admin' })),
    'content-type': 'application/json',
  }
  const load = async (tenant: string): Promise<(seconds: number) => Load> => {
    const next = requests(tenant, await fill(url, tenant))
    return seconds => ({ path: base, headers, connections: CONNECTIONS, seconds, next })
  }
  const [ours, peer] = [await load('ours'), await load('peer')]
  say(`warming both up, then ${ROUNDS} rounds of ${ROUND_SECONDS} s each`)
  await underLoad(service, ours(WARM_UP_SECONDS))
  await underLoad(bare, peer(WARM_UP_SECONDS))
  const rounds = await alternate(
    ROUNDS,
    () => underLoad(service, ours(ROUND_SECONDS)),
    () => underLoad(bare, peer(ROUND_SECONDS)),
  )
  await service.stop()
  await bare.stop()
  return {
    ours: median(rounds.map(round => round.ours.perSecond)),
    peer: median(rounds.map(round => round.peer.perSecond)),
    details: [
      `${CONNECTIONS} connections, pools of ${POOL_SIZE}, ${ROUNDS} alternating rounds of ${ROUND_SECONDS} s after ${WARM_UP_SECONDS} s of warming up; medians. ${DEPLOYMENTS} deployments a side, each with a subscription.`,
      '',
      '| Round | Ours, requests/s | Peer, requests/s |',
      '|---:|---:|---:|',
      ...rounds.map(
        (round, i) =>
          `| ${i + 1} | ${Math.round(round.ours.perSecond)} | ${Math.round(round.peer.perSecond)} |`,
      ),
    ],
  }
}

/** Deployments of a tenant, subscribed to one plan; their ids. */
async function fill(url: string, tenant: string): Promise<string[]> {
  const ids = Array.from({ length: DEPLOYMENTS }, newId)
  const [plan, version] = [newId(), newId()]
  await query(
    url,
    `insert into plans (id, code, name, created_at) values ('${plan}', '${tenant}', 'Bench', now())`,
  )
  await query(
    url,
    `insert into plan_versions (id, plan_id, version, base_price_cents, currency, status, created_at)
     values ('${version}', '${plan}', 1, 4900, 'USD', 'draft', now());
     update plan_versions set status = 'active', published_at = now() where id = '${version}'`,
  )
  await query(
    url,
    `insert into cloud_deployments (id, tenant_id, slug, display_name, region, state, llm_mode, created_at, updated_at)
     select id, '${tenant}', 'app-' || n, 'app', 'nyc3', 'active', 'standard', now(), now()
     from unnest('{${ids.join(',')}}'::uuid[]) with ordinality as given (id, n);
     insert into subscriptions (id, deployment_id, plan_version_id, status, current_period_start, current_period_end, created_at, updated_at)
     select uuid_v7(), id, '${version}', 'active', '2026-11-01', '2026-11-30', now(), now() from cloud_deployments where tenant_id = '${tenant}'`,
  )
  return ids
}
