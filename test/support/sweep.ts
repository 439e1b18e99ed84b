// Sweeping in tests: everything through the API and the real queue, or one kind directly.
import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { refreshResource } from '../../src/features/inventory/actions.ts'
import { replaceMembers, upsertProjects } from '../../src/features/inventory/project-store.ts'
import { seenResource } from '../../src/features/inventory/seen-resource.ts'
import { syncKind } from '../../src/features/inventory/sync-kind.ts'
import { syncProjects } from '../../src/features/inventory/sync-projects.ts'
import type { SyncRunRow } from '../../src/features/inventory/sync-run.ts'
import { beginLook } from '../../src/features/inventory/sync-run-store.ts'
import type { Sighting } from '../../src/features/inventory/write-resources.ts'
import { writeAllSeen } from '../../src/features/inventory/write-seen.ts'
import type { Kind, MappedItem } from '../../src/integrations/digitalocean/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { eventually } from './eventually.ts'
import { type Bundle, silentLog } from './setup.ts'

const RUNS_OF_A_SWEEP = 15
const HOUR = 3_600_000

export type SyncRun = SyncRunRow

/** An hour later: asks for the whole sweep and waits until every kind's record is finished. */
export async function sweepAll({ call, clock }: Bundle): Promise<Map<string, SyncRun>> {
  clock.advance(HOUR)
  const requested = await call('POST', '/api/v1/admin/scheduled_tasks/resource_sync/run')
  assert.equal(requested.status, 202, requested.text)
  const { id } = requested.body.data
  const runs = await eventually('every kind is swept', async () => {
    const { body } = await call('GET', `/api/v1/inventory/sync-runs?sweep_id=${id}`)
    const finished = body.data.filter((run: SyncRun) => run.status !== 'running')
    return finished.length === RUNS_OF_A_SWEEP && (finished as SyncRun[])
  })
  await eventually('the task is free again', async () => {
    const { body } = await call('GET', `/api/v1/admin/scheduled_tasks/resource_sync/runs/${id}`)
    return body.data.status === 'completed'
  })
  return new Map(runs.map(run => [run.kind, run]))
}

/** As a job would have it. */
export const jobPart = () => ({ signal: new AbortController().signal, log: silentLog })

/** An hour later: one sweep of one kind, and its record. A sweep that throws leaves its record too. */
export async function sweepOne(bundle: Bundle, kind: Kind, sweepId = newId()): Promise<SyncRun> {
  bundle.clock.advance(HOUR)
  await syncKind(bundle.ctx, { kind, sweepId }, jobPart()).catch(() => {})
  return runOf(bundle, kind, sweepId)
}

/** An hour later: one sweep of the projects, and its record. */
export async function sweepProjects(bundle: Bundle, sweepId = newId()): Promise<SyncRun> {
  bundle.clock.advance(HOUR)
  await syncProjects(bundle.ctx, sweepId, jobPart()).catch(() => {})
  return runOf(bundle, 'project', sweepId)
}

export function runOf({ ctx }: Bundle, kind: string, sweepId: string): Promise<SyncRun> {
  return ctx.db
    .selectFrom('sync_runs')
    .selectAll()
    .where('sweep_id', '=', sweepId)
    .where('kind', '=', kind)
    .executeTakeFirstOrThrow()
}

/** A minute later: one look at one resource. */
export function refresh({ ctx, clock }: Bundle, kind: Kind, providerId: string | number) {
  clock.advance(60_000)
  return refreshResource(ctx, kind, String(providerId))
}

/** The row of a resource, by what the provider calls it. */
export async function rowOf({ ctx }: Bundle, kind: Kind, providerId: string | number) {
  const row = await ctx.db
    .selectFrom('cloud_resources')
    .selectAll()
    .where('kind', '=', kind)
    .where('provider_id', '=', String(providerId))
    .executeTakeFirst()
  return row!
}

/** What happened to a resource, oldest first. */
export async function eventsOf(bundle: Bundle, kind: Kind, providerId: string | number) {
  const { id } = await rowOf(bundle, kind, providerId)
  return bundle.ctx.db
    .selectFrom('cloud_resource_events')
    .selectAll()
    .where('resource_id', '=', id)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** What was done by a run, without what merely counts the listing. */
export const doneBy = ({ inserted, updated, struck, deleted, restored, held }: SyncRun) => ({
  inserted,
  updated,
  struck,
  deleted,
  restored,
  held,
})

export const NOTHING_DONE = { inserted: 0, updated: 0, struck: 0, deleted: 0, restored: 0, held: 0 }

export type Shown = Partial<MappedItem> & { provider_id: string }

/** A resource as the provider client maps it, with what a test does not care about filled in. */
export const shown = (kind: Kind, item: Shown): MappedItem => ({
  kind,
  name: `${kind}-${item.provider_id}`,
  region: 'nyc3',
  status: 'active',
  tags: [],
  attrs: {},
  urn: null,
  ...item,
})

/** A look at the provider that begins now. */
export const sightingOf = async ({ ctx }: Bundle, kind: Kind, actor = 'sync:test'): Promise<Sighting> => ({
  kind,
  ...(await beginLook(ctx.db, ctx.clock)),
  actor,
})

/** A second later: these resources are seen, without a provider behind them. */
export async function see(bundle: Bundle, kind: Kind, items: Shown[]) {
  bundle.clock.advance(1_000)
  const seen = items.map(item => seenResource(shown(kind, item)))
  return writeAllSeen(bundle.ctx.db, await sightingOf(bundle, kind), seen)
}

/** A project with its tenant, and what it holds (all of it, unless it is not whole); returns its id. */
export async function haveProject(
  { ctx, clock }: Bundle,
  name: string,
  tenantId: string | null,
  holds: [Kind, string][] = [],
  whole = true,
): Promise<string> {
  const project = { provider_id: name, name, description: null, is_default: false }
  const look = await beginLook(ctx.db, clock)
  await upsertProjects(ctx.db, [project], look, 'platform')
  const members = holds.map(([kind, provider_id]) => ({ kind, provider_id }))
  await replaceMembers(ctx.db, name, members, { whole, asked: look })
  const { rows } = await sql<{ id: string }>`
    update cloud_projects set tenant_id = ${tenantId}, purpose = ${tenantId ? 'tenant' : 'unassigned'}
    where provider_id = ${name} returning id`.execute(ctx.db)
  return rows[0]!.id
}

/** A deployment that tags can tie resources to. */
export async function haveDeployment({ ctx, clock }: Bundle, id: string, tenantId: string): Promise<void> {
  const at = clock.now().toISOString()
  await sql`
    insert into cloud_deployments (id, tenant_id, slug, display_name, region, state, llm_mode, created_at, updated_at)
    values (${id}, ${tenantId}, ${id}, 'A deployment', 'nyc3', 'trial', 'shared', ${at}, ${at})`.execute(
    ctx.db,
  )
}
