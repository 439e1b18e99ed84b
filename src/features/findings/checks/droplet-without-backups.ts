// Droplets that the provider makes no backups of.

import { few } from '../answers.ts'
import { aboutResource, type Check, heldSince, notBeingMade } from '../check.ts'
import { isNode } from '../ownership.ts'

const WITHOUT = (row: string) =>
  `jsonb_typeof(${row}.attrs -> 'features') = 'array' and not ${row}.attrs -> 'features' ? 'backups'`

export const dropletWithoutBackups: Check = {
  name: 'droplet_without_backups',
  title: 'Droplet without backups',
  description:
    'Backups are not switched on: what is on its disk is lost with it. Switch them on, or snooze this for a droplet that can be made anew.',
  category: 'resilience',
  severity: 'low',
  forTenants: true,
  cost: 'none',
  query: `
    select ${aboutResource()}, ${heldSince(`v.deleted_at is null and ${WITHOUT('v')}`)} as since, jsonb_build_object('features', ${few(`r.attrs -> 'features'`)}) as evidence
    from cloud_resources r
    where r.kind = 'droplet' and r.deleted_at is null and ${WITHOUT('r')} and not ${isNode()} and ${notBeingMade()}`,
}
