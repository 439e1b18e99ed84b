// The other kinds remember too: made, changed over time, refused where the provider would, deleted once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namedUuid } from '../../sandbox/world/kinds.ts'
import { smallCompanyProjects } from '../../sandbox/world/small-company-resources.ts'
import { setup } from './setup.ts'

test('a volume is made, attached, grown, detached and deleted, each in its time', async t => {
  const { api, get, clock } = await setup(t)
  const made = await api('POST', '/v2/volumes', {
    name: 'cache',
    region: 'nyc3',
    size_gigabytes: 10,
    tags: ['x'],
  })
  assert.equal(made.status, 201)
  const path = `/v2/volumes/${made.body.volume.id}`
  const act = (body: object) => api('POST', `${path}/actions`, body)
  const volume = async () => (await get(path)).body.volume

  assert.equal((await act({ type: 'attach', droplet_id: 41_000_301 })).status, 422, 'another region')
  const { status, body } = await act({ type: 'attach', droplet_id: 41_000_201 })
  assert.equal(status, 202)
  assert.equal(body.action.type, 'attach_volume')
  assert.deepEqual((await volume()).droplet_ids, [])
  clock.advance(5000)
  assert.deepEqual((await volume()).droplet_ids, [41_000_201])
  assert.ok((await get('/v2/droplets/41000201')).body.droplet.volume_ids.includes(made.body.volume.id))
  assert.equal((await get(`${path}/actions/${body.action.id}`)).body.action.status, 'completed')

  assert.equal((await api('DELETE', path)).status, 409, 'attached')
  assert.equal((await act({ type: 'resize', size_gigabytes: 5 })).status, 422, 'smaller')
  await act({ type: 'resize', size_gigabytes: 20 })
  await act({ type: 'detach', droplet_id: 41_000_201 })
  clock.advance(5000)
  assert.equal((await volume()).size_gigabytes, 20)
  assert.deepEqual((await volume()).droplet_ids, [])

  assert.equal((await api('POST', `${path}/snapshots`, { name: 'kept' })).status, 201)
  assert.equal((await get(`${path}/snapshots`)).body.snapshots[0]?.name, 'kept')
  assert.equal((await api('DELETE', path)).status, 204)
  assert.equal((await api('DELETE', path)).status, 404)
})

test('a volume’s name is unique in its region only', async t => {
  const { api } = await setup(t)
  const make = (region: string) => api('POST', '/v2/volumes', { name: 'data', region, size_gigabytes: 1 })
  assert.deepEqual(
    [(await make('nyc3')).status, (await make('fra1')).status, (await make('nyc3')).status],
    [201, 201, 409],
  )
})

test('a reserved address is made, pointed at a droplet, taken back and released', async t => {
  const { api, get, clock } = await setup(t)
  const free = await api('POST', '/v2/reserved_ips', {
    region: 'nyc3',
    project_id: smallCompanyProjects.acme,
  })
  assert.equal(free.status, 202)
  const path = `/v2/reserved_ips/${free.body.reserved_ip.ip}`
  assert.equal((await api('POST', `${path}/actions`, { type: 'assign', droplet_id: 41_000_201 })).status, 201)
  assert.equal((await get(path)).body.reserved_ip.locked, true)
  assert.equal((await api('POST', `${path}/actions`, { type: 'unassign' })).status, 422, 'pending')
  clock.advance(5000)
  assert.equal((await get(path)).body.reserved_ip.droplet?.name, 'acme-prod-web-01')
  await api('POST', `${path}/actions`, { type: 'unassign' })
  clock.advance(5000)
  assert.equal((await get(path)).body.reserved_ip.droplet, null)
  assert.equal((await api('DELETE', path)).status, 204)
  assert.equal((await get(path)).status, 404)

  const bound = await api('POST', '/v2/reserved_ips', { droplet_id: 41_000_202 })
  assert.equal(bound.body.links.actions?.[0]?.rel, 'assign_ip')
  assert.equal((await api('POST', '/v2/reserved_ips', { droplet_id: 1 })).status, 422)
})

