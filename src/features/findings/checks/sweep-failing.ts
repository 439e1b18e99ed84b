// A kind of which no sweep has been whole for hours: what the inventory says of it is old.
import { kindNames } from '../../../integrations/digitalocean/index.ts'
import { type Check, NOW, policyOf } from '../check.ts'

/** How the ledger calls the sweep of the projects. */
const SWEPT = [...kindNames, 'project']

/** Sorts before every id there is. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

export const sweepFailing: Check = {
  name: 'sweep_failing',
  title: 'Kind whose sweeps fail',
  description:
    'The sweeps of this kind have failed, or were not whole, for hours: the inventory shows how it was before. The run’s error says why; most often the token lacks a scope, or the provider is down.',
  category: 'operations',
  severity: 'high',
  forTenants: false,
  cost: 'none',
  policy: 'sweep_failed_hours',
  query: `
    select null::uuid as resource_id, k.kind as subject, null::text as tenant_id, null::uuid as deployment_id,
      bad.since, jsonb_build_object('kind', k.kind, 'status', last.status, 'error', left(last.error, 500),
        'sync_run_id', last.id, 'last_whole_sweep_at', iso8601(f.complete_at)) as evidence
    from unnest(array[${SWEPT.map(kind => `'${kind}'`).join(', ')}]) k (kind)
    left join sync_freshness f on f.kind = k.kind
    cross join lateral (
      select s.id, s.status, s.error from sync_runs s
      where s.kind = k.kind and s.status <> 'running' order by s.id desc limit 1) last
    left join lateral (
      select s.id from sync_runs s
      where s.kind = k.kind and s.status in ('complete', 'unavailable') order by s.id desc limit 1) good on true
    cross join lateral (
      select min(s.started_at) as since from sync_runs s
      where s.kind = k.kind and s.status <> 'running' and s.id > coalesce(good.id, '${FIRST_ID}')) bad
    where last.status in ('failed', 'partial')
      and bad.since <= ${NOW} - make_interval(hours => ${policyOf('sweep_failed_hours')})`,
}
