import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProviderError } from '../../src/integrations/digitalocean/index.ts'
import { fixture, pageOf, type Reply, type Seen, setup } from './scripted-provider.ts'

const TAG = 'saga:1'
const order = { name: 'web-1', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64', region: 'nyc3', tags: [TAG] }
const droplet = { id: 1, name: 'web-1', status: 'new', tags: [TAG] }
const accepted: Reply = { status: 202, body: { droplet, links: { actions: [{ id: 77, rel: 'create' }] } } }
const missing: Reply = { status: 404, body: fixture('error.404') }
const refused = (message: string): Reply => ({ status: 422, body: { id: 'unprocessable_entity', message } })

const isCreate = ({ method, path }: Seen) => method === 'POST' && path === '/v2/droplets'
const isLookUp = ({ method, path }: Seen) => method === 'GET' && path === '/v2/droplets'
const sent = (requests: Seen[]) => requests.filter(isCreate).length

test('a create is looked up by its tag, then sent once', async t => {
  const { provider, requests } = await setup(t, request =>
    isCreate(request) ? accepted : pageOf('droplets', [], request.query),
  )
  assert.deepEqual(await provider.createDropletOnce(order, TAG), { dropletId: '1', actionId: '77' })
  assert.deepEqual(
    requests.map(({ method, query }) => [method, query.get('tag_name'), query.get('type')]),
    [
      ['GET', TAG, null],
      ['POST', null, null],
    ],
  )
})

test('a droplet that carries the tag already is the one that was asked for', async t => {
  const { provider, requests } = await setup(t, ({ query }) => pageOf('droplets', [droplet], query))
  assert.deepEqual(await provider.createDropletOnce(order, TAG), { dropletId: '1', actionId: null })
  assert.equal(sent(requests), 0)
})

test('a GPU droplet is looked for in its own listing too', async t => {
  const { provider } = await setup(t, ({ query }) =>
    pageOf('droplets', query.get('type') === 'gpus' ? [droplet] : [], query),
  )
  const made = await provider.createDropletOnce({ ...order, size: 'gpu-h100x1-80gb' }, TAG)
  assert.equal(made.dropletId, '1')
})

for (const [what, lost] of [
  ['whose connection breaks', { fault: 'reset' }],
  ['that answers 500', { status: 500, body: fixture('error.500') }],
  ['whose answer is cut', { ...accepted, fault: 'cut' }],
  ['whose answer names no droplet', { status: 202, body: {} }],
] as [string, Reply][]) {
  test(`a create ${what} is not sent again but looked for until its droplet turns up`, async t => {
    let looks = 0
    const { provider, requests } = await setup(t, request => {
      if (isCreate(request)) return lost
      return pageOf('droplets', ++looks > 3 ? [droplet] : [], request.query)
    })
    assert.deepEqual(await provider.createDropletOnce(order, TAG), { dropletId: '1', actionId: null })
    assert.equal(sent(requests), 1)
  })
}

test('a lost create whose droplet never turns up says that it may have happened', async t => {
  const { provider, requests, clock } = await setup(t, request =>
    isCreate(request) ? { fault: 'reset' } : pageOf('droplets', [], request.query),
  )
  const before = clock.now()
  await assert.rejects(
    provider.createDropletOnce(order, TAG),
    (error: ProviderError) => error.mayHaveHappened && /saga:1/.test(error.message),
  )
  assert.equal(sent(requests), 1)
  assert.ok(clock.now() - before > 10_000, 'with patience')
})

test('what the provider refuses is refused at once, in its words', async t => {
  const { provider, requests } = await setup(t, request =>
    isCreate(request) ? refused('You specified an invalid size.') : pageOf('droplets', [], request.query),
  )
  await assert.rejects(
    provider.createDropletOnce(order, TAG),
    (error: ProviderError) => !error.mayHaveHappened && /invalid size/.test(error.message),
  )
  assert.equal(sent(requests), 1)
})

test('a create that met the rate limit has not happened, and is sent after the wait', async t => {
  let creates = 0
  const { provider, clock } = await setup(t, request => {
    if (!isCreate(request)) return pageOf('droplets', [], request.query)
    return ++creates === 1 ? { status: 429, headers: { 'retry-after': '30' }, body: {} } : accepted
  })
  const before = clock.now()
  assert.equal((await provider.createDropletOnce(order, TAG)).dropletId, '1')
  assert.ok(clock.now() - before >= 30_000)
})

test('a droplet is waited for: its action first, then the droplet itself', async t => {
  let [actions, looks] = [0, 0]
  const { provider } = await setup(t, ({ path }) => {
    if (path === '/v2/actions/77')
      return {
        body: { action: { id: 77, type: 'create', status: ++actions > 4 ? 'completed' : 'in-progress' } },
      }
    return { body: { droplet: { ...droplet, status: ++looks > 1 ? 'active' : 'new' } } }
  })
  const active = await provider.waitForActiveDroplet({ dropletId: '1', actionId: '77' })
  assert.deepEqual([active.status, actions, looks], ['active', 5, 2])
})

test('an action that errored, a droplet that vanished and one that never boots end the wait with words', async t => {
  let status = 'errored'
  let found: Reply = missing
  const { provider } = await setup(t, ({ path }) =>
    path.startsWith('/v2/actions/') ? { body: { action: { id: 77, type: 'create', status } } } : found,
  )
  const wait = (actionId: string | null) => provider.waitForActiveDroplet({ dropletId: '1', actionId })
  await assert.rejects(wait('77'), /could not make the droplet 1/)
  status = 'completed'
  await assert.rejects(wait('77'), /droplet 1 is gone/)
  found = { body: { droplet } }
  await assert.rejects(wait(null), /not active within 10 minutes/)
})

test('the signal ends a wait', async t => {
  const { provider } = await setup(t, () => ({ body: { droplet } }))
  const ending = AbortSignal.abort(new Error('stopped'))
  const wait = provider.waitForActiveDroplet({ dropletId: '1', actionId: null }, { signal: ending })
  await assert.rejects(wait, /stopped/)
})

test('what carries the tag, and what is named and shows no tags, is destroyed until nothing is shown; 404 is as good', async t => {
  const alive = new Map<string, { id: number; tags?: string[] }>([
    ['1', droplet],
    ['2', { ...droplet, id: 2 }],
    ['3', { ...droplet, id: 3, tags: undefined }],
    ['4', { ...droplet, id: 4, tags: ['another'] }],
    ['5', { ...droplet, id: 5 }],
  ])
  let locked = 2
  const { provider, requests } = await setup(t, request => {
    if (isLookUp(request))
      return pageOf(
        'droplets',
        [...alive.values()].filter(({ tags }) => tags?.includes(TAG)),
        request.query,
      )
    const id = request.path.split('/').at(-1) as string
    const found = alive.get(id)
    if (!found) return missing
    if (request.method === 'GET') return { body: { droplet: found } }
    // A droplet in the middle of its creation is locked.
    if (id === '2' && locked-- > 0) return refused('Droplet is locked.')
    alive.delete(id)
    return { status: 204 }
  })
  const doomed = { tag: TAG, dropletIds: ['1', '3', '4', '404'], gpus: false }
  const seen = await provider.destroyDroplets({ ...doomed, spare: ids => ids.filter(id => id === '5') })
  assert.deepEqual(seen.map(({ id }) => id).sort(), [1, 2, 3])
  assert.deepEqual([...alive.keys()], ['4', '5'], 'one that lost its tag, and one that is spared')
  assert.equal(requests.filter(({ method, path }) => method === 'DELETE' && path.endsWith('/2')).length, 3)
})

test('where the outcome of a create is not known, nothing to be seen is not believed at once', async t => {
  let looks = 0
  let alive = true
  const { provider } = await setup(t, request => {
    if (request.method === 'DELETE') {
      alive = false
      return { status: 204 }
    }
    return pageOf('droplets', ++looks > 3 && alive ? [droplet] : [], request.query)
  })
  const seen = await provider.destroyDroplets({ tag: TAG, gpus: false, unsure: true })
  assert.deepEqual([seen.length, alive], [1, false])
})

test('a droplet that is still shown after its time is a failure, and so is a provider that stays away', async t => {
  let broken = false
  const { provider } = await setup(t, request => {
    if (broken) return { status: 503, body: {} }
    return request.method === 'DELETE' ? { status: 204 } : pageOf('droplets', [droplet], request.query)
  })
  await assert.rejects(provider.destroyDroplets({ tag: TAG, gpus: false }), /still shown/)
  broken = true
  await assert.rejects(provider.destroyDroplets({ tag: TAG, gpus: false }), /503/)
})
