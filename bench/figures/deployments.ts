// What it costs to create, show and move a deployment through the whole service, beside hand-written SQL in bare routes.
// Both are on the same database, each with deployments of its own, so that neither waits for a row of the other's.
import { newId } from '../../src/kernel/ids.ts'
import { query } from '../database.ts'
import type { Bench, Figure, Measurement } from '../figure.ts'
import { measureUnderLoad, type Request } from '../load.ts'
import { startBareRoutes, startService } from '../process.ts'

const DEPLOYMENTS = 2_000
const PATH = '/api/v1/deployments'

/** The requests of one side, each made when it is sent; `nth` is how many were made before. */
type Requests = (nth: number, tenant: string, ids: string[]) => Request

const figure = (name: string, measures: string, atLeast: number, requests: Requests): Figure => ({
  name,
  measures,
  peer: 'the same by hand-written SQL with named statements in a bare Fastify route: no authentication, no schema, no log.',
  unit: 'requests/s',
  bar: { atLeast },
  measure: bench => measure(bench, requests),
})

async function measure(bench: Bench, requests: Requests): Promise<Measurement> {
  const url = await bench.database()
  const { server: service, headers } = await startService(url, { role: 'platform_admin' })
  const bare = await startBareRoutes(url)
  const side = async (server: typeof service, tenant: string) => {
    const ids = await fill(url, tenant)
    let made = 0
    return {
      server,
      path: PATH,
      headers: { ...headers, 'content-type': 'application/json' },
      next: () => requests(made++, tenant, ids),
    }
  }
  const measured = await measureUnderLoad(bench, await side(service, 'ours'), await side(bare, 'peer'), {
    what: `${DEPLOYMENTS} deployments a side, each with a subscription. `,
  })
  await service.stop()
  await bare.stop()
  return measured
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

export default [
  figure(
    'deployment-create',
    '`POST /api/v1/deployments` through the service: JWT, validation, idempotency, unique slug, audit entry and webhook.',
    0.5,
    (nth, tenant) => ({
      method: 'POST',
      path: PATH,
      body: JSON.stringify({ tenant_id: tenant, slug: `new-${nth}` }),
    }),
  ),
  figure(
    'deployment-show',
    '`GET /api/v1/deployments/:id` through the service: the deployment, its allowed moves, subscription and events.',
    0.7,
    (nth, _tenant, ids) => ({ method: 'GET', path: `${PATH}/${ids[nth % ids.length]}` }),
  ),
  figure(
    'deployment-transition',
    '`POST /api/v1/deployments/:id/transition` through the service: the guarded move, its event and the subscription’s follow-up.',
    0.5,
    (nth, _tenant, ids) => ({
      method: 'POST',
      path: `${PATH}/${ids[nth % ids.length]}/transition`,
      // Every deployment in turn, to and fro: none is moved again before its last move is done.
      body: JSON.stringify({ state: Math.floor(nth / ids.length) % 2 === 0 ? 'paused' : 'active' }),
    }),
  ),
]
