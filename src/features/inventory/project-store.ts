// SQL of the mirrored projects and of what they hold.
import { sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { CloudProjectRow, Purpose, SeenProject } from './project.ts'
import { PROVIDER } from './resource.ts'
import type { Look } from './sync-run-store.ts'

/** Upserts by (provider, provider_id). A new default project is the internal one, the platform tenant's. */
export async function upsertProjects(
  tx: Executor,
  seen: SeenProject[],
  { at, look }: Look,
  platformTenantId: string,
): Promise<void> {
  if (seen.length === 0) return
  await sql`
    insert into cloud_projects (id, provider, provider_id, name, description, is_default, tenant_id, purpose, first_seen_at, last_seen_at, last_look)
    select uuid_v7(), ${PROVIDER}, s.provider_id, s.name, s.description, s.is_default,
      case when s.is_default then ${platformTenantId} end, case when s.is_default then 'internal' else 'unassigned' end, ${at}, ${at}, ${look}
    from jsonb_to_recordset(${JSON.stringify(seen)}::jsonb) as s (provider_id text, name text, description text, is_default boolean)
    on conflict (provider, provider_id) do update set
      name = excluded.name, description = excluded.description, is_default = excluded.is_default,
      last_seen_at = excluded.last_seen_at, last_look = greatest(cloud_projects.last_look, excluded.last_look), stale_strike_count = 0, deleted_at = null`.execute(
    tx,
  )
}

/** Projects that a whole listing did not show: three strikes, as for resources. */
export async function strikeUnseenProjects(
  tx: Executor,
  sweep: number,
  at: string,
): Promise<{ struck: number; deleted: number }> {
  const { rows } = await sql<{ struck: number; deleted: number }>`
    with struck as (
      update cloud_projects set stale_strike_count = stale_strike_count + 1,
        deleted_at = case when stale_strike_count + 1 >= 3 then ${at}::timestamptz end
      where provider = ${PROVIDER} and deleted_at is null and last_look < ${sweep}
      returning deleted_at
    )
    select count(*)::int as struck, count(deleted_at)::int as deleted from struck`.execute(tx)
  return rows[0]!
}

export async function internalProjectExists(executor: Executor): Promise<boolean> {
  const row = await executor
    .selectFrom('cloud_projects')
    .select('id')
    .where('provider', '=', PROVIDER)
    .where('purpose', '=', 'internal')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

// Any constant will do, as long as every node takes the same one.
const LISTS_KEY = 4_005_005

/**
 * Locks the projects' lists until the transaction ends. Shared, by many at once and before any row of them: they stay as they
 * are, so that a resource that is written has the place they give it. Exclusive, by whoever changes them: everything that was
 * written by the old lists is there to be seen. Without it, what is discovered in that moment would have no place until the
 * next sweep of projects.
 */
export async function lockLists(tx: Executor, mode: 'shared' | 'exclusive'): Promise<void> {
  const lock = sql.raw(mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock')
  await sql`select ${lock}(${LISTS_KEY})`.execute(tx)
}

export interface Member {
  kind: string
  provider_id: string
}

/**
 * What a project holds, as its list says. A list that was not whole adds, and takes nothing away. What was placed since the
 * list was asked for, by a saga or by a list that was asked for later, stays where it is. `placing`: so is what this list moves.
 */
export async function replaceMembers(
  tx: Executor,
  projectProviderId: string,
  members: Member[],
  { whole, asked, placing = false }: { whole: boolean; asked: Look; placing?: boolean },
): Promise<void> {
  const [placedAt, placedLook] = placing ? [asked.at, asked.look] : [null, null]
  const json = JSON.stringify(members)
  const placedBefore = sql`case when m.placed_look is null then coalesce(m.placed_at <= ${asked.at}, true)
    else m.placed_look <= ${asked.look} end`
  await sql`
    insert into cloud_project_members as m (provider, kind, provider_id, project_id, placed_at, placed_look)
    select distinct ${PROVIDER}, s.kind, s.provider_id, p.id, ${placedAt}::timestamptz, ${placedLook}::bigint
    from jsonb_to_recordset(${json}::jsonb) as s (kind text, provider_id text)
    join cloud_projects p on p.provider = ${PROVIDER} and p.provider_id = ${projectProviderId}
    on conflict (provider, kind, provider_id) do update set
      project_id = excluded.project_id, placed_at = excluded.placed_at, placed_look = excluded.placed_look
    where m.project_id <> excluded.project_id and ${placedBefore}`.execute(tx)
  if (!whole) return
  await sql`
    delete from cloud_project_members m using cloud_projects p
    where p.provider = ${PROVIDER} and p.provider_id = ${projectProviderId} and m.project_id = p.id
      and ${placedBefore}
      and not exists (
        select 1 from jsonb_to_recordset(${json}::jsonb) as s (kind text, provider_id text)
        where s.kind = m.kind and s.provider_id = m.provider_id)`.execute(tx)
}

/** The project with this tenant's resources, the oldest if an operator has given it several; none that may be gone. */
export function findTenantProject(
  executor: Executor,
  tenantId: string,
): Promise<CloudProjectRow | undefined> {
  return executor
    .selectFrom('cloud_projects')
    .selectAll()
    .where('provider', '=', PROVIDER)
    .where('tenant_id', '=', tenantId)
    .where('purpose', '=', 'tenant')
    .where('deleted_at', 'is', null)
    .where('stale_strike_count', '=', 0)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

/** Every project of the tenant that has not been found to be gone. */
export async function projectsOfTenant(
  executor: Executor,
  tenantId: string,
): Promise<Pick<CloudProjectRow, 'id' | 'provider_id'>[]> {
  return executor
    .selectFrom('cloud_projects')
    .select(['id', 'provider_id'])
    .where('provider', '=', PROVIDER)
    .where('tenant_id', '=', tenantId)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()
}

export function lockProjectNamed(tx: Executor, providerId: string): Promise<CloudProjectRow | undefined> {
  return tx
    .selectFrom('cloud_projects')
    .selectAll()
    .where('provider', '=', PROVIDER)
    .where('provider_id', '=', providerId)
    .forUpdate()
    .executeTakeFirst()
}

/** Whoever wrote the resource into the project says so before any list does. */
export async function placeInProject(
  tx: Executor,
  projectId: string,
  { kind, provider_id }: Member,
  { at, look }: Look,
): Promise<void> {
  await sql`
    insert into cloud_project_members (provider, kind, provider_id, project_id, placed_at, placed_look)
    values (${PROVIDER}, ${kind}, ${provider_id}, ${projectId}, ${at}, ${look})
    on conflict (provider, kind, provider_id) do update set
      project_id = excluded.project_id, placed_at = excluded.placed_at, placed_look = excluded.placed_look`.execute(
    tx,
  )
}

export interface ProjectFilter {
  purpose?: Purpose
  tenant_id?: string
  include_deleted?: boolean
}

export function listProjects(
  executor: Executor,
  scope: Scope,
  filter: ProjectFilter,
  limit: number,
  after: string | null,
): Promise<CloudProjectRow[]> {
  return executor
    .selectFrom('cloud_projects')
    .selectAll()
    .$if(!scope.allTenants, q => q.where('tenant_id', '=', scope.allTenants ? '' : scope.tenantId))
    .$if(filter.tenant_id !== undefined, q => q.where('tenant_id', '=', filter.tenant_id!))
    .$if(filter.purpose !== undefined, q => q.where('purpose', '=', filter.purpose!))
    .$if(!filter.include_deleted, q => q.where('deleted_at', 'is', null))
    .$if(after !== null, q => q.where('id', '>', after!))
    .orderBy('id')
    .limit(limit)
    .execute()
}

export function findProject(
  executor: Executor,
  scope: Scope,
  id: string,
): Promise<CloudProjectRow | undefined> {
  return executor
    .selectFrom('cloud_projects')
    .selectAll()
    .where('id', '=', id)
    .$if(!scope.allTenants, q => q.where('tenant_id', '=', scope.allTenants ? '' : scope.tenantId))
    .executeTakeFirst()
}

const PROJECTS = auditedTable('cloud_projects', { key: ['id'] })

export async function updateProject(
  tx: Executor,
  id: string,
  values: { tenant_id?: string | null; purpose?: Purpose },
): Promise<CloudProjectRow | undefined> {
  return (await PROJECTS.update(tx, { id }, values))[0]
}

export function lockProject(tx: Executor, id: string): Promise<CloudProjectRow | undefined> {
  return tx.selectFrom('cloud_projects').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}
