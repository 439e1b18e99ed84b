// What belongs to what, and what breaks when one of them goes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Edge, lossesOf } from '../../src/features/inventory/relation.ts'
import type { Kind } from '../../src/integrations/digitalocean/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { haveProject, rowOf, see } from '../support/sweep.ts'

const CLUSTER = 'bd5f5959-5e1e-4205-a714-a914373942af'

/** One droplet with one of everything, and a second that only its load balancer and its network know. */
async function seed(bundle: Bundle): Promise<void> {
  const put = (kind: Kind, provider_id: string, attrs: object, tags: string[] = []) =>
    see(bundle, kind, [
      { provider_id, name: `${kind}-${provider_id}`, attrs: attrs as Record<string, unknown>, tags },
    ])
  await put('droplet', '1', { vpc_uuid: 'v', image: { id: 77, slug: null } }, [
    'web',
    ...['k8s', 'k8s:', `k8s:${CLUSTER}`, 'k8s:worker'],
  ])
  await put('droplet', '2', { vpc_uuid: 'v', image: { id: 5, slug: 'ubuntu' } }, ['other'])
  await put('vpc', 'v', {})
  await put('volume', 'vol', { droplet_ids: [1] })
  await put('reserved_ip', '192.0.2.1', { droplet: { id: 1 } })
  await put('firewall', 'by-id', { droplet_ids: [1] })
  await put('firewall', 'by-tag', { droplet_ids: [] }, ['web'])
  await put('firewall', 'neither', { droplet_ids: [11] }, ['db'])
  await put('load_balancer', 'lb', { droplet_ids: [1, 2], vpc_uuid: 'v' })
  await put('load_balancer', 'lb-tag', { droplet_ids: [], tag: 'web' })
  await put('snapshot', '99', { resource_id: '1', resource_type: 'droplet' })
  await put('snapshot', '98', { resource_id: '1', resource_type: 'volume' })
  await put('image', '77', {})
  await put('kubernetes_cluster', CLUSTER, { vpc_uuid: 'v' })
  await put('database', 'db', { private_network_uuid: 'v' })
}

interface Answered {
  resources: { id: string; kind: string; provider_id: string; depth: number }[]
  relations: Edge[]
  losses: { resource_id: string; effect: string; because_of: string }[]
  truncated: boolean
}

/** With kinds and the provider's ids in the place of ours. */
async function relations(bundle: Bundle, kind: Kind, id: string, query = '', token?: string) {
  const row = await rowOf(bundle, kind, id)
  const answer = await bundle.call('GET', `/api/v1/inventory/${row.id}/relations${query}`, { token })
  assert.equal(answer.status, 200, answer.text)
  const { resources, relations, losses, truncated } = answer.body.data as Answered
  const names = new Map(resources.map(one => [one.id, `${one.kind}:${one.provider_id}`]))
  return {
    resources: resources.map(one => `${one.depth} ${names.get(one.id)}`).sort(),
    relations: relations
      .map(one => `${names.get(one.from_id)} ${one.relation} ${names.get(one.to_id)}`)
      .sort(),
    losses: losses.map(one => `${names.get(one.resource_id)} ${one.effect}`).sort(),
    truncated,
  }
}

test('a droplet is shown with all that belongs to it, and what each loses without it', async t => {
  const bundle = await setup(t)
  await seed(bundle)
  const found = await relations(bundle, 'droplet', '1')
  assert.deepEqual(found.relations, [
    `droplet:1 in_vpc vpc:v`,
    'droplet:1 made_from image:77',
    `droplet:1 node_of kubernetes_cluster:${CLUSTER}`,
    'firewall:by-id protects droplet:1',
    'firewall:by-tag protects droplet:1',
    'kubernetes_cluster:bd5f5959-5e1e-4205-a714-a914373942af in_vpc vpc:v',
    'load_balancer:lb in_vpc vpc:v',
    'load_balancer:lb serves droplet:1',
    'load_balancer:lb-tag serves droplet:1',
    'reserved_ip:192.0.2.1 assigned_to droplet:1',
    'snapshot:99 snapshot_of droplet:1',
    'volume:vol attached_to droplet:1',
  ])
  assert.deepEqual(found.losses, [
    `kubernetes_cluster:${CLUSTER} loses_node`,
    'load_balancer:lb loses_backend',
    'load_balancer:lb-tag loses_last_backend',
    'reserved_ip:192.0.2.1 unassigned',
    'snapshot:99 orphaned',
    'volume:vol detached',
  ])
  assert.deepEqual([found.resources[0], found.resources.length, found.truncated], ['0 droplet:1', 11, false])
  const deeper = await relations(bundle, 'droplet', '1', '?depth=2')
  assert.deepEqual(
    deeper.resources.filter(one => one.startsWith('2')),
    ['2 database:db', '2 droplet:2'],
  )
})

