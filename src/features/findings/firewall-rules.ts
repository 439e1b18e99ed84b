// What a firewall lets in, as SQL over the provider's answer. Read by JSON paths: what is not of the expected type is not
// found, and no cast can fail.

import { few } from './answers.ts'
import { aboutResource, heldSince, notBeingMade, thereSince } from './check.ts'
import { isDroplet, namedIn, TAGS_OF_DROPLETS } from './named-droplets.ts'
import { isNode } from './ownership.ts'

/** SQL: whether a rule's text of ports (one, a range, or all of them) includes the port. */
export const includesPort = (ports: string, port: number): string => `case
  when ${ports} in ('0', 'all') then true
  when ${ports} ~ '^[0-9]{1,5}$' then ${ports}::int = ${port}
  when ${ports} ~ '^[0-9]{1,5}-[0-9]{1,5}$'
    then ${port} between split_part(${ports}, '-', 1)::int and split_part(${ports}, '-', 2)::int
  else false end`

/** A network without any fixed bit is all addresses, however it is written. */
const EVERYWHERE = '$.sources.addresses[*] ? (@ like_regex "/0$")'

/** SQL: the rules, of a firewall's attributes, that let TCP in from everywhere. */
const openRules = (attrs: string): string =>
  `jsonb_path_query(${attrs}, '$.inbound_rules[*] ? (@.protocol == "tcp" && exists(@${EVERYWHERE.slice(1)}))')`

/** SQL: a private address, and no public one. */
const isPrivate = (
  row: string,
): string => `(jsonb_path_exists(${row}.attrs, '$.networks.*[*] ? (@.type == "private")')
  and not jsonb_path_exists(${row}.attrs, '$.networks.*[*] ? (@.type == "public")'))`

/** SQL: the addresses by which anybody may reach a droplet. */
export const publicAddresses = (row = 'r'): string =>
  few(`jsonb_path_query_array(${row}.attrs, '$.networks.*[*] ? (@.type == "public").ip_address')`)

/** The droplets that a living firewall is for: droplet_id, of some more than once. */
export const PROTECTED = `
  with firewalls as (select attrs, tags from cloud_resources where kind = 'firewall' and deleted_at is null)
  select d.id as droplet_id from firewalls f cross join lateral ${namedIn('f')} x join cloud_resources d on ${isDroplet('d', 'x.id')}
  union all
  select t.droplet_id from (select distinct tag from firewalls f cross join lateral unnest(f.tags) tag) x
  join (${TAGS_OF_DROPLETS}) t on t.tag = x.tag`

/** The droplets that one was for, with a name or a tag that it has now: droplet_id, and until when. */
export const PROTECTED_ONCE = `
  with firewalls as (
    select v.attrs, v.tags, v.valid_to from cloud_resources f join resource_versions v on v.resource_id = f.id
    where f.kind = 'firewall' and v.deleted_at is null and v.valid_to is not null)
  select d.id as droplet_id, f.valid_to as until from firewalls f
  cross join lateral ${namedIn('f')} x join cloud_resources d on ${isDroplet('d', 'x.id')}
  union all
  select t.droplet_id, x.until
  from (select tag, max(f.valid_to) as until from firewalls f cross join lateral unnest(f.tags) tag group by tag) x
  join (${TAGS_OF_DROPLETS}) t on t.tag = x.tag`

/** SQL: since when firewall `f` has had the rule `f.rule`, and been for what `condition` says. */
const openSince = (condition: string): string =>
  heldSince(
    `v.deleted_at is null and v.attrs -> 'inbound_rules' @> jsonb_build_array(f.rule) and ${condition}`,
    'f',
  )

/**
 * The query of a check for droplets that anybody may reach on this port. Of several openings the oldest is shown, and says since
 * when.
 */
export const openTo = (port: number): string => `
  with rules as (
    select f.id, f.attrs, f.tags, f.tenant_id, rule, jsonb_build_object('port', ${port}, 'firewall', f.name, 'firewall_id', f.id,
      'ports', rule ->> 'ports', 'from', ${few(`jsonb_path_query_array(rule, '${EVERYWHERE}')`)}) as evidence
    from cloud_resources f cross join lateral ${openRules('f.attrs')} rule
    where f.kind = 'firewall' and f.deleted_at is null and ${includesPort(`(rule ->> 'ports')`, port)}
  ), by_id as (
    select x.id, ${openSince(`x.id in (select was.id from ${namedIn('v')} was)`)} as since, f.evidence
    from rules f cross join lateral ${namedIn('f')} x
  ), by_tag as (
    select distinct on (tag) tag, ${openSince('v.tags @> array[tag]')} as since, f.evidence
    from rules f cross join lateral unnest(f.tags) tag order by tag, since, f.evidence
  ), openings as (
    select r.id, greatest(o.since, ${thereSince()}) as since, o.evidence
    from by_id o join cloud_resources r on ${isDroplet('r', 'o.id')}
    union all
    select r.id, greatest(o.since, ${heldSince('v.deleted_at is null and v.tags @> array[o.tag]')}), o.evidence || jsonb_build_object('tag', o.tag)
    from by_tag o join (${TAGS_OF_DROPLETS}) t on t.tag = o.tag join cloud_resources r on r.id = t.droplet_id
  ), oldest as (
    select distinct on (id) * from openings order by id, since, evidence
  )
  select ${aboutResource()}, o.since, o.evidence || jsonb_build_object('public_addresses', ${publicAddresses()}) as evidence
  from oldest o join cloud_resources r on r.id = o.id
  where not ${isNode()} and not ${isPrivate('r')} and ${notBeingMade()}`
