// A sweep of the service's own: its configuration, pool, queue and log, and `syncKind` as the job calls it; only the
// provider is another (generated-droplets.ts), unless PROVIDER_URL says where the real client finds one.
import { sql } from 'kysely'
import { readConfig } from '../../src/config.ts'
import { createContext } from '../../src/context.ts'
import { syncKind } from '../../src/features/inventory/sync-kind.ts'
import { createProvider, oneProvider } from '../../src/integrations/digitalocean/index.ts'
import { withLongStatements } from '../../src/kernel/db/connection.ts'
import { boundHeapGrowth } from '../../src/kernel/heap-growth.ts'
import { newId } from '../../src/kernel/ids.ts'
import { peakBytes, workingLong } from '../process.ts'
import { generatedProvider } from './generated-droplets.ts'

export interface Sweep {
  /** Share of the droplets to change before the sweep. */
  changePercent: number
}

export interface Swept {
  ms: number
  /** The most memory the process has held since it started. */
  peakBytes: number
}

const { config } = readConfig({ ...process.env })
const context = await createContext({ config, worker: false })
const droplets = Number(process.env.DROPLETS)
const { world, provider, takeOwnTime } = generatedProvider(droplets)
const kernel = { ...context, providers: oneProvider(realClient() ?? provider) }
if (process.env.TENANTS) await withLongStatements(() => addTenants(Number(process.env.TENANTS)))

function realClient() {
  const { PROVIDER_URL: baseUrl, PROVIDER_TOKEN: token } = process.env
  if (!baseUrl || !token) return undefined
  // At the provider's pace it would take minutes.
  return createProvider({ baseUrl, token, log: context.log, limits: { rates: [], endpointRates: {} } })
}

/** Tenant t of n, as an operator would have assigned projects: project t, which holds every n-th droplet. */
async function addTenants(tenants: number): Promise<void> {
  const first = Number(world.shelves.droplet.at(0)!.id)
  await sql`
    insert into cloud_projects (id, provider, provider_id, name, is_default, tenant_id, purpose, first_seen_at, last_seen_at)
    select uuid_v7(), 'digitalocean', 'project-' || t, 'project-' || t, false, 'tenant-' || t, 'tenant', now(), now()
    from generate_series(0, ${tenants}::int - 1) as t`.execute(context.db)
  await sql`
    insert into cloud_project_members (provider, kind, provider_id, project_id)
    select p.provider, 'droplet', ${first}::int + i, p.id
    from generate_series(0, ${droplets}::int - 1) as i
    join cloud_projects p on p.provider_id = 'project-' || (i % ${tenants}::int)`.execute(context.db)
}

// As a process of the service does.
boundHeapGrowth()

workingLong<Sweep, Swept>(async ({ changePercent }) => {
  if (changePercent > 0) world.change({ percent: changePercent })
  takeOwnTime()
  const began = performance.now()
  const outcome = await syncKind(
    kernel,
    { kind: 'droplet', sweepId: newId() },
    { signal: new AbortController().signal, log: context.log },
  )
  const ms = performance.now() - began - takeOwnTime()
  if (outcome?.status !== 'complete') throw new Error(`the sweep ended as ${outcome?.status}`)
  return { ms, peakBytes: peakBytes() }
})
