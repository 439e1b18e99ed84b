// Droplets that are switched off: the provider bills them as those that run.
import { numberIn, textIn } from '../answers.ts'
import { aboutResource, type Check, heldSince, NOW, notBeingMade, policyOf } from '../check.ts'

export const dropletOff: Check = {
  name: 'droplet_off',
  title: 'Droplet off for days',
  description:
    'The droplet is switched off and is billed as one that runs. Switch it on, or take a snapshot if its disk is needed and destroy it.',
  category: 'waste',
  severity: 'medium',
  forTenants: true,
  cost: 'resource',
  policy: 'off_days',
  // One that was off when it was first seen may have been switched off a minute before: its days count from there.
  query: `
    select ${aboutResource()}, o.since, jsonb_build_object('status', r.status, 'size_slug', ${textIn('size_slug')},
      'vcpus', ${numberIn('vcpus')}, 'memory', ${numberIn('memory')}, 'disk', ${numberIn('disk')}) as evidence
    from cloud_resources r cross join lateral (
      select greatest(${heldSince(`v.status = 'off' and v.deleted_at is null`)}, r.first_seen_at) as since) o
    where r.kind = 'droplet' and r.deleted_at is null and r.status = 'off' and ${notBeingMade()}
      and o.since <= ${NOW} - make_interval(days => ${policyOf('off_days')})`,
}
