// What was seen of the provider, written: compared with what is known, then touched, updated or inserted through the
// chokepoint (write-resources.ts). The projects' lists are locked first, then projects, then rows as their updates would
// lock them: whoever only refers to a row (events, drift) is free to go on.
import { sql } from 'kysely'
import type { MappedItem } from '../../integrations/digitalocean/index.ts'
import { isRefusedValue } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { explaining } from './explain.ts'
import { lockLists, placeInProject } from './project-store.ts'
import { type Changes, PROVIDER } from './resource.ts'
import { type SeenResource, seenResource } from './seen-resource.ts'
import { claimOf, type Insert, type KnownResource, type Place, planSweep, type Update } from './sweep-plan.ts'
import {
  insertSeen,
  rehome,
  type Sighting,
  touchSeen,
  touchUnchanged,
  updateSeen,
} from './write-resources.ts'

export interface Written {
  inserted: number
  updated: number
  restored: number
  /** Of those inserted, how many no project is known to hold. */
  placeless: number
  /** Ids of the rows that were updated or restored. */
  changed: string[]
}

const nothing = (): Written => ({ inserted: 0, updated: 0, restored: 0, placeless: 0, changed: [] })

/** Records that this resource was seen, in the caller's transaction. */
export async function writeSeen(tx: Executor, sighting: Sighting, seen: SeenResource): Promise<Written> {
  return writeOthers(tx, sighting, await touchUnchanged(tx, sighting, [seen]))
}

/**
 * The same for a batch, in two transactions: whoever writes a resource locks its project first, and a batch that
 * has touched other resources by then would wait the wrong way round. Each provider id stands in `seen` at most once.
 */
export async function writeAllSeen(db: Executor, sighting: Sighting, seen: SeenResource[]): Promise<Written> {
  const others = await transaction(db, tx => touchUnchanged(tx, sighting, seen))
  if (others.length === 0) return nothing()
  const actionsOf = (await sighting.actionsNow?.()) ?? sighting.actionsOf
  return transaction(db, tx => writeOthers(tx, { ...sighting, actionsOf }, others))
}

/**
 * The same, whatever the database makes of single resources: should it refuse the values of one, the batch is halved until
 * that one is alone, and `refused` is told of it. Everything else is written.
 */
export async function writeStorable(
  db: Executor,
  sighting: Sighting,
  seen: SeenResource[],
  refused: (resource: SeenResource) => void,
): Promise<Written> {
  try {
    return await writeAllSeen(db, sighting, seen)
  } catch (error) {
    if (!isRefusedValue(error)) throw error
  }
  if (seen.length === 1) {
    refused(seen[0]!)
    return nothing()
  }
  const half = seen.length >> 1
  const first = await writeStorable(db, sighting, seen.slice(0, half), refused)
  const second = await writeStorable(db, sighting, seen.slice(half), refused)
  return {
    inserted: first.inserted + second.inserted,
    updated: first.updated + second.updated,
    restored: first.restored + second.restored,
    placeless: first.placeless + second.placeless,
    changed: [...first.changed, ...second.changed],
  }
}

async function writeOthers(tx: Executor, sighting: Sighting, seen: SeenResource[]): Promise<Written> {
  const written = nothing()
  if (seen.length === 0) return written
  await lockLists(tx, 'shared')
  const places = await lockPlaces(tx, sighting.kind, seen)
  let rest = seen
  // Whoever inserts the same resource at the same moment (a saga) wins; what is left is then known. Twice is enough.
  for (let round = 0; rest.length > 0 && round < 3; round++) {
    const known = await lockKnown(tx, sighting.kind, rest)
    const tenants = await tenantsOfClaimed(tx, known, rest)
    const plan = planSweep(known, rest, sighting.look, { places, tenants })
    await touchSeen(tx, sighting, plan.touches)
    const actionOf = (row: Insert, changes: Changes | null) =>
      explaining(sighting.actionsOf?.(row) ?? [], changes, sighting.kind)
    await updateSeen(
      tx,
      sighting,
      plan.updates.map(row => ({ ...row, action: actionOf(row, row.changes) })),
    )
    const inserted = new Set(
      await insertSeen(
        tx,
        sighting,
        plan.inserts.map(row => ({ ...row, action: actionOf(row, null) })),
      ),
    )
    written.changed.push(...plan.updates.map(({ id }) => id))
    written.inserted += inserted.size
    written.placeless += plan.inserts.filter(
      ({ provider_id, project_id }) => project_id === null && inserted.has(provider_id),
    ).length
    written.updated += plan.updates.filter(row => !isRestored(row)).length
    written.restored += plan.updates.filter(isRestored).length
    const lost = new Set(plan.inserts.map(row => row.provider_id).filter(id => !inserted.has(id)))
    rest = rest.filter(row => lost.has(row.provider_id))
  }
  return written
}

