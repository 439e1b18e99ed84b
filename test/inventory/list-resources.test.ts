// Whichever way a page of the inventory is found, it is the same page.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { type InventoryFilter, listResources } from '../../src/features/inventory/list-resources.ts'
import { onPostgres, onPostgresAlone } from '../support/engine.ts'
import { setup } from '../support/setup.ts'

const values: Record<string, string[]> = {
  kind: ['droplet', 'volume', 'app'],
  region: ['nyc3', 'nosuch'],
  status: ['active', 'off'],
  name: ['web', 'nosuch'],
  tag: ['common', 'rare', 'tacme', 'nosuch'],
  tenant_id: ['acme', 'globex'],
  project_id: ['01980000-0000-7000-8000-0000000000aa', '01980000-0000-7000-8000-0000000000ff'],
  deployment_id: ['01980000-0000-7000-8000-0000000000dd', '01980000-0000-7000-8000-0000000000ff'],
}

/** No filter, each, and every pair of them, with and without what is deleted. */
function filters(): InventoryFilter[] {
  const sets: Record<string, string>[] = [{}]
  for (const [name, choices] of Object.entries(values))
    for (const set of sets.filter(one => Object.keys(one).length < 2))
      for (const value of choices) sets.push({ ...set, [name]: value })
  return [true, false].flatMap(include_deleted => sets.map(set => ({ ...set, include_deleted })))
}

test(
  'every pair of filters finds the same rows by a walk, by the index of all columns, and by a walk to the end',
  onPostgresAlone,
  async t => {
    const { ctx } = await setup(t)
    await sql`
    insert into cloud_projects (id, provider, provider_id, name, is_default, tenant_id, purpose, first_seen_at, last_seen_at)
    values (${values.project_id![0]}, 'digitalocean', 'p', 'p', false, 'acme', 'tenant', now(), now())`.execute(
      ctx.db,
    )
    await sql`
    insert into cloud_deployments (id, tenant_id, slug, display_name, region, state, llm_mode, created_at, updated_at)
    values (${values.deployment_id![0]}, 'acme', 'd', 'd', 'nyc3', 'active', 'standard', now(), now())`.execute(
      ctx.db,
    )
    await sql`
    insert into cloud_resources (id, provider, provider_id, kind, name, region, status, tenant_id, project_id, deployment_id,
      tags, attrs, fingerprint, first_seen_at, last_seen_at, deleted_at)
    select uuid_v7(), 'digitalocean', i::text, case when i % 3 = 0 then 'volume' else 'droplet' end,
      case when i % 7 = 0 then 'web' else 'n' || i end, case when i % 5 = 0 then null else 'nyc3' end,
      case when i % 4 = 0 then 'off' else 'active' end, case when i % 2 = 0 then 'acme' else 'globex' end,
      case when i % 2 = 0 then ${values.project_id![0]}::uuid end, case when i % 8 = 0 then ${values.deployment_id![0]}::uuid end,
      case when i > 40 then array['common', 'rare'] when i % 9 = 0 then array['tacme'] else array['common'] end,
      '{}', '', now(), now(), case when i % 6 = 0 then now() end
    from generate_series(1, 50) i`.execute(ctx.db)
    const { rows: all } = await sql<Record<string, string | string[] | null>>`
    select * from cloud_resources order by id`.execute(ctx.db)
    const fits = (row: (typeof all)[number], { include_deleted, tag, ...columns }: InventoryFilter) =>
      (include_deleted || row.deleted_at === null) &&
      (tag === undefined || row.tags!.includes(tag)) &&
      Object.entries(columns).every(([name, value]) => row[name] === value)
    const pages = async (
      tenantId: string | null,
      filter: InventoryFilter,
      bounds: { walk: number; few: number },
    ) => {
      const scope =
        tenantId === null ? ({ allTenants: true } as const) : ({ allTenants: false, tenantId } as const)
      const ids: string[] = []
      for (;;) {
        const page = await listResources(ctx.db, scope, filter, 11, ids.at(-1) ?? null, bounds)
        ids.push(...page.map(row => row.id))
        if (page.length < 11) return ids
      }
    }
    // All of them on PostgreSQL; on the embedded engine, for the sake of time, every eleventh.
    for (const [index, filter] of filters().entries()) {
      if (!onPostgres && index % 11 !== 0) continue
      for (const tenant of filter.tenant_id === undefined ? [null, 'acme'] : [null]) {
        const expected = all.filter(row => fits(row, filter) && (tenant === null || row.tenant_id === tenant))
        for (const bounds of [
          { walk: 1_000, few: 1_000 },
          { walk: 3, few: 1_000 },
          { walk: 3, few: 2 },
        ])
          assert.deepEqual(
            await pages(tenant, filter, bounds),
            expected.map(row => row.id),
            JSON.stringify({ tenant, filter, bounds }),
          )
      }
    }
  },
)
