// Load balancers that have nobody to pass a request to. They serve the droplets that they name or that have their tag (so do those
// of a cluster, whose nodes are droplets), and global ones also regional ones.
import { countIn, textIn } from '../answers.ts'
import { aboutResource, type Check, heldSince, notBeingMade } from '../check.ts'
import { namedIn, TAGS_OF_DROPLETS } from '../named-droplets.ts'

/** An answer that says nothing of droplets does not say that there are none. One that is new has none yet. */
const BALANCERS = `
  select r.*, f.complete_at from cloud_resources r join sync_freshness f on f.kind = 'droplet'
  where r.kind = 'load_balancer' and r.deleted_at is null and r.status is distinct from 'new'
    and coalesce(jsonb_typeof(r.attrs -> 'droplet_ids') in ('array', 'null') or r.attrs ->> 'tag' <> '', false)`

/** Each with the droplets that it names: known or not, living or gone. */
const NAMED = `
  select r.id as balancer_id, r.complete_at, d.* from balancers r cross join lateral ${namedIn('r')} x
  left join cloud_resources d on d.provider = r.provider and d.kind = 'droplet' and d.provider_id = x.id
  where x.id is not null`

/** Not known to be off; one that is just being made runs soon. */
const RUNS = `d.deleted_at is null and coalesce(d.status, '') not in ('off', 'archive')`

/**
 * A droplet that the inventory does not know is gone when a whole listing did not have it that began when the load balancer
 * named it, or later. The listings of one sweep begin within minutes of each other.
 */
const MAY_COME = `d.complete_at < (
  select v.valid_from from resource_versions v where v.resource_id = d.balancer_id and v.valid_to is null) - interval '10 minutes'`

/** The tags of droplets that run, each once: one tag may be of very many droplets and load balancers. */
const RUNNING_TAGS = `
  select distinct t.tag from (${TAGS_OF_DROPLETS}) t join cloud_resources d on d.id = t.droplet_id
  where ${RUNS} and t.tag in (select b.attrs ->> 'tag' from balancers b)`

/** What a global one passes requests on to. */
const PASSES_ON = `exists (
  select from jsonb_path_query(r.attrs, '$.target_load_balancer_ids[*]') named (id)
  left join cloud_resources b on b.provider = r.provider and b.kind = 'load_balancer' and b.provider_id = named.id #>> '{}'
  where b.deleted_at is null)`

/** The same targets as now. */
const SAME = ['droplet_ids', 'tag', 'target_load_balancer_ids']
  .map(member => `v.attrs -> '${member}' is not distinct from r.attrs -> '${member}'`)
  .join(' and ')

/** Of droplets, those that are there and off, and when the last stopped or went. */
const STOPPED = `count(*) filter (where d.deleted_at is null) as off,
  max(coalesce(d.deleted_at, ${heldSince('v.status is not distinct from d.status', 'd')})) as at`

const OFF_TAGS = `
  select t.tag, d.tenant_id, ${STOPPED} from (${TAGS_OF_DROPLETS}) t join cloud_resources d on d.id = t.droplet_id
  where t.tag in (select i.attrs ->> 'tag' from idle i) group by t.tag, d.tenant_id`

export const loadBalancerWithoutBackend: Check = {
  name: 'load_balancer_without_backend',
  title: 'Load balancer without a running backend',
  description:
    'No droplet that the load balancer serves is running: there is none, they are off, or they are gone. Give it one, or delete it.',
  category: 'waste',
  severity: 'medium',
  forTenants: true,
  cost: 'resource',
  query: `
    with balancers as materialized (${BALANCERS}), named as materialized (${NAMED}), running_tags as materialized (${RUNNING_TAGS}),
      idle as materialized (
        select r.* from balancers r
        where not exists (
            select from named d where d.balancer_id = r.id and case when d.id is null then ${MAY_COME} else ${RUNS} end)
          and not exists (select from running_tags t where t.tag = r.attrs ->> 'tag')
          and not ${PASSES_ON} and ${notBeingMade()}),
      off_tags as materialized (${OFF_TAGS})
    select ${aboutResource()}, greatest(${heldSince(`${SAME} and v.deleted_at is null`)}, stopped.at, tagged.at) as since,
      jsonb_build_object('droplets_named', ${countIn('droplet_ids')}, 'droplets_off', coalesce(tagged.off, stopped.off),
        'tag', ${textIn('tag')}, 'type', ${textIn('type')},
        'load_balancers_named', ${countIn('target_load_balancer_ids')}) as evidence
    from idle r
    left join off_tags tagged on tagged.tag = r.attrs ->> 'tag' and tagged.tenant_id is not distinct from r.tenant_id
    cross join lateral (
      select ${STOPPED} from named d where d.balancer_id = r.id and d.tenant_id is not distinct from r.tenant_id and d.id is not null
    ) stopped`,
}
