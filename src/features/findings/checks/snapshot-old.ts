// Snapshots that outlived the policy while what they were taken of lives on.
import { numberIn, textIn } from '../answers.ts'
import { aboutResource, type Check, NOW, notBeingMade, policyOf } from '../check.ts'
import { inUse, SOURCE, SOURCE_GONE, takenAt } from '../images.ts'

const LIMIT = `make_interval(days => ${policyOf('snapshot_days')})`

export const snapshotOld: Check = {
  name: 'snapshot_old',
  title: 'Snapshot older than the policy',
  description:
    'The snapshot is older than snapshots are to be kept, and no droplet was made from it. It is billed by its size: delete it, or keep it on purpose.',
  category: 'waste',
  severity: 'low',
  forTenants: true,
  cost: 'resource',
  policy: 'snapshot_days',
  query: `
    select ${aboutResource()}, ${takenAt()} + ${LIMIT} as since,
      jsonb_build_object('size_gigabytes', ${numberIn('size_gigabytes')}, 'created_at', ${textIn('created_at')},
        'resource_type', ${textIn('resource_type')}, 'resource_id', ${textIn('resource_id')}) as evidence
    from cloud_resources r ${SOURCE}
    where r.kind = 'snapshot' and r.deleted_at is null and ${takenAt()} <= ${NOW} - ${LIMIT}
      and not ${SOURCE_GONE} and not ${inUse()} and ${notBeingMade()}`,
}
