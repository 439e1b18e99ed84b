// A mirror that is a year old: resources that have each changed nine times, with every version and every event. Written by SQL
// alone, in the order of time as a year of sweeps would have: through the service it would take hours.
import pg from 'pg'
import { type Bench, thousands } from './figure.ts'
import { startService } from './process.ts'

/** HISTORY_RESOURCES=1000000 makes ten million versions of a million, and takes ten times as long. */
export const RESOURCES = Number(process.env.HISTORY_RESOURCES ?? 100_000)
export const VERSIONS = 10
export const HISTORY_TENANTS = 1_000

const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS
/** The last resource is found two months before the end. */
const FOUND_MS = Math.floor((300 * DAY_MS) / RESOURCES)

// Every row is made from its number, so that it is the same whenever it is made: `i` is the resource, `n` its version. Times are
// milliseconds until they are stored; `h.found` is when the resource was found, `h.gap` a tenth of its time since.

const numbers = (until: number) => `
  (select i, found, (${until} - found) / ${VERSIONS} as gap
    from generate_series(0::bigint, ${RESOURCES - 1}) i, lateral (select ${until - YEAR_MS} + i * ${FOUND_MS} as found) f offset 0)`
const momentOf = (n: string) =>
  `found + gap * (${n} - 1) + case when ${n} > 1 then gap * ((i * 7919 + ${n} * 104729) % 900) / 1000 else 0 end`
const time = (ms: string) => `to_timestamp((${ms})::float8 / 1000)`
const uuid = (ms: string, number: string) =>
  `(lpad(to_hex(${ms}), 12, '0') || '70008000' || lpad(to_hex(${number}), 12, '0'))::uuid`
const RESOURCE_ID = uuid('found', 'i')
const EVENT_ID = uuid('ms', 'i * 16 + n')

const projectId = (tenant: string) => `md5('project-' || ${tenant})::uuid`
/** One in twenty is given to another tenant. */
const tenantOf = (n: string) =>
  `(case when i % 20 = 7 and ${n} >= 6 then i / 20 else i end % ${HISTORY_TENANTS})`
const statusOf = (n: string) =>
  `case when i % 5000 = 1 and ${n} = 4 then 'archive' when (i + ${n}) % 11 = 0 then 'off' else 'active' end`
const nameOf = (n: string) => `'node-' || i || case when ${n} >= 5 then '-b' else '' end`
/** One in five is deleted at the end, which leaves everything else as it was. */
const LAST_ALIVE = `case when i % 5 = 0 then ${VERSIONS - 1} else ${VERSIONS} end`
const isDeleted = (n: string) => `(i % 5 = 0 and ${n} = ${VERSIONS})`

const COLUMNS = 'kind, name, region, status, tenant_id, project_id, deployment_id, tags, attrs'
const fields = (n: string) => `
  (array['droplet', 'droplet', 'droplet', 'droplet', 'droplet', 'droplet', 'droplet', 'volume', 'snapshot', 'reserved_ip'])[i % 10 + 1],
  ${nameOf(n)},
  case when i % 4000 = 3 then 'syd1' else (array['nyc3', 'fra1', 'ams3', 'sfo3', 'sgp1'])[i % 5 + 1] end,
  ${statusOf(n)}, 'tenant-' || ${tenantOf(n)}, ${projectId(tenantOf(n))},
  case when i % 10 = 4 then md5('deployment-' || i % 3000)::uuid end,
  array['env:prod', case when i % 3000 = 11 then 'legacy' else 'team:' || i % 40 end],
  ('{"size_slug":"s-' || ${n} || 'vcpu-2gb","vcpus":' || ${n} || ',"memory":2048,"disk":60,"locked":false,"created_at":"2025-11-01T08:00:00Z",'
    || '"image":{"id":1001,"slug":"ubuntu-24-04-x64","distribution":"Ubuntu"},"features":["monitoring","private_networking"],'
    || '"networks":{"v4":[{"type":"public","ip_address":"203.0.113.' || i % 250 || '"}]}}')::jsonb`

const resources = (until: number) => `
  insert into cloud_resources (id, provider, provider_id, ${COLUMNS}, fingerprint, first_seen_at, last_seen_at, last_look, deleted_at)
  select ${RESOURCE_ID}, 'digitalocean', i, ${fields('n')}, i, ${time('found')}, ${time(`case when ${isDeleted(`${VERSIONS}`)} then ms else ${until} end`)}, 1,
    case when ${isDeleted(`${VERSIONS}`)} then ${time('ms')} end
  from (select *, ${LAST_ALIVE} as n, ${momentOf(`${VERSIONS}`)} as ms from ${numbers(until)} h offset 0) h`

