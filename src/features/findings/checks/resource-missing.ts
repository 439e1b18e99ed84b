// A resource that sweeps, or looks between them, no longer see, before the third sweep makes it deleted.
import { isMissing } from '../../inventory/index.ts'
import { aboutResource, type Check } from '../check.ts'

export const resourceMissing: Check = {
  name: 'resource_missing',
  title: 'Resource that is no longer seen',
  description:
    'The provider did not show it any more, and nobody said that it was destroyed. The third whole sweep that misses it deletes it from the inventory: find out who took it away, and restore it if nobody meant to.',
  category: 'operations',
  severity: 'medium',
  forTenants: true,
  cost: 'resource',
  query: `
    select ${aboutResource()}, coalesce(r.missing_since, r.last_seen_at) as since,
      jsonb_build_object('sweeps_missed', r.stale_strike_count, 'last_seen_at', iso8601(r.last_seen_at)) as evidence
    from cloud_resources r
    where r.deleted_at is null and ${isMissing('r')}`,
}
