import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isKind,
  isTransitional,
  type Kind,
  kindNames,
  mapItem,
  type RawItem,
  resourceOfUrn,
  urnOf,
} from '../../src/integrations/digitalocean/index.ts'
import { fixture, example as item } from './scripted-provider.ts'

test('a Kubernetes cluster keeps its pools and plugins but not its nodes', () => {
  const mapped = mapItem('kubernetes_cluster', item('kubernetes_clusters.list', 'kubernetes_clusters'))
  assert.equal(mapped.provider_id, 'bd5f5959-5e1e-4205-a714-a914373942af')
  assert.deepEqual(
    [mapped.name, mapped.region, mapped.status, mapped.urn],
    ['prod-cluster-01', 'nyc1', 'provisioning', `do:kubernetes:${mapped.provider_id}`],
  )
  assert.ok(mapped.tags?.includes('production'))
  const pools = mapped.attrs.node_pools as RawItem[]
  assert.deepEqual(
    pools.map(({ name, size, count }) => [name, size, count]),
    [
      ['frontend-pool', 's-1vcpu-2gb', 3],
      ['backend-pool', 'g-4vcpu-16gb', 2],
    ],
  )
  assert.ok(pools.every(pool => !Object.hasOwn(pool, 'nodes')))
  assert.equal(mapped.attrs.version, '1.18.6-do.0')
  assert.ok(!Object.hasOwn(mapped.attrs, 'updated_at'))
})

test('an app is named by its spec and keeps it, without what each deployment adds', () => {
  const mapped = mapItem('app', item('apps.list', 'apps'))
  assert.deepEqual(
    [mapped.provider_id, mapped.name, mapped.region, mapped.urn],
    [
      '4f6c71e2-1e90-4762-9fee-6cc4a0a9f2cf',
      'sample-php',
      'fra',
      'do:app:4f6c71e2-1e90-4762-9fee-6cc4a0a9f2cf',
    ],
  )
  assert.deepEqual(mapped.attrs.active_deployment, { id: '3aa4d20e-5527-4c00-b496-601fbd22520a' })
  assert.equal((mapped.attrs.spec as { services: RawItem[] }).services[0]?.http_port, 8080)
  for (const noise of ['updated_at', 'progress', 'pending_deployment', 'last_deployment_created_at']) {
    assert.ok(!Object.hasOwn(mapped.attrs, noise), noise)
  }
})

test('an app’s status is its newest deployment’s phase', () => {
  const app = { id: 'a', spec: { name: 'x' }, active_deployment: { id: 'd1', phase: 'ACTIVE' } }
  assert.equal(mapItem('app', app).status, 'ACTIVE')
  const deploying = mapItem('app', { ...app, in_progress_deployment: { id: 'd2', phase: 'BUILDING' } })
  assert.equal(deploying.status, 'BUILDING')
  assert.equal(isTransitional('app', deploying), true)
})

test('a GPU droplet maps like any other and keeps its GPU', () => {
  const mapped = mapItem('droplet', item('droplets.list.gpu-droplets', 'droplets'))
  assert.deepEqual(
    [mapped.provider_id, mapped.region, mapped.attrs.size_slug],
    ['448543583', 'tor1', 'gpu-h100x1-80gb'],
  )
  assert.deepEqual(mapped.attrs.gpu_info, {
    count: 1,
    model: 'nvidia_h100',
    vram: { amount: 80, unit: 'gib' },
  })
})

test('a reserved IPv6 address has its region and its own kind of name', () => {
  const mapped = mapItem('reserved_ip', item('reserved_ipv6.list', 'reserved_ipv6s'))
  assert.deepEqual(
    [mapped.provider_id, mapped.region, mapped.urn],
    ['fd53:616d:6d60::dc9:c001', 'nyc3', 'do:reservedipv6:fd53:616d:6d60::dc9:c001'],
  )
})

test('a reserved IP in use keeps the droplet’s id alone', () => {
  const raw = fixture('reserved_ips.get').reserved_ip as RawItem
  const droplet = mapItem('reserved_ip', raw).attrs.droplet as RawItem
  assert.deepEqual(Object.keys(droplet), ['id'])
})

