// Images that were uploaded, and that nothing was made from for longer than the policy. Droplets' snapshots and backups are listed
// as images once more; they are not billed twice, and have no finding here.
import { numberIn, textIn } from '../answers.ts'
import { aboutResource, type Check, NOW, notBeingMade, policyOf } from '../check.ts'
import { inUse, takenAt } from '../images.ts'

const LIMIT = `make_interval(days => ${policyOf('image_days')})`

export const imageOld: Check = {
  name: 'image_old',
  title: 'Custom image that nothing uses',
  description:
    'The custom image is older than the policy, and no droplet was made from it that is still there. It is billed by its size: delete it, or keep it on purpose.',
  category: 'waste',
  severity: 'low',
  forTenants: true,
  cost: 'resource',
  policy: 'image_days',
  query: `
    select ${aboutResource()}, ${takenAt()} + ${LIMIT} as since,
      jsonb_build_object('size_gigabytes', ${numberIn('size_gigabytes')}, 'created_at', ${textIn('created_at')},
        'distribution', ${textIn('distribution')}) as evidence
    from cloud_resources r
    where r.kind = 'image' and r.deleted_at is null and r.attrs ->> 'type' = 'custom' and r.status is distinct from 'deleted'
      and ${takenAt()} <= ${NOW} - ${LIMIT} and not ${inUse()} and ${notBeingMade()}`,
}
