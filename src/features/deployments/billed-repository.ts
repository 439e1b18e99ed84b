// SQL of deployments as those who charge for them see them: whose they are.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'

export interface BilledDeployment {
  id: string
  tenant_id: string
  slug: string
}

export interface BilledFilter {
  id?: string
  tenantIds?: string[]
}

/** In the order of ids. */
export async function listBilled(
  executor: Executor,
  scope: Scope,
  { id, tenantIds }: BilledFilter,
  limit: number,
  after: string | null,
): Promise<BilledDeployment[]> {
  const conditions = [
    scope.allTenants ? undefined : sql`d.tenant_id = ${scope.tenantId}`,
    id === undefined ? undefined : sql`d.id = ${id}`,
    tenantIds && sql`d.tenant_id = any(${tenantIds}::text[])`,
    after === null ? undefined : sql`d.id > ${after}`,
  ].filter(condition => condition !== undefined)
  const { rows } = await sql<BilledDeployment>`
    select d.id, d.tenant_id, d.slug from cloud_deployments d where ${sql.join([sql`true`, ...conditions], sql` and `)}
    order by d.id limit ${limit}`.execute(executor)
  return rows
}

/** When the first of all deployments was made. */
export async function firstMadeAt(executor: Executor): Promise<string | null> {
  const { rows } = await sql<{ at: string | null }>`
    select min(created_at) as at from cloud_deployments`.execute(executor)
  return rows[0]!.at
}
