// 100,000 droplets put there by the service itself, each provisioned with ten desired fields: four columns of the
// resource, tags among them, five plain attributes and a list. One in a hundred differs, in one of five ways. Filled once
// in a run, for every figure that asks.
import { query } from './databases.ts'
import type { Bench } from './figure.ts'
import { settle, sweeper } from './sweep.ts'

export const RESOURCES = 100_000
export const MISMATCHES = RESOURCES / 100

const SPECS = `
  insert into cloud_provisioned (resource_id, spec, created_at, updated_at)
  select id, jsonb_build_object(
      'name', name, 'region', region, 'status', status, 'tags', tags, 'size_slug', attrs -> 'size_slug',
      'vcpus', attrs -> 'vcpus', 'memory', attrs -> 'memory', 'disk', attrs -> 'disk', 'locked', attrs -> 'locked',
      'features', attrs -> 'features')
    || case when n % 100 > 0 then '{}' else case n / 100 % 5
      when 0 then '{"memory": 1}' when 1 then '{"name": "another"}' when 2 then '{"tags": ["another"]}'
      when 3 then '{"features": ["backups"]}' else '{"locked": true}' end::jsonb end, now(), now()
  from (select *, row_number() over (order by id) as n from cloud_resources) r order by id`

export const provisionedResources = ({ filled, say }: Bench): Promise<string> =>
  filled('provisioned-resources', async url => {
    say(`filling a database with ${RESOURCES.toLocaleString('en-US')} droplets and what is desired of them`)
    const worker = sweeper(url, RESOURCES)
    await worker.ask({ changePercent: 0 })
    await worker.stop()
    await query(url, SPECS)
    await settle(url)
    await query(url, 'vacuum analyze cloud_provisioned')
  })
