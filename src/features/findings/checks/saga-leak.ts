// What a saga has made and nobody keeps, as the list of leaks has it.
import { LEAK_REASON, LEAKS } from '../../provisioning/index.ts'
import { aboutResource, type Check } from '../check.ts'

export const sagaLeak: Check = {
  name: 'saga_leak',
  title: 'Droplet that a saga left behind',
  description:
    'It bears the tag of a run that is over, and no run keeps it. What a run that was rolled back left is destroyed by itself; of any other, destroy it or give it a desired state.',
  category: 'operations',
  severity: 'high',
  forTenants: false,
  cost: 'resource',
  query: `
    select ${aboutResource()}, greatest(r.first_seen_at, s.finished_at) as since,
      jsonb_build_object('saga_id', l.saga_id, 'reason', ${LEAK_REASON}, 'run_status', s.status) as evidence
    ${LEAKS.from}
    where ${LEAKS.where} and r.kind = 'droplet'`,
}
