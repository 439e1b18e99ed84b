// Block storage that no droplet can read, and that is paid for all the same.
import { numberIn, saysNone, textIn } from '../answers.ts'
import { aboutResource, type Check, heldSince, notBeingMade } from '../check.ts'

export const volumeUnattached: Check = {
  name: 'volume_unattached',
  title: 'Volume attached to nothing',
  description:
    'The volume is attached to no droplet and is billed by its size. Attach it, or take a snapshot if its data is needed and delete it.',
  category: 'waste',
  severity: 'medium',
  forTenants: true,
  cost: 'resource',
  query: `
    select ${aboutResource()}, ${heldSince(`${saysNone('droplet_ids', 'v')} and v.deleted_at is null`)} as since,
      jsonb_build_object('size_gigabytes', ${numberIn('size_gigabytes')}, 'created_at', ${textIn('created_at')}) as evidence
    from cloud_resources r
    where r.kind = 'volume' and r.deleted_at is null and ${saysNone('droplet_ids')} and ${notBeingMade()}`,
}