test('what is provisioned slowly says so until the clock has passed', async t => {
  const { api, get, clock } = await setup(t)
  const balancer = await api('POST', '/v2/load_balancers', {
    name: 'new-lb',
    region: 'nyc3',
    droplet_ids: [41_000_201],
    forwarding_rules: [{ entry_protocol: 'http', entry_port: 80, target_protocol: 'http', target_port: 80 }],
  })
  const database = await api('POST', '/v2/databases', {
    name: 'new-db',
    engine: 'pg',
    version: '17',
    size: 'db-s-1vcpu-2gb',
    region: 'nyc3',
    num_nodes: 1,
    project_id: smallCompanyProjects.acme,
  })
  const cluster = await api('POST', '/v2/kubernetes/clusters', {
    name: 'new-k8s',
    region: 'nyc1',
    version: '1.33.1-do.2',
    node_pools: [{ name: 'pool', size: 's-2vcpu-4gb', count: 2 }],
  })
  const firewall = await api('POST', '/v2/firewalls', {
    name: 'new-wall',
    inbound_rules: [{ protocol: 'tcp', ports: '22', sources: { addresses: ['192.0.2.0/24'] } }],
    tags: ['role:new'],
  })
  assert.deepEqual([balancer.status, database.status, cluster.status, firewall.status], [202, 201, 201, 202])
  const states = async () => [
    (await get(`/v2/load_balancers/${balancer.body.load_balancer.id}`)).body.load_balancer.status,
    (await get(`/v2/databases/${database.body.database.id}`)).body.database.status,
    (await get(`/v2/kubernetes/clusters/${cluster.body.kubernetes_cluster.id}`)).body.kubernetes_cluster
      .status?.state,
    (await get(`/v2/firewalls/${firewall.body.firewall.id}`)).body.firewall.status,
  ]
  assert.deepEqual(await states(), ['new', 'creating', 'provisioning', 'waiting'])
  clock.advance(5000)
  assert.deepEqual(await states(), ['active', 'online', 'running', 'succeeded'])

  const resize = { size: 'db-s-2vcpu-4gb', num_nodes: 2 }
  assert.equal((await api('PUT', `/v2/databases/${database.body.database.id}/resize`, resize)).status, 202)
  assert.equal((await states())[1], 'resizing')
  clock.advance(5000)
  assert.equal((await get(`/v2/databases/${database.body.database.id}`)).body.database.size, 'db-s-2vcpu-4gb')
})

test('an image is sent to another region by an action, which the list of all actions shows too', async t => {
  const { api, get, clock } = await setup(t)
  const path = '/v2/images/177300100'
  const { regions } = (await get(path)).body.image
  const started = await api('POST', `${path}/actions`, { type: 'transfer', region: 'sgp1' })
  const { id, resource_id, resource_type, status } = started.body.action
  assert.deepEqual([resource_id, resource_type, status], [177_300_100, 'image', 'in-progress'])
  assert.deepEqual((await get('/v2/actions')).body.actions[0]?.id, id)
  clock.advance(5000)
  assert.deepEqual((await get(path)).body.image.regions, [...regions!, 'sgp1'])
  assert.equal((await get(`${path}/actions/${id}`)).body.action.status, 'completed')
  assert.equal((await get(`${path}/actions`)).body.actions.length, 1)
  for (const body of [{ type: 'transfer', region: 'sgp1' }, { type: 'convert' }, { type: 'shrink' }])
    assert.equal((await api('POST', `${path}/actions`, body)).status, 422)
})

test('the remaining kinds are made and deleted, the second delete being 404', async t => {
  const { api } = await setup(t)
  const vpc = await api('POST', '/v2/vpcs', { name: 'lab', region: 'nyc3' })
  const key = await api('POST', '/v2/account/keys', { name: 'new', public_key: 'ssh-ed25519 AAAAtest new' })
  const domain = await api('POST', '/v2/domains', { name: 'new.example' })
  const app = await api('POST', '/v2/apps', { spec: { name: 'new-app', region: 'nyc' } })
  assert.deepEqual([vpc.status, key.status, domain.status, app.status], [201, 201, 201, 200])
  for (const [path, first] of [
    [`/v2/vpcs/${vpc.body.vpc.id}`, 204],
    [`/v2/account/keys/${key.body.ssh_key.fingerprint}`, 204],
    ['/v2/domains/new.example', 204],
    [`/v2/apps/${app.body.app.id}`, 200],
    [`/v2/load_balancers/${namedUuid('load_balancer:acme-prod-lb')}`, 204],
    [`/v2/databases/${namedUuid('database:acme-prod-db')}`, 204],
    [`/v2/kubernetes/clusters/${namedUuid('cluster:globex-prod-k8s')}`, 204],
    [`/v2/firewalls/${namedUuid('firewall:platform-ssh')}`, 204],
    ['/v2/images/177300100', 204],
  ] as const) {
    assert.equal((await api('DELETE', path)).status, first, path)
    assert.equal((await api('DELETE', path)).status, 404, path)
  }
})

