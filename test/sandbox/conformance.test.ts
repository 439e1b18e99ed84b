// Every endpoint the sandbox serves answers as the official specification says, with something in it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generated } from '../../sandbox/world/generated.ts'
import { KINDS, namedUuid } from '../../sandbox/world/kinds.ts'
import { smallCompanyProjects } from '../../sandbox/world/small-company-resources.ts'
import { operationOf, violations } from './official-schema.ts'
import { setup } from './setup.ts'

const invoice = namedUuid('invoice:2026-08')
const volume = namedUuid('volume:acme-prod-uploads')

/** path → the member that must be there */
const reads: [path: string, member: string][] = [
  ['/v2/account', 'account'],
  ['/v2/account/keys', 'ssh_keys'],
  ['/v2/account/keys/512189', 'ssh_key'],
  ['/v2/actions', 'actions'],
  ['/v2/apps', 'apps'],
  [`/v2/apps/${namedUuid('app:acme-landing')}`, 'app'],
  ['/v2/customers/my/balance', 'month_to_date_balance'],
  ['/v2/customers/my/billing_history', 'billing_history'],
  ['/v2/customers/my/invoices', 'invoices'],
  [`/v2/customers/my/invoices/${invoice}`, 'invoice_items'],
  [`/v2/customers/my/invoices/${invoice}/summary`, 'product_charges'],
  ['/v2/databases', 'databases'],
  [`/v2/databases/${namedUuid('database:acme-prod-db')}`, 'database'],
  ['/v2/domains', 'domains'],
  ['/v2/domains/acme.example', 'domain'],
  ['/v2/droplets', 'droplets'],
  ['/v2/droplets?type=gpus', 'droplets'],
  ['/v2/droplets?tag_name=tenant:acme', 'droplets'],
  ['/v2/droplets?name=acme-prod-web-01', 'droplets'],
  ['/v2/droplets/41000201', 'droplet'],
  ['/v2/droplets/41000402', 'droplet'],
  ['/v2/firewalls', 'firewalls'],
  [`/v2/firewalls/${namedUuid('firewall:acme-prod-web')}`, 'firewall'],
  ['/v2/images', 'images'],
  ['/v2/images?private=true', 'images'],
  ['/v2/images/ubuntu-24-04-x64', 'image'],
  ['/v2/kubernetes/clusters', 'kubernetes_clusters'],
  [`/v2/kubernetes/clusters/${namedUuid('cluster:globex-prod-k8s')}`, 'kubernetes_cluster'],
  ['/v2/load_balancers', 'load_balancers'],
  [`/v2/load_balancers/${namedUuid('load_balancer:acme-prod-lb')}`, 'load_balancer'],
  ['/v2/projects', 'projects'],
  ['/v2/projects/default', 'project'],
  [`/v2/projects/${smallCompanyProjects.acme}`, 'project'],
  ['/v2/projects/default/resources', 'resources'],
  [`/v2/projects/${smallCompanyProjects.globex}/resources`, 'resources'],
  ['/v2/regions', 'regions'],
  ['/v2/registries', 'registries'],
  ['/v2/registry', 'registry'],
  ['/v2/reserved_ips', 'reserved_ips'],
  ['/v2/reserved_ips/198.18.9.20', 'reserved_ip'],
  ['/v2/reserved_ipv6', 'reserved_ipv6s'],
  ['/v2/sizes', 'sizes'],
  ['/v2/snapshots', 'snapshots'],
  ['/v2/snapshots?resource_type=volume', 'snapshots'],
  ['/v2/snapshots/177300301', 'snapshot'],
  ['/v2/tags', 'tags'],
  ['/v2/tags/tenant:acme', 'tag'],
  ['/v2/volumes', 'volumes'],
  ['/v2/volumes?name=acme-prod-uploads&region=nyc3', 'volumes'],
  [`/v2/volumes/${volume}`, 'volume'],
  [`/v2/volumes/${volume}/actions`, 'actions'],
  [`/v2/volumes/${volume}/snapshots`, 'snapshots'],
  ['/v2/vpcs', 'vpcs'],
  [`/v2/vpcs/${namedUuid('vpc:acme-prod')}`, 'vpc'],
  ['/v2/droplets/41000201/actions', 'actions'],
]

