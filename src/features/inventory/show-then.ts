// A resource as it was at a moment.
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { isMissing, ResourceDetail } from './resource.ts'
import { latestEvents, OWN_DEPLOYMENT } from './store.ts'

/** SQL: whether the version `v` held at the time `at`. */
export const heldAt = (at: string, v = 'v'): string =>
  `${v}.valid_from <= ${at} and (${v}.valid_to is null or ${v}.valid_to > ${at})`

/** The version of a resource that held at a time. */
export const versionAt = (resourceId: string, at: string): string => `
  select * from resource_versions v where v.resource_id = ${resourceId} and ${heldAt(at)} order by v.valid_from desc limit 1`

/**
 * The fields of a resource as it was when `v` held; `r` is its row. When it was seen and how often it was missed have no
 * history: it is shown as seen at the moment asked for if it was seen later, and its strikes if they have been counted since
 * it was last seen. At this moment that is what today's list says. A tenant is not shown a deployment of another's that
 * the resource was still tied to.
 */
export const fieldsThen = (at: string, ownAlone: boolean): Record<string, string> => ({
  id: 'r.id',
  provider: 'r.provider',
  provider_id: 'r.provider_id',
  first_seen_at: 'iso8601(r.first_seen_at)',
  last_seen_at: `iso8601(least(r.last_seen_at, ${at}))`,
  stale_strike_count: `case when v.valid_to is null and r.last_seen_at <= ${at} then r.stale_strike_count else 0 end`,
  missing_since: `case when v.valid_to is null and ${isMissing('r')}
      and coalesce(r.missing_since, r.last_seen_at) <= ${at}
    then iso8601(coalesce(r.missing_since, r.last_seen_at)) end`,
  ...(ownAlone && { deployment_id: OWN_DEPLOYMENT }),
})

/**
 * The resource as it was, with its latest events until then, as JSON text; undefined where the caller did not have it. What was
 * desired of it and had drifted then is not kept.
 */
export async function showResourceThen(
  executor: Executor,
  scope: Scope,
  id: string,
  at: string,
): Promise<string | undefined> {
  const time = '$3::timestamptz'
  const json = jsonOf(ResourceDetail, 'v', {
    ...fieldsThen(time, !scope.allTenants),
    events: `(${latestEvents(time)})`,
    desired_state: 'null::json',
    drift: `'[]'::json`,
  })
  const text = `select ${json}::text as json from cloud_resources r cross join lateral (${versionAt('r.id', time)}) v
    where r.id = $1::uuid and ($2::text is null or v.tenant_id = $2)`
  const tenant = scope.allTenants ? null : scope.tenantId
  const rows = await runStatement<{ json: string }>(executor, { name: 'inventory_show_then', text }, [
    id,
    tenant,
    at,
  ])
  return rows[0]?.json
}
