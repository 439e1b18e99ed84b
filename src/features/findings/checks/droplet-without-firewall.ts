// Droplets that no firewall is for, neither by name nor by tag.
import { aboutResource, type Check, notBeingMade, thereSince } from '../check.ts'
import { PROTECTED, PROTECTED_ONCE, publicAddresses } from '../firewall-rules.ts'
import { isNode } from '../ownership.ts'

export const dropletWithoutFirewall: Check = {
  name: 'droplet_without_firewall',
  title: 'Droplet without a firewall',
  description:
    'No firewall names the droplet or has one of its tags: every port that it listens on can be reached. Put it behind a firewall that lets in only what it serves.',
  category: 'security',
  severity: 'medium',
  forTenants: true,
  cost: 'none',
  // A token that may not read firewalls says nothing about them.
  query: `
    with protected as (${PROTECTED}),
    once as (select droplet_id, max(until) as until from (${PROTECTED_ONCE}) p group by droplet_id)
    select ${aboutResource()}, greatest(${thereSince()}, once.until) as since,
      jsonb_build_object('public_addresses', ${publicAddresses()}, 'status', r.status) as evidence
    from cloud_resources r left join once on once.droplet_id = r.id
    where r.kind = 'droplet' and r.deleted_at is null and not ${isNode()} and ${notBeingMade()}
      and not exists (select from protected p where p.droplet_id = r.id)
      and (exists (select from sync_freshness where kind = 'firewall') or exists (select from cloud_resources where kind = 'firewall'))`,
}