test('every read answers as the official specification says', async t => {
  const { api, get } = await setup(t)
  await api('POST', '/v2/droplets/41000201/actions', { type: 'reboot' })
  await api('POST', `/v2/volumes/${volume}/actions`, { type: 'resize', size_gigabytes: 300 })
  for (const [path, member] of reads) {
    assert.ok(operationOf('GET', path.split('?')[0]!), `${path} is in the specification`)
    const { status, body } = await get(path)
    assert.equal(status, 200, path)
    const value = (body as unknown as Record<string, unknown>)[member]
    assert.ok(Array.isArray(value) ? value.length > 0 : value, `${path} has ${member}`)
  }
})

test('a generated world conforms in every kind', async t => {
  const counts = {
    droplets: 2,
    gpuDroplets: 2,
    volumes: 2,
    snapshots: 2,
    images: 2,
    loadBalancers: 2,
    firewalls: 2,
  }
  const more = { reservedIps: 2, reservedIpv6: 2, vpcs: 2, domains: 2, sshKeys: 2, databases: 2, clusters: 2 }
  const { get } = await setup(t, { seed: generated({ ...counts, ...more, apps: 2, registries: 2 }) })
  for (const { path } of Object.values(KINDS)) assert.equal((await get(path)).status, 200, path)
  assert.equal((await get('/v2/droplets?type=gpus')).body.droplets.length, 2)
  assert.equal((await get('/v2/tags/generated')).body.tag.resources.count, 6)
  assert.equal((await get('/v2/projects/default/resources')).status, 200)
  assert.equal((await get('/v2/customers/my/invoices')).body.invoices.length, 2)
})

test('the two paths outside the excerpt of the specification answer one object each', async t => {
  const { get } = await setup(t)
  assert.equal((await get('/v2/registries/platform-images')).body.registry.name, 'platform-images')
  assert.equal((await get('/v2/reserved_ipv6/2001:db8:9::20')).body.reserved_ipv6.droplet?.id, 41_000_301)
})

test('the checker itself refuses an answer that does not conform', () => {
  const operation = operationOf('GET', '/v2/droplets/1')!
  assert.equal(operation.id, 'droplets_get')
  assert.notDeepEqual(violations(operation, 200, { droplet: { id: 'one' } }), [])
  assert.notDeepEqual(violations(operation, 299, {}), [])
})

test('without a token, or with a wrong one, the provider answers 401 in its own words', async t => {
  const { url, send } = await setup(t)
  for (const response of [
    await fetch(`${url}/v2/droplets`),
    await send('GET', '/v2/droplets', undefined, { authorization: 'Bearer wrong' }),
    await send('GET', '/v2/no-such-path', undefined, { authorization: 'Basic wrong' }),
  ]) {
    assert.equal(response.status, 401)
    const { id, message, request_id } = (await response.json()) as Record<string, string>
    assert.deepEqual({ id, message }, { id: 'unauthorized', message: 'Unable to authenticate you.' })
    assert.equal(request_id, response.headers.get('x-request-id'))
  }
})

test('what does not exist is 404, what cannot be read is 400, both in the provider’s shape', async t => {
  const { get, url } = await setup(t)
  for (const path of [
    '/v2/droplets/1',
    '/v2/volumes/nope',
    '/v2/domains/nope.example',
    '/v2/projects/nope',
    '/v2/x',
  ]) {
    const { status, body } = await get(path)
    assert.equal(status, 404, path)
    assert.equal(body.id, 'not_found')
  }
  const headers = { 'content-type': 'application/json', authorization: 'Bearer sandbox-provider-token' }
  const broken = await fetch(`${url}/v2/droplets`, { method: 'POST', headers, body: '{"name":' })
  assert.equal(broken.status, 400)
  assert.equal(((await broken.json()) as Record<string, string>).id, 'bad_request')
})

test('every answer says that it is simulated', async t => {
  const { url, get } = await setup(t)
  assert.equal((await get('/v2/account')).headers.get('x-sandbox'), 'simulated')
  assert.equal((await fetch(`${url}/v2/account`)).headers.get('x-sandbox'), 'simulated')
})

test('databases come unpaged, with the passwords and URIs the real provider shows', async t => {
  const { get } = await setup(t)
  const { body } = await get('/v2/databases')
  assert.equal(body.databases.length, 3)
  assert.equal(body.meta, undefined)
  for (const database of body.databases) {
    const { password, uri } = database.connection!
    assert.ok(password && uri?.includes(password))
    assert.equal(database.users?.[0]?.password, password)
  }
})
