// Droplets remember: they are made, boot by the clock, take actions one at a time, and go.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namedUuid } from '../../sandbox/world/kinds.ts'
import { setup } from './setup.ts'

const wanted = { name: 'acme-prod-web-03', region: 'nyc3', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' }

test('a created droplet is new, and active with addresses once the clock has passed the delay', async t => {
  const { api, get, clock } = await setup(t)
  const created = await api('POST', '/v2/droplets', { ...wanted, tags: ['saga:42'], monitoring: true })
  assert.equal(created.status, 202)
  const { droplet, links } = created.body
  assert.equal(droplet.status, 'new')
  assert.equal(droplet.created_at, '2026-09-15T12:00:00Z')
  assert.deepEqual(droplet.networks, { v4: [], v6: [] })
  assert.ok(droplet.features.includes('monitoring'))
  const action = `/v2/actions/${links.actions?.[0]?.id}`
  assert.equal((await get(action)).body.action.status, 'in-progress')

  clock.advance(4999)
  assert.equal((await get(`/v2/droplets/${droplet.id}`)).body.droplet.status, 'new')
  clock.advance(1)
  const { body } = await get(`/v2/droplets/${droplet.id}`)
  assert.equal(body.droplet.status, 'active')
  assert.equal(body.droplet.networks.v4?.length, 2)
  assert.equal((await get(action)).body.action.status, 'completed')
  assert.equal((await get(action)).body.action.completed_at, '2026-09-15T12:00:05Z')
})

test('a created droplet is found by its tag, by its name and in the default project', async t => {
  const { api, get } = await setup(t)
  const { id } = (await api('POST', '/v2/droplets', { ...wanted, tags: ['saga:42'] })).body.droplet
  const ids = async (path: string) => (await get(path)).body.droplets.map(droplet => droplet.id)
  assert.deepEqual(await ids('/v2/droplets?tag_name=saga:42'), [id])
  assert.deepEqual(await ids('/v2/droplets?name=ACME-prod-web-03'), [id])
  assert.deepEqual(await ids('/v2/droplets?tag_name=never'), [])
  const { resources } = (await get('/v2/projects/default/resources')).body
  assert.ok(resources.some(resource => resource.urn === `do:droplet:${id}`))
  assert.equal((await get('/v2/tags/saga:42')).body.tag.resources.droplets.count, 1)
})

test('there is no idempotency: the same create twice makes two droplets', async t => {
  const { api, get } = await setup(t)
  const first = (await api('POST', '/v2/droplets', wanted)).body.droplet.id
  const second = (await api('POST', '/v2/droplets', wanted)).body.droplet.id
  assert.notEqual(first, second)
  assert.equal((await get('/v2/droplets?name=acme-prod-web-03')).body.droplets.length, 2)
})

test('several names make several droplets at once', async t => {
  const { api } = await setup(t)
  const { name: _, ...rest } = wanted
  const { status, body } = await api('POST', '/v2/droplets', { ...rest, names: ['a.example', 'b.example'] })
  assert.equal(status, 202)
  assert.deepEqual(
    body.droplets.map(droplet => droplet.name),
    ['a.example', 'b.example'],
  )
  assert.equal(body.links.actions?.length, 2)
})

test('a create that the provider would refuse is 422 and makes nothing', async t => {
  const { api, world } = await setup(t)
  const before = world.shelves.droplet.size
  for (const wrong of [
    { name: undefined },
    { name: 'under_score' },
    { name: 7 },
    { region: 'mars1' },
    { size: 'xxl' },
    { size: 'gpu-h100x1-80gb' },
    { image: 'windows-3-11' },
    { image: undefined },
    { tags: ['not ok'] },
    { tags: 'web' },
    { vpc_uuid: 'nope' },
    { volumes: ['nope'] },
  ]) {
    const { status, body } = await api('POST', '/v2/droplets', { ...wanted, ...wrong })
    assert.equal(status, 422, JSON.stringify(wrong))
    assert.equal(body.id, 'unprocessable_entity')
    assert.ok(body.message.length > 0)
  }
  assert.equal(world.shelves.droplet.size, before)
})

test('the account’s droplet limit is kept', async t => {
  const { api, world } = await setup(t)
  world.account.droplet_limit = 9
  const { status, body } = await api('POST', '/v2/droplets', wanted)
  assert.equal(status, 422)
  assert.match(body.message, /droplet limit/)
})

test('a deleted droplet is gone from everywhere, and deleting it again is 404', async t => {
  const { api, get, world } = await setup(t)
  assert.equal((await api('DELETE', '/v2/droplets/41000301')).status, 204)
  assert.equal((await get('/v2/droplets/41000301')).status, 404)
  assert.equal((await api('DELETE', '/v2/droplets/41000301')).status, 404)
  assert.deepEqual(world.shelves.volume.get(namedUuid('volume:globex-prod-data'))?.droplet_ids, [])
  assert.equal((await get('/v2/reserved_ips/198.18.9.21')).body.reserved_ip.droplet, null)
  assert.deepEqual(
    world.shelves.load_balancer.get(namedUuid('load_balancer:globex-prod-lb'))?.droplet_ids,
    [],
  )
  assert.deepEqual(
    world.shelves.firewall.get(namedUuid('firewall:globex-prod-api'))?.droplet_ids,
    [41_000_302],
  )
  for (const resources of world.projectResources.values())
    assert.equal(resources.get('do:droplet:41000301'), undefined)
})

test('a delete by tag takes every droplet that carries it', async t => {
  const { api, world } = await setup(t)
  assert.equal((await api('DELETE', '/v2/droplets?tag_name=tenant:initech')).status, 204)
  assert.equal(world.shelves.droplet.size, 7)
  assert.equal(world.shelves.gpu_droplet.size, 0)
})

test('the plain listing leaves GPU droplets out; type=gpus lists them alone; both are found by id', async t => {
  const { api, get } = await setup(t)
  const names = async (path: string) => (await get(path)).body.droplets.map(droplet => droplet.name)
  assert.ok(!(await names('/v2/droplets')).includes('initech-train-01'))
  assert.deepEqual(await names('/v2/droplets?type=gpus'), ['initech-train-01'])
  assert.equal((await get('/v2/droplets?type=droplets')).body.meta.total, 8)
  assert.equal((await get('/v2/droplets/41000402')).body.droplet.gpu_info?.count, 1)
  await api('POST', '/v2/droplets', { ...wanted, region: 'tor1', size: 'gpu-h100x1-80gb', name: 'train-02' })
  assert.deepEqual(await names('/v2/droplets?type=gpus'), ['initech-train-01', 'train-02'])
  assert.equal((await get('/v2/droplets?type=gpus&tag_name=a')).status, 422)
  assert.equal((await get('/v2/droplets?type=abacus')).status, 422)
})

test('an action takes its time, locks the droplet meanwhile, and then shows its effect', async t => {
  const { api, get, clock } = await setup(t)
  const droplet = async () => (await get('/v2/droplets/41000201')).body.droplet
  const act = (body: object) => api('POST', '/v2/droplets/41000201/actions', body)

  assert.equal((await act({ type: 'resize', size: 's-4vcpu-8gb' })).status, 422)
  const off = await act({ type: 'power_off' })
  assert.equal(off.status, 201)
  assert.equal(off.body.action.status, 'in-progress')
  assert.equal((await droplet()).locked, true)
  assert.match((await act({ type: 'reboot' })).body.message, /pending event/)

  clock.advance(5000)
  assert.equal((await droplet()).status, 'off')
  assert.equal(
    (await get(`/v2/droplets/41000201/actions/${off.body.action.id}`)).body.action.status,
    'completed',
  )
  assert.equal((await act({ type: 'power_off' })).status, 422)

  await act({ type: 'resize', size: 's-4vcpu-8gb', disk: true })
  clock.advance(5000)
  const { size_slug, memory, disk } = await droplet()
  assert.deepEqual({ size_slug, memory, disk }, { size_slug: 's-4vcpu-8gb', memory: 8192, disk: 160 })

  for (const [body, check] of [
    [{ type: 'power_on' }, async () => (await droplet()).status === 'active'],
    [{ type: 'rename', name: 'renamed' }, async () => (await droplet()).name === 'renamed'],
    [{ type: 'enable_ipv6' }, async () => (await droplet()).features.includes('ipv6')],
    [{ type: 'disable_backups' }, async () => !(await droplet()).features.includes('backups')],
    [{ type: 'enable_backups' }, async () => (await droplet()).features.includes('backups')],
    [
      { type: 'rebuild', image: 'debian-12-x64' },
      async () => (await droplet()).image.slug === 'debian-12-x64',
    ],
    [{ type: 'power_cycle' }, async () => (await droplet()).status === 'active'],
    [{ type: 'password_reset' }, async () => true],
  ] as const) {
    assert.equal((await act(body)).status, 201, body.type)
    clock.advance(5000)
    assert.ok(await check(), body.type)
  }
  assert.equal((await act({ type: 'levitate' })).status, 422)
  const { actions, meta } = (await get('/v2/droplets/41000201/actions')).body
  assert.equal(meta.total, 10)
  assert.equal(actions[0]?.type, 'password_reset')
})

test('a snapshot of a droplet is a snapshot and a private image at once, until either is deleted', async t => {
  const { api, get, clock } = await setup(t)
  await api('POST', '/v2/droplets/41000201/actions', { type: 'snapshot', name: 'before-release' })
  clock.advance(5000)
  const { images } = (await get('/v2/images?private=true')).body
  const image = images.find(item => item.name === 'before-release')!
  assert.equal((await get(`/v2/snapshots/${image.id}`)).body.snapshot.resource_id, '41000201')
  assert.deepEqual((await get('/v2/droplets/41000201')).body.droplet.snapshot_ids, [image.id])
  assert.equal((await api('DELETE', `/v2/snapshots/${image.id}`)).status, 204)
  assert.equal((await get(`/v2/images/${image.id}`)).status, 404)
  assert.equal((await api('DELETE', '/v2/images/ubuntu-24-04-x64')).status, 403)
})

test('an action whose droplet is deleted meanwhile ends as errored', async t => {
  const { api, get, clock } = await setup(t)
  const { action } = (await api('POST', '/v2/droplets/41000201/actions', { type: 'reboot' })).body
  await api('DELETE', '/v2/droplets/41000201')
  clock.advance(5000)
  assert.equal((await get(`/v2/actions/${action.id}`)).body.action.status, 'errored')
  assert.equal((await get('/v2/actions/1')).status, 404)
})
