// What costs money and is nobody's.
import { aboutResource, type Check, heldSince, notBeingMade } from '../check.ts'
import { matters } from '../ownership.ts'

export const resourceWithoutTenant: Check = {
  name: 'resource_without_tenant',
  title: 'Resource that is nobody’s',
  description:
    'It is in no project, or in one that nobody was named for: no tenant is charged for it. Give the project to its tenant, or say that it is internal.',
  category: 'ownership',
  severity: 'low',
  forTenants: false,
  cost: 'none',
  // What was found since the projects were last read may be in one.
  query: `
    select ${aboutResource()}, ${heldSince('v.deleted_at is null and v.tenant_id is null')} as since,
      jsonb_build_object('project', p.name, 'project_id', p.id, 'tags', to_jsonb(r.tags[:10])) as evidence
    from cloud_resources r left join cloud_projects p on p.id = r.project_id
    where r.deleted_at is null and r.tenant_id is null and r.deployment_id is null and ${matters()}
      and (p.purpose = 'unassigned'
        or p.id is null and r.first_seen_at <= (select complete_at from sync_freshness where kind = 'project'))
      and ${notBeingMade()}`,
}
