// Addresses that are kept for nothing. Those of IPv4 cost nothing as long as a droplet has them, and those of IPv6 never do.
import { aboutResource, type Check, heldSince, notBeingMade } from '../check.ts'

/** A token that may not read droplets is told nothing of them: only null says that there is none. */
const unassigned = (row: string) => `jsonb_typeof(${row}.attrs -> 'droplet') = 'null'`

export const reservedIpUnassigned: Check = {
  name: 'reserved_ip_unassigned',
  title: 'Reserved IP assigned to nothing',
  description:
    'The address is assigned to no droplet; the provider bills an IPv4 address for just that. Assign it or release it.',
  category: 'waste',
  severity: 'low',
  forTenants: true,
  cost: 'resource',
  query: `
    select ${aboutResource()}, ${heldSince(`${unassigned('v')} and v.deleted_at is null`)} as since,
      jsonb_build_object('ip', r.provider_id) as evidence
    from cloud_resources r
    where r.kind = 'reserved_ip' and r.deleted_at is null and r.provider_id not like '%:%' and ${unassigned('r')}
      and ${notBeingMade()}`,
}
