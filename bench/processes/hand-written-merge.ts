// The peer of the sweeps: the same merge as one would write it by hand for this one listing, in one SQL statement over a
// staged table. It gets the rows mapped and fingerprinted for nothing, and keeps no record of progress.
import pg from 'pg'
import { type SeenResource, seenResource } from '../../src/features/inventory/index.ts'
import { mapItem, type RawItem } from '../../src/integrations/digitalocean/index.ts'
import { copyIn, field } from '../database.ts'
import { working } from '../process.ts'
import { generatedProvider } from './generated-droplets.ts'
import type { Sweep } from './inventory-sweep.ts'

export interface Merged {
  /** Staging and merging. */
  ms: number
  /** The merging statement alone. */
  statementMs: number
}

const STAGE = `create temporary table staged (
  provider_id text not null, name text not null, region text, status text, tags text[] not null, attrs jsonb not null,
  fingerprint text not null) on commit drop`

// $1: when; $2: by whom. The brake and the move of a restored resource to another project are left out.
const MERGE = `
  with met as (
    select s.*, r.id, r.deleted_at, r.name as old_name, r.region as old_region, r.status as old_status,
      r.tags as old_tags, r.attrs as old_attrs, r.fingerprint as old_fingerprint
    from staged s
    left join cloud_resources r on r.provider = 'digitalocean' and r.kind = 'droplet' and r.provider_id = s.provider_id
  ), touched as (
    update cloud_resources r set last_seen_at = $1::timestamptz, stale_strike_count = 0
    from staged s
    where r.provider = 'digitalocean' and r.kind = 'droplet' and r.provider_id = s.provider_id
      and r.fingerprint = s.fingerprint and r.deleted_at is null
  ), changed as (
    update cloud_resources r set name = m.name, region = m.region, status = m.status, tags = m.tags,
      attrs = r.attrs || m.attrs, fingerprint = m.fingerprint, last_seen_at = $1::timestamptz, stale_strike_count = 0,
      deleted_at = null
    from met m where r.id = m.id and (m.old_fingerprint <> m.fingerprint or m.deleted_at is not null)
    returning r.id, r.tenant_id, case when m.deleted_at is null then 'updated' else 'restored' end as event,
      jsonb_strip_nulls(jsonb_build_object(
        'name', case when m.old_name <> m.name then jsonb_build_object('before', m.old_name, 'after', m.name) end,
        'region', case when m.old_region is distinct from m.region then jsonb_build_object('before', m.old_region, 'after', m.region) end,
        'status', case when m.old_status is distinct from m.status then jsonb_build_object('before', m.old_status, 'after', m.status) end,
        'tags', case when m.old_tags <> m.tags then jsonb_build_object('before', m.old_tags, 'after', m.tags) end)) ||
      coalesce((
        select jsonb_object_agg('attrs.' || key, jsonb_build_object('before', m.old_attrs -> key, 'after', value))
        from jsonb_each(m.attrs) where m.old_attrs -> key is distinct from value), '{}') as changes
  ), inserted as (
    insert into cloud_resources (id, provider, provider_id, kind, name, region, status, tenant_id, project_id, tags,
      attrs, fingerprint, first_seen_at, last_seen_at)
    select uuid_v7(), 'digitalocean', m.provider_id, 'droplet', m.name, m.region, m.status, p.tenant_id, p.id, m.tags,
      m.attrs, m.fingerprint, $1, $1
    from met m
    left join cloud_project_members h on h.provider = 'digitalocean' and h.kind = 'droplet' and h.provider_id = m.provider_id
    left join cloud_projects p on p.id = h.project_id
    where m.id is null
    returning id, tenant_id
  ), struck as (
    update cloud_resources r set stale_strike_count = stale_strike_count + 1,
      deleted_at = case when stale_strike_count + 1 >= 3 then $1::timestamptz end
    where provider = 'digitalocean' and kind = 'droplet' and deleted_at is null
      and not exists (select from staged s where s.provider_id = r.provider_id)
    returning id, tenant_id, deleted_at
  )
  insert into cloud_resource_events (id, resource_id, tenant_id, kind, changes, actor, created_at)
  select uuid_v7(), id, tenant_id, event, changes, $2::text, $1::timestamptz from (
    select id, tenant_id, event, changes from changed
    union all select id, tenant_id, 'discovered', null from inserted
    union all select id, tenant_id, 'deleted', null from struck where deleted_at is not null
  ) e`

const client = new pg.Client({ connectionString: process.env.DATABASE_URL })
await client.connect()
const { world } = generatedProvider(Number(process.env.DROPLETS))

working<Sweep, Merged>(async ({ changePercent }) => {
  if (changePercent > 0) world.change({ percent: changePercent })
  const seen = Array.from(world.shelves.droplet, item =>
    seenResource(mapItem('droplet', item as unknown as RawItem)),
  )
  const began = performance.now()
  await client.query('begin')
  await client.query(STAGE)
  await copyIn(client, 'copy staged from stdin', lines(seen))
  await client.query('analyze staged')
  const staged = performance.now()
  await client.query(MERGE, [new Date().toISOString(), 'bench'])
  const merged = performance.now()
  await client.query('commit')
  return { ms: performance.now() - began, statementMs: merged - staged }
})

function* lines(seen: SeenResource[]): Generator<string> {
  for (let from = 0; from < seen.length; from += 1_000)
    yield seen
      .slice(from, from + 1_000)
      .map(line)
      .join('')
}

function line({ provider_id, name, region, status, tags = [], attrs, fingerprint }: SeenResource): string {
  const list = `{${tags.map(tag => JSON.stringify(tag)).join(',')}}`
  const fields = [
    provider_id,
    name ?? provider_id,
    region ?? null,
    status ?? null,
    list,
    JSON.stringify(attrs),
    fingerprint,
  ]
  return `${fields.map(field).join('\t')}\n`
}