test('fields a token may not see are absent, not null', () => {
  const { tags, image, volume_ids, vpc_uuid, backup_ids, snapshot_ids, ...rest } = item(
    'droplets.list',
    'droplets',
  )
  const mapped = mapItem('droplet', rest)
  assert.equal(Object.hasOwn(mapped, 'tags'), false)
  for (const field of ['image', 'volume_ids', 'vpc_uuid', 'backup_ids', 'snapshot_ids']) {
    assert.equal(Object.hasOwn(mapped.attrs, field), false, field)
  }
})

test('tags that are null are no tags', () => {
  assert.deepEqual(mapItem('volume', { id: 'v', tags: null }).tags, [])
})

test('the order of arrays, the backup window and the price table do not matter', () => {
  const raw = item('droplets.list', 'droplets')
  const shuffled = {
    ...raw,
    features: (raw.features as string[]).toReversed(),
    tags: (raw.tags as string[]).toReversed(),
    networks: {
      v6: [],
      ...(raw.networks as object),
      v4: (raw.networks as { v4: unknown[] }).v4.toReversed(),
    },
    next_backup_window: { start: '2026-01-01T00:00:00Z', end: '2026-01-01T23:00:00Z' },
    size: { ...(raw.size as object), price_monthly: 6, price_hourly: 0.01 },
    region: { ...(raw.region as object), sizes: [], features: [] },
  }
  assert.equal(JSON.stringify(mapItem('droplet', shuffled)), JSON.stringify(mapItem('droplet', raw)))
})

test('numbers are sorted as numbers', () => {
  assert.deepEqual(mapItem('volume', { id: 'v', droplet_ids: [10, 9, 100] }).attrs.droplet_ids, [9, 10, 100])
})

test('an order that means something is kept', () => {
  const expanders = ['random', 'priority']
  const mapped = mapItem('kubernetes_cluster', { id: 'k', cluster_autoscaler_configuration: { expanders } })
  assert.deepEqual(mapped.attrs.cluster_autoscaler_configuration, { expanders })
})

const secret = 'hunter2-is-secret'
const withSecrets: Partial<Record<Kind, RawItem>> = {
  database: {
    id: 'd',
    ...Object.fromEntries(
      ['connection', 'private_connection', 'standby_connection', 'standby_private_connection'].map(key => [
        key,
        { uri: `postgres://doadmin:${secret}@host/db`, password: secret, host: secret },
      ]),
    ),
    ui_connection: { password: secret, uri: secret },
    schema_registry_connection: { password: secret, uri: secret },
    ca_cert: secret,
    users: [{ name: 'doadmin', password: secret, access_cert: secret, access_key: secret }],
    something_new: { admin_password: secret, connection_uri: secret, api_key: secret, private_key: secret },
    notes: `postgres://doadmin:${secret}@host/db`,
  },
  kubernetes_cluster: {
    id: 'k',
    kubeconfig: secret,
    credentials: { token: secret, client_key_data: secret },
    certificate_authority_data: secret,
    sso: { client_id: 'public', client_secret: secret },
  },
  app: {
    id: 'a',
    spec: {
      name: 'app',
      envs: [{ key: 'A', type: 'SECRET', value: secret }],
      services: [
        {
          name: 's',
          envs: [{ key: 'DATABASE_URL', type: 'GENERAL', scope: 'RUN_TIME', value: secret }],
          image: { registry: 'r', registry_credentials: secret },
          git: { repo_clone_url: `https://me:${secret}@github.com/me/x.git` },
          log_destinations: [
            { name: 'dd', datadog: { endpoint: 'e', api_key: secret } },
            { name: 'lt', logtail: { token: secret } },
            { name: 'os', open_search: { basic_auth: { user: 'u', password: secret } } },
          ],
        },
      ],
    },
    active_deployment: { id: 'd', spec: { envs: [{ key: 'A', value: secret }] } },
  },
}

