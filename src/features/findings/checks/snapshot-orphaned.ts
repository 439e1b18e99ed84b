// Snapshots of what is gone.
import { numberIn, textIn } from '../answers.ts'
import { aboutResource, type Check, notBeingMade } from '../check.ts'
import { inUse, SOURCE, SOURCE_GONE, takenAt } from '../images.ts'

export const snapshotOrphaned: Check = {
  name: 'snapshot_orphaned',
  title: 'Snapshot of something gone',
  description:
    'The droplet or volume that the snapshot was taken of is gone, and no droplet was made from it. It is billed by its size: delete it, or keep it on purpose.',
  category: 'waste',
  severity: 'low',
  forTenants: true,
  cost: 'resource',
  query: `
    select ${aboutResource()}, greatest(s.deleted_at, ${takenAt()}) as since,
      jsonb_build_object('size_gigabytes', ${numberIn('size_gigabytes')}, 'created_at', ${textIn('created_at')},
        'resource_type', ${textIn('resource_type')}, 'resource_id', ${textIn('resource_id')}) as evidence
    from cloud_resources r ${SOURCE}
    where r.kind = 'snapshot' and r.deleted_at is null and ${SOURCE_GONE} and not ${inUse()} and ${notBeingMade()}`,
}