test('what the provider would refuse is refused', async t => {
  const { api } = await setup(t)
  for (const [method, path, body, status] of [
    ['POST', '/v2/domains', { name: 'acme.example' }, 422],
    ['POST', '/v2/domains', { name: 'not a name' }, 422],
    ['POST', '/v2/account/keys', { name: 'x', public_key: 'rubbish' }, 422],
    ['POST', '/v2/vpcs', { name: 'acme-prod', region: 'nyc3' }, 422],
    ['DELETE', `/v2/vpcs/${namedUuid('vpc:acme-prod')}`, undefined, 409],
    ['DELETE', `/v2/vpcs/${namedUuid('vpc:default-nyc3')}`, undefined, 403],
    ['POST', '/v2/apps', { spec: { name: 'acme-landing' } }, 409],
    ['POST', '/v2/apps', {}, 422],
    ['POST', '/v2/databases', { name: 'x', engine: 'abacus' }, 422],
    ['POST', '/v2/kubernetes/clusters', { name: 'x', region: 'nyc1', version: '1', node_pools: [] }, 422],
    ['POST', '/v2/firewalls', { name: 'no-rules' }, 422],
    ['POST', '/v2/load_balancers', { name: 'x', region: 'nyc3', forwarding_rules: [] }, 422],
    ['POST', '/v2/volumes', { name: 'x', region: 'nyc3', size_gigabytes: '10' }, 422],
    ['POST', '/v2/volumes', [], 422],
    ['POST', '/v2/tags', { name: 'not ok' }, 422],
  ] as const) {
    assert.equal((await api(method, path, body)).status, status, `${method} ${path}`)
  }
})

test('a project is made, changed, made the default, and deleted only when empty', async t => {
  const { api, get } = await setup(t)
  const made = await api('POST', '/v2/projects', { name: 'umbrella', purpose: 'Web Application' })
  assert.equal(made.status, 201)
  const path = `/v2/projects/${made.body.project.id}`
  assert.equal((await api('POST', '/v2/projects', { name: 'umbrella', purpose: 'x' })).status, 409)
  assert.equal((await api('PATCH', path, { description: 'changed' })).body.project.description, 'changed')
  assert.equal((await api('PUT', path, { name: 'only' })).status, 422)
  const whole = { name: 'u2', description: 'd', purpose: 'p', environment: 'Staging', is_default: false }
  assert.equal((await api('PUT', path, whole)).body.project.name, 'u2')
  await api('PATCH', path, { is_default: true })
  assert.equal((await get('/v2/projects/default')).body.project.id, made.body.project.id)
  assert.equal((await get('/v2/projects')).body.projects.filter(project => project.is_default).length, 1)
  assert.equal((await api('DELETE', path)).status, 412)
  assert.equal((await api('DELETE', `/v2/projects/${smallCompanyProjects.acme}`)).status, 412)
  await api('PATCH', `/v2/projects/${smallCompanyProjects.platform}`, { is_default: true })
  assert.equal((await api('DELETE', path)).status, 204)
})

test('assigning a resource moves it, and says what became of each URN', async t => {
  const { api, get } = await setup(t)
  const database = namedUuid('database:acme-prod-db')
  const { acme, globex } = smallCompanyProjects
  const resources = [`do:dbaas:${database}`, 'do:droplet:41000301', 'do:droplet:1', 'do:droplet:41000402']
  const { body } = await api('POST', `/v2/projects/${globex}/resources`, { resources })
  assert.deepEqual(
    body.resources.map(resource => resource.status),
    ['assigned', 'already_assigned', 'not_found', 'assigned'],
  )
  const urns = async (project: string) =>
    (await get(`/v2/projects/${project}/resources?per_page=200`)).body.resources.map(resource => resource.urn)
  assert.ok((await urns(globex)).includes(`do:dbaas:${database}`))
  assert.ok(!(await urns(acme)).includes(`do:dbaas:${database}`))
  assert.equal((await get(`/v2/databases/${database}`)).body.database.project_id, globex)
  assert.equal((await api('POST', `/v2/projects/${globex}/resources`, { resources: ['what'] })).status, 422)
})

test('a tag is made, put on resources, taken off and deleted', async t => {
  const { api, get } = await setup(t)
  assert.equal((await api('POST', '/v2/tags', { name: 'blue' })).status, 201)
  const resources = [{ resource_id: '41000201', resource_type: 'droplet' }]
  assert.equal((await api('POST', '/v2/tags/blue/resources', { resources })).status, 204)
  assert.equal((await get('/v2/droplets?tag_name=blue')).body.meta.total, 1)
  assert.equal((await api('DELETE', '/v2/tags/blue/resources', { resources })).status, 204)
  assert.equal((await get('/v2/droplets?tag_name=blue')).body.meta.total, 0)
  assert.equal((await api('DELETE', '/v2/tags/role:web')).status, 204)
  assert.ok(!(await get('/v2/droplets/41000201')).body.droplet.tags.includes('role:web'))
  assert.equal((await get('/v2/tags/role:web')).status, 404)
  const long = 'x'.repeat(255)
  await api('POST', '/v2/tags', { name: long })
  assert.equal((await get(`/v2/tags/${long}`)).body.tag.name, long)
})
