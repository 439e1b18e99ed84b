// The table of kinds, once more in words: where each is listed, which are tagged, what changes by itself, what is noise.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTransitional, type Kind, kindNames, mapItem } from '../../src/integrations/digitalocean/index.ts'
import { kindEntry } from '../../src/integrations/digitalocean/kinds.ts'

const LISTED: Record<Kind, string[]> = {
  droplet: ['/v2/droplets droplets paged', '/v2/droplets?type=gpus droplets paged'],
  volume: ['/v2/volumes volumes paged'],
  snapshot: ['/v2/snapshots snapshots paged'],
  image: ['/v2/images?private=true images paged'],
  load_balancer: ['/v2/load_balancers load_balancers paged'],
  reserved_ip: [
    '/v2/reserved_ips reserved_ips paged',
    '/v2/reserved_ipv6 reserved_ipv6s paged may be absent',
  ],
  firewall: ['/v2/firewalls firewalls paged'],
  vpc: ['/v2/vpcs vpcs paged'],
  domain: ['/v2/domains domains paged'],
  ssh_key: ['/v2/account/keys ssh_keys paged'],
  database: ['/v2/databases databases'],
  kubernetes_cluster: ['/v2/kubernetes/clusters kubernetes_clusters paged'],
  app: ['/v2/apps apps paged'],
  registry: ['/v2/registries registries'],
}

test('every kind is listed at its paths, under its key, in pages or at once', () => {
  for (const kind of kindNames) {
    const listed = kindEntry(kind).sources.map(({ path, query, key, paged, mayBeAbsent }) => {
      const search = query ? `?${new URLSearchParams(query)}` : ''
      return `${path}${search} ${key}${paged ? ' paged' : ''}${mayBeAbsent ? ' may be absent' : ''}`
    })
    assert.deepEqual(listed, LISTED[kind])
  }
})

test('some kinds have no tags', () => {
  const untagged = kindNames.filter(kind => !kindEntry(kind).tagged)
  const those: Kind[] = ['load_balancer', 'reserved_ip', 'vpc', 'domain', 'ssh_key', 'app', 'registry']
  assert.deepEqual(untagged, those)
})

test('a status that will change by itself is worth another look', () => {
  const moving: Partial<Record<Kind, string[]>> = {
    droplet: ['new'],
    image: ['NEW', 'pending'],
    load_balancer: ['new'],
    firewall: ['waiting'],
    database: ['creating', 'resizing', 'migrating', 'forking'],
    kubernetes_cluster: ['provisioning', 'upgrading', 'deleting'],
    app: ['PENDING_BUILD', 'BUILDING', 'PENDING_DEPLOY', 'DEPLOYING'],
  }
  for (const [kind, statuses] of Object.entries(moving))
    for (const status of statuses) assert.ok(isTransitional(kind as Kind, { status }), `${kind} ${status}`)
  for (const status of ['active', '', null, undefined]) assert.ok(!isTransitional('droplet', { status }))
})

test('an app’s progress is noise, its deployments are known by their ids, and its routes keep their order', () => {
  const deployment = { id: 'd', cause: 'x', phase: 'ACTIVE' }
  const rules = [{ b: 1 }, { a: 1 }]
  const app = mapItem('app', {
    id: 'a',
    spec: { name: 'x', ingress: { rules } },
    updated_at: 1,
    last_deployment_created_at: 1,
    last_deployment_active_at: 1,
    cause: 'x',
    progress: {},
    pending_deployment: { id: 'p', phase: 'PENDING_BUILD' },
    in_progress_deployment: null,
    active_deployment: deployment,
    pinned_deployment: deployment,
    domains: [{ id: 'm', progress: 1, validations: [], certificate_expires_at: 1 }],
  })
  assert.equal(app.status, 'PENDING_BUILD')
  assert.deepEqual(app.attrs, {
    spec: { name: 'x', ingress: { rules } },
    active_deployment: { id: 'd' },
    pinned_deployment: { id: 'd' },
    domains: [{ id: 'm' }],
  })
})
