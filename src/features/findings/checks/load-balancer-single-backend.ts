// Load balancers with one droplet behind them.
import { aboutResource, type Check, heldSince } from '../check.ts'
import { isDroplet, namedIn, TAGS_OF_DROPLETS } from '../named-droplets.ts'
import { isNode } from '../ownership.ts'

const SERVED = `
  select r.id as load_balancer_id, d.id as droplet_id from balancers r
  cross join lateral ${namedIn('r')} x join cloud_resources d on ${isDroplet('d', 'x.id')}
  union
  select r.id, t.droplet_id from balancers r join (${TAGS_OF_DROPLETS}) t on t.tag = r.attrs ->> 'tag'`

const SAME = ['droplet_ids', 'tag']
  .map(member => `v.attrs -> '${member}' is not distinct from r.attrs -> '${member}'`)
  .join(' and ')

/** A global one passes requests on to load balancers. */
const IS_GLOBAL = `jsonb_path_exists(r.attrs, '$.target_load_balancer_ids[*] ? (@ != null)')`

export const loadBalancerSingleBackend: Check = {
  name: 'load_balancer_single_backend',
  title: 'Load balancer with a single backend',
  description:
    'One running droplet is behind the load balancer: when that fails nothing answers, and there is no load to balance. Add a second, or do without the load balancer.',
  category: 'resilience',
  severity: 'low',
  forTenants: true,
  cost: 'none',
  query: `
    with balancers as (
      select id, attrs from cloud_resources r where kind = 'load_balancer' and deleted_at is null and not ${IS_GLOBAL}
    ), served as (
      select s.load_balancer_id, count(*) as backends, min(d.id::text) as id, min(d.name) as name,
        min(d.tenant_id) as tenant_id, bool_or(${isNode('d')}) as nodes
      from (${SERVED}) s join cloud_resources d on d.id = s.droplet_id
      where coalesce(d.status, '') not in ('off', 'archive') group by s.load_balancer_id
    )
    select ${aboutResource()}, ${heldSince(`v.deleted_at is null and ${SAME}`)} as since,
      case when s.tenant_id = r.tenant_id then jsonb_build_object('droplet', s.name, 'droplet_id', s.id) else '{}' end
        || jsonb_build_object('backends', 1) as evidence
    from served s join cloud_resources r on r.id = s.load_balancer_id where s.backends = 1 and not s.nodes`,
}
