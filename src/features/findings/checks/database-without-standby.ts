// Databases of a single node.
import { aboutResource, type Check, heldSince } from '../check.ts'

const SINGLE = (row: string) => `${row}.attrs -> 'num_nodes' = '1'`

export const databaseWithoutStandby: Check = {
  name: 'database_without_standby',
  title: 'Database without a standby',
  description:
    'The database runs on one node: when that fails, or is maintained, nothing answers until it is back. Add a standby node.',
  category: 'resilience',
  severity: 'medium',
  forTenants: true,
  cost: 'none',
  query: `
    select ${aboutResource()}, ${heldSince(`v.deleted_at is null and ${SINGLE('v')}`)} as since,
      jsonb_build_object('engine', r.attrs -> 'engine', 'size', r.attrs -> 'size', 'num_nodes', 1) as evidence
    from cloud_resources r where r.kind = 'database' and r.deleted_at is null and ${SINGLE('r')}`,
}