test('each is found from its other end too', async t => {
  const bundle = await setup(t)
  await seed(bundle)
  const losses = async (kind: Kind, id: string, query = '') =>
    (await relations(bundle, kind, id, query)).losses
  assert.deepEqual(await losses('vpc', 'v'), [
    'database:db refuses',
    'droplet:1 refuses',
    'droplet:2 refuses',
    `kubernetes_cluster:${CLUSTER} refuses`,
    'load_balancer:lb refuses',
  ])
  assert.deepEqual(await losses('volume', 'vol'), ['droplet:1 loses_disk'])
  assert.deepEqual(await losses('reserved_ip', '192.0.2.1'), ['droplet:1 loses_address'])
  assert.deepEqual(await losses('firewall', 'by-tag'), ['droplet:1 unprotected'])
  assert.deepEqual(await losses('load_balancer', 'lb-tag'), ['droplet:1 loses_traffic'])
  assert.deepEqual(await losses('image', '77'), ['droplet:1 cannot_be_rebuilt'])
  assert.deepEqual(await losses('snapshot', '99'), [])
  assert.deepEqual(await losses('firewall', 'neither'), [])
  const cluster = await losses('kubernetes_cluster', CLUSTER, '?depth=2')
  assert.ok(
    cluster.includes('droplet:1 destroyed') && cluster.includes('volume:vol detached'),
    String(cluster),
  )
})

test('a tenant is shown its own alone, and 404 for what is another’s or gone', async t => {
  const bundle = await setup(t)
  await haveProject(bundle, 'p', 'acme', [
    ['droplet', '1'],
    ['volume', 'vol'],
  ])
  await haveProject(bundle, 'q', 'globex', [['load_balancer', 'lb']])
  await seed(bundle)
  const token = await bundle.tokens.tenant('acme')
  const found = await relations(bundle, 'droplet', '1', '?depth=3', token)
  assert.deepEqual(found.relations, ['volume:vol attached_to droplet:1'])
  assert.deepEqual(found.resources, ['0 droplet:1', '1 volume:vol'])
  const get = async (id: string, query = '') =>
    (await bundle.call('GET', `/api/v1/inventory/${id}/relations${query}`, { token })).status
  assert.equal(await get((await rowOf(bundle, 'load_balancer', 'lb')).id), 404)
  assert.equal(await get(newId()), 404)
  assert.equal(await get(newId(), '?depth=4'), 422)
})

test('what goes with a resource loses nothing else, and the last of its backends is said to be', () => {
  const serves = (to_id: string): Edge => ({ from_id: 'lb', relation: 'serves', to_id })
  const node = (from_id: string): Edge => ({ from_id, relation: 'node_of', to_id: 'cluster' })
  const edges: Edge[] = [
    node('a'),
    node('b'),
    serves('a'),
    serves('b'),
    { from_id: 'a', relation: 'made_from', to_id: 'cluster' },
  ]
  assert.deepEqual(lossesOf('cluster', edges), [
    { resource_id: 'a', effect: 'destroyed', because_of: 'cluster' },
    { resource_id: 'b', effect: 'destroyed', because_of: 'cluster' },
    { resource_id: 'lb', effect: 'loses_last_backend', because_of: 'a' },
    { resource_id: 'lb', effect: 'loses_last_backend', because_of: 'b' },
  ])
  assert.deepEqual(lossesOf('a', edges), [
    { resource_id: 'cluster', effect: 'loses_node', because_of: 'a' },
    { resource_id: 'lb', effect: 'loses_backend', because_of: 'a' },
  ])
  assert.deepEqual(lossesOf('lb', edges), [
    { resource_id: 'a', effect: 'loses_traffic', because_of: 'lb' },
    { resource_id: 'b', effect: 'loses_traffic', because_of: 'lb' },
  ])
  assert.deepEqual(lossesOf('nothing', edges), [])
})