const isRestored = ({ event }: Update) => event === 'restored'

/** Whose the deployments are that these resources claim to belong to. A tag may name one that does not exist. */
async function tenantsOfClaimed(
  tx: Executor,
  known: KnownResource[],
  seen: SeenResource[],
): Promise<Map<string, string>> {
  const rows = new Map(known.map(row => [row.provider_id, row]))
  const claimed = seen.flatMap(resource => claimOf(rows.get(resource.provider_id), resource) ?? [])
  return tenantsOf(tx, claimed)
}

/** By deployment; those that exist. */
export async function tenantsOf(tx: Executor, deploymentIds: string[]): Promise<Map<string, string>> {
  if (deploymentIds.length === 0) return new Map()
  const found = await sql<{ id: string; tenant_id: string }>`
    select id, tenant_id from cloud_deployments where id = any(${[...new Set(deploymentIds)]}::uuid[])`.execute(
    tx,
  )
  return new Map(found.rows.map(({ id, tenant_id }) => [id, tenant_id]))
}

type Named = Pick<SeenResource, 'provider_id'>

/**
 * Where each of these resources belongs: where the projects' lists put it, else where it was. The projects cannot change
 * hands until this transaction ends: otherwise a resource written while an operator gives its project to another tenant
 * would be the old tenant's, unseen by the operator's transaction.
 */
export async function lockPlaces(tx: Executor, kind: string, seen: Named[]): Promise<Map<string, Place>> {
  const ids = seen.map(row => row.provider_id)
  const { rows } = await sql<Place & { provider_id: string }>`
    select s.provider_id, p.id as project_id, p.tenant_id
    from unnest(${ids}::text[]) s (provider_id)
    left join cloud_project_members m on m.provider = ${PROVIDER} and m.kind = ${kind} and m.provider_id = s.provider_id
    left join cloud_resources r on r.provider = ${PROVIDER} and r.kind = ${kind} and r.provider_id = s.provider_id
    join cloud_projects p on p.id = coalesce(m.project_id, r.project_id)
    order by p.id for key share of p`.execute(tx)
  return new Map(rows.map(({ provider_id, ...place }) => [provider_id, place]))
}

export async function lockKnown(tx: Executor, kind: string, seen: Named[]): Promise<KnownResource[]> {
  const { rows } = await sql<KnownResource>`
    select id, provider_id, name, region, status, tags, attrs, project_id, tenant_id, deployment_id,
      assigned_deployment_id, deleted_at, last_look
    from cloud_resources
    where provider = ${PROVIDER} and kind = ${kind} and provider_id = any(${seen.map(row => row.provider_id)}::text[])
    order by provider_id for no key update`.execute(tx)
  return rows
}

/**
 * A resource that a saga has made enters the inventory as any sighting does, and at once with what the saga knows and no
 * sweep could tell yet: its project, its tenant, its deployment. In the caller's transaction; the id of the row.
 */
export async function recordMadeResource(
  tx: Executor,
  sighting: Sighting,
  item: MappedItem,
  { projectId, deploymentId }: { projectId: string; deploymentId: string },
): Promise<string> {
  const { kind, at, actor } = sighting
  await lockLists(tx, 'shared')
  await placeInProject(tx, projectId, { kind, provider_id: item.provider_id }, sighting)
  // Without its fingerprint it is compared field by field: a token that cannot read tags would hide the tie.
  await writeSeen(tx, sighting, { ...seenResource(item), deployment_id: deploymentId, fingerprint: '' })
  // A sweep may have found it before: then it has a place already.
  await rehome(tx, at, actor, projectId)
  const { rows } = await sql<{ id: string }>`
    select id from cloud_resources
    where provider = ${PROVIDER} and kind = ${kind} and provider_id = ${item.provider_id}`.execute(tx)
  return rows[0]!.id
}