/** Sorted by time before anything wide is made of it. */
const steps = (until: number) => `
  (select i, found, gap, n, ${momentOf('n')} as ms from ${numbers(until)} h, generate_series(1, ${VERSIONS}) n order by ms) h`

const versions = (until: number) => `
  insert into resource_versions (resource_id, event_id, valid_from, valid_to, ${COLUMNS}, deleted_at)
  select ${RESOURCE_ID}, ${EVENT_ID}, ${time('ms')}, case when n < ${VERSIONS} then ${time(momentOf('(n + 1)'))} end,
    ${fields(`least(n, ${LAST_ALIVE})`)}, case when ${isDeleted('n')} then ${time('ms')} end
  from ${steps(until)}`

const changed = (name: string, of: (n: string) => string) =>
  `case when ${of('(n - 1)')} <> ${of('n')} then '"${name}":{"before":"' || ${of('(n - 1)')} || '","after":"' || ${of('n')} || '"},' else '' end`

const events = (until: number) => `
  insert into cloud_resource_events (id, resource_id, tenant_id, kind, changes, actor, created_at)
  select ${EVENT_ID}, ${RESOURCE_ID}, 'tenant-' || ${tenantOf('n')},
    case when n = 1 then 'discovered' when ${isDeleted('n')} then 'deleted' else 'updated' end,
    case when n > 1 and not ${isDeleted('n')} then ('{' || ${changed('name', nameOf)} || ${changed('status', statusOf)}
      || ${changed('tenant_id', n => `('tenant-' || ${tenantOf(n)})`)} || ${changed('project_id', n => projectId(tenantOf(n)))}
      || ${changed('attrs.size_slug', n => `('s-' || ${n} || 'vcpu-2gb')`)}
      || '"attrs.vcpus":{"before":' || n - 1 || ',"after":' || n || '}}')::jsonb end,
    'sweep', ${time('ms')}
  from ${steps(until)}`

const PROJECTS = `
  insert into cloud_projects (id, provider, provider_id, name, is_default, tenant_id, purpose, first_seen_at, last_seen_at)
  select ${projectId('t')}, 'digitalocean', 'project-' || t, 'project-' || t, false, 'tenant-' || t, 'tenant', now(), now()
  from generate_series(0, ${HISTORY_TENANTS - 1}) t`

const TABLES = ['cloud_resources', 'resource_versions', 'cloud_resource_events']

/** The indexes are made once the tables are full: sorted, and many times as fast. */
async function fill(client: pg.Client, until: number, say: Bench['say']): Promise<void> {
  const run = async (what: string, ...texts: string[]) => {
    const began = performance.now()
    for (const text of texts) await client.query(text)
    say(`${what}: ${((performance.now() - began) / 1000).toFixed(0)} s`)
  }
  // No trigger and no foreign key is asked about rows that are made to fit.
  await client.query(
    `set session_replication_role = replica; set synchronous_commit = off; set jit = off; set work_mem = '512MB'; set maintenance_work_mem = '512MB'`,
  )
  const { rows: indexes } = await client.query<{
    table: string
    name: string
    made: string
    key: string | null
  }>(
    `select t.relname as table, x.relname as name, pg_get_indexdef(x.oid) as made, pg_get_constraintdef(c.oid) as key
     from pg_index i join pg_class t on t.oid = i.indrelid join pg_class x on x.oid = i.indexrelid
     left join pg_constraint c on c.conindid = x.oid and c.contype in ('p', 'u')
     where t.relname = any($1) and not (t.relname = 'cloud_resources' and c.oid is not null)`,
    [TABLES],
  )
  for (const { table, name, key } of indexes)
    await client.query(key ? `alter table ${table} drop constraint ${name}` : `drop index ${name}`)
  await run(`${thousands(RESOURCES)} resources`, PROJECTS, resources(until))
  await run(`${thousands(RESOURCES * VERSIONS)} versions`, versions(until))
  await run(`${thousands(RESOURCES * VERSIONS)} events`, events(until))
  const made = indexes.map(({ table, name, made, key }) =>
    key ? `alter table ${table} add constraint ${name} ${key}` : made,
  )
  await run('their indexes', ...made)
  await run('vacuum', ...['cloud_projects', ...TABLES].map(table => `vacuum analyze ${table}`), 'checkpoint')
}

export const yearOfHistory = ({ filled, say }: Bench): Promise<string> =>
  filled('year-of-history', async url => {
    say(
      `filling a database with ${thousands(RESOURCES * VERSIONS)} versions of ${thousands(RESOURCES)} resources`,
    )
    await (await startService(url, {})).server.stop()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      await fill(client, Math.floor(Date.now() / 3_600_000) * 3_600_000, say)
    } finally {
      await client.end()
    }
  })