for (const [kind, raw] of Object.entries(withSecrets) as [Kind, RawItem][]) {
  test(`no secret of a ${kind} is in what is stored`, () => {
    const text = JSON.stringify(mapItem(kind, raw))
    assert.ok(!text.includes(secret), text)
  })
}

test('the names of an app’s environment stay without the values', () => {
  const spec = mapItem('app', withSecrets.app as RawItem).attrs.spec as {
    services: { envs: unknown; git: unknown }[]
  }
  assert.deepEqual(spec.services[0]?.envs, [{ key: 'DATABASE_URL', scope: 'RUN_TIME', type: 'GENERAL' }])
  assert.deepEqual(spec.services[0]?.git, { repo_clone_url: 'https://github.com/me/x.git' })
})

test('no official example’s password, certificate or key reaches what is stored', () => {
  const database = fixture('databases.get').database as RawItem
  const passwords = [...JSON.stringify(database).matchAll(/"password":"([^"]+)"/g)].map(
    ([, text]) => text as string,
  )
  assert.ok(passwords.length > 0)
  const text = JSON.stringify(mapItem('database', database))
  for (const password of passwords) assert.ok(!text.includes(password))
})

test('fields called __proto__ and constructor are only fields', () => {
  const raw = JSON.parse(
    '{"id":"k","__proto__":{"polluted":1},"constructor":"c","node_pools":[{"labels":{"__proto__":{"polluted":1},"toString":"x"}}]}',
  )
  const mapped = mapItem('kubernetes_cluster', raw)
  assert.equal((mapped.attrs as { polluted?: unknown }).polluted, undefined)
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  assert.deepEqual(Object.keys(mapped.attrs), ['__proto__', 'constructor', 'node_pools'])
  assert.match(JSON.stringify(mapped.attrs), /"labels":\{"__proto__":\{"polluted":1\},"toString":"x"\}/)
  assert.equal(isKind('constructor'), false)
})

test('mapping does not change what it was given', () => {
  const raw = item('databases.list', 'databases')
  const before = JSON.stringify(raw)
  mapItem('database', raw)
  assert.equal(JSON.stringify(raw), before)
})

test('an item without an id is refused, one with an empty name is named by its id', () => {
  assert.throws(() => mapItem('droplet', { name: 'x' }), /no usable id/)
  assert.equal(mapItem('app', { id: 'a', spec: { name: '' } }).name, 'a')
})

test('what the answer says nothing about is absent, what it says there is none of is null', () => {
  const silent = mapItem('droplet', { id: 1 })
  for (const field of ['name', 'region', 'status', 'tags']) assert.ok(!Object.hasOwn(silent, field), field)
  const none = mapItem('droplet', { id: 1, name: null, region: null, status: null, tags: null })
  assert.deepEqual([none.name, none.region, none.status, none.tags], ['1', null, null, []])
})

const moving: Partial<Record<Kind, string>> = {
  droplet: 'new',
  image: 'NEW',
  load_balancer: 'new',
  firewall: 'waiting',
  database: 'creating',
  kubernetes_cluster: 'provisioning',
  app: 'DEPLOYING',
}
for (const kind of kindNames) {
  test(`a ${kind} is in motion only in a status that will pass`, () => {
    const status = moving[kind]
    if (status) assert.equal(isTransitional(kind, { status }), true)
    for (const still of ['active', 'online', 'running', 'available', null]) {
      assert.equal(isTransitional(kind, { status: still }), false)
    }
  })
}

test('a project’s names lead back to kind and id, under either name of a reserved IP', () => {
  for (const kind of kindNames) {
    const urn = urnOf(kind, 'some:id')
    if (urn) assert.deepEqual(resourceOfUrn(urn), { kind, provider_id: 'some:id' })
  }
  const reserved = { kind: 'reserved_ip', provider_id: '1.2.3.4' }
  assert.deepEqual(resourceOfUrn('do:reservedip:1.2.3.4'), reserved)
  assert.deepEqual(resourceOfUrn('do:floatingip:1.2.3.4'), reserved)
  for (const other of ['do:space:assets', 'do:droplet:', 'droplet:1', '', 'do:constructor:1']) {
    assert.equal(resourceOfUrn(other), null)
  }
})
