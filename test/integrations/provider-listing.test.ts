import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindNames, ProviderBusyError } from '../../src/integrations/digitalocean/index.ts'
import { fixture, numbered, pageOf, type Reply, type Script, serve, setup } from './scripted-provider.ts'

const next = (page: number | string) => ({
  pages: { next: `https://api.digitalocean.com/v2/volumes?page=${page}` },
})

/** Answers /v2/volumes by page; a page not scripted is a 500. */
function volumes(pages: Record<number, Reply>): Script {
  return ({ query }) => pages[Number(query.get('page'))] ?? { status: 500, body: {} }
}

function volumePage(ids: number[], total: unknown, links: unknown = {}): Reply {
  return { body: { volumes: ids.map(id => ({ id: String(id) })), links, meta: { total } } }
}

test('a listing of several pages is whole when every page answered and the count agrees', async t => {
  const items = numbered(5)
  const { provider, requests } = await setup(t, ({ query }) => pageOf('volumes', items, query), {
    perPage: 2,
  })
  const listing = await provider.list('volume')
  assert.deepEqual(listing, { items, complete: true, pages: 3, total: 5, reason: null })
  assert.deepEqual(
    requests.map(({ query }) => query.get('page')),
    ['1', '2', '3'],
  )
})

test('pages are asked for by 200', async t => {
  const { provider, requests } = await setup(t, ({ query }) => pageOf('volumes', numbered(1), query))
  await provider.list('volume')
  assert.equal(requests[0]?.query.get('per_page'), '200')
})

test('an empty account has a whole listing of nothing', async t => {
  const { provider } = await setup(t, () => volumePage([], 0))
  assert.deepEqual(await provider.list('volume'), {
    items: [],
    complete: true,
    pages: 1,
    total: 0,
    reason: null,
  })
})

test('droplets are the plain and the GPU listing together', async t => {
  const { provider, requests } = await setup(t, ({ query }) => ({
    body: fixture(query.get('type') === 'gpus' ? 'droplets.list.gpu-droplets' : 'droplets.list'),
  }))
  const { items, complete, total } = await provider.list('droplet')
  assert.deepEqual([complete, total], [true, 4])
  assert.deepEqual(
    items.map(({ id }) => id),
    [3164444, 3164459, 3164412, 448543583],
  )
  assert.deepEqual(
    requests.map(({ query }) => query.get('type')),
    [null, 'gpus'],
  )
})

test('droplets are not whole when the GPU listing fails, but what was seen is returned', async t => {
  const { provider } = await setup(t, ({ query }) =>
    query.get('type') === 'gpus'
      ? { status: 403, body: fixture('error.401') }
      : { body: fixture('droplets.list') },
  )
  const { items, complete, reason } = await provider.list('droplet')
  assert.equal(complete, false)
  assert.equal(items.length, 3)
  assert.match(reason ?? '', /^\/v2\/droplets\?type=gpus: page 1: the provider answered 403/)
})

test('an item under two endpoints is one item', async t => {
  const { provider } = await setup(t, ({ query }) => pageOf('droplets', numbered(2), query))
  const listing = await provider.list('droplet')
  assert.deepEqual([listing.complete, listing.total, listing.items.length], [true, 2, 2])
})

test('only the account’s own images are listed', async t => {
  const { provider, requests } = await setup(t, ({ query }) => pageOf('images', numbered(1), query))
  await provider.list('image')
  assert.equal(requests[0]?.query.get('private'), 'true')
})

test('reserved IPs are the IPv4 and the IPv6 ones together', async t => {
  const { provider } = await setup(t, ({ path, query }) =>
    path === '/v2/reserved_ipv6'
      ? pageOf('reserved_ipv6s', [{ ip: 'fd53::1', region_slug: 'nyc3' }], query)
      : pageOf('reserved_ips', [{ ip: '45.55.96.47' }], query),
  )
  const { items, complete } = await provider.list('reserved_ip')
  assert.equal(complete, true)
  assert.deepEqual(
    items.map(({ ip }) => ip),
    ['45.55.96.47', 'fd53::1'],
  )
})

test('an account that is not offered IPv6 addresses still has a whole listing of its reserved IPs', async t => {
  const { provider } = await setup(t, ({ path, query }) =>
    path === '/v2/reserved_ipv6'
      ? { status: 404, body: fixture('error.404') }
      : pageOf('reserved_ips', [{ ip: '45.55.96.47' }], query),
  )
  assert.equal((await provider.list('reserved_ip')).complete, true)
})

test('databases and registries come in one answer without a total', async t => {
  const { provider, requests } = await setup(t, ({ path }) => ({
    body: fixture(path === '/v2/databases' ? 'databases.list' : 'registries.list'),
  }))
  for (const kind of ['database', 'registry'] as const) {
    const { complete, total, pages, items } = await provider.list(kind)
    assert.deepEqual([complete, total, pages], [true, null, 1])
    assert.ok(items.length > 0)
  }
  assert.deepEqual(
    requests.map(({ query }) => query.size),
    [0, 0],
  )
})

test('a database answer that names a next page is not taken for whole', async t => {
  const { provider } = await setup(t, () => ({ body: { databases: [{ id: 'a' }], links: next(2) } }))
  const { complete, reason } = await provider.list('database')
  assert.equal(complete, false)
  assert.match(reason ?? '', /next page/)
})

for (const kind of kindNames) {
  test(`a ${kind} listing without its list is not whole`, async t => {
    const { provider } = await setup(t, () => ({ body: { links: {}, meta: { total: 0 } } }))
    const { complete, items, reason } = await provider.list(kind)
    assert.deepEqual([complete, items], [false, []])
    assert.match(reason ?? '', /has no list named/)
  })
}

const faults: Record<string, { pages: Record<number, Reply>; because: RegExp }> = {
  'the next page is the same again': {
    pages: { 1: volumePage([1, 2], 4, next(2)), 2: volumePage([3], 4, next(2)) },
    because: /page 2 names page 2 as the next/,
  },
  'the pages loop': {
    pages: { 1: volumePage([1, 2], 9, next(2)), 2: volumePage([3, 4], 9, next(1)) },
    because: /page 2 names page 1/,
  },
  'a page is skipped': {
    pages: { 1: volumePage([1, 2], 9, next(3)), 3: volumePage([5], 9) },
    because: /page 1 names page 3/,
  },
  'the next page repeats the items': {
    pages: { 1: volumePage([1, 2], 4, next(2)), 2: volumePage([1, 2], 4, next(3)) },
    because: /page 2 repeats/,
  },
  'a page is empty but names a next': {
    pages: { 1: volumePage([1, 2], 4, next(2)), 2: volumePage([], 4, next(3)) },
    because: /page 2 is empty/,
  },
  'the link names no page': {
    pages: { 1: volumePage([1], 4, { pages: { next: 'https://api.digitalocean.com/v2/volumes' } }) },
    because: /names no page/,
  },
  'the link is no text': {
    pages: { 1: volumePage([1], 4, { pages: { next: { page: 2 } } }) },
    because: /names no page/,
  },
  'fewer items came than are counted': {
    pages: { 1: volumePage([1, 2], 3) },
    because: /2 distinct .* counts 3/,
  },
  'more items came than are counted': {
    pages: { 1: volumePage([1, 2], 1) },
    because: /2 distinct .* counts 1/,
  },
  'an item counted twice hides a missing one': {
    pages: { 1: volumePage([1, 2], 4, next(2)), 2: volumePage([2, 3], 4) },
    because: /3 distinct .* counts 4/,
  },
  'the total changes between pages': {
    pages: { 1: volumePage([1, 2], 3, next(2)), 2: volumePage([3, 4], 4) },
    because: /total changed from 3 to 4 on page 2/,
  },
  'there is no total': {
    pages: { 1: { body: { volumes: [{ id: 'a' }], links: {} } } },
    because: /stated no total/,
  },
  'the total is no count': { pages: { 1: volumePage([1], '1') }, because: /total is not a count/ },
  'the answer is empty': { pages: { 1: { body: '' } }, because: /answer is empty/ },
  'the answer is 204': { pages: { 1: { status: 204 } }, because: /answer is empty/ },
  'the answer is HTML': { pages: { 1: { body: '<html>Sign in</html>' } }, because: /HTML, not JSON/ },
  'the JSON is cut': { pages: { 1: { body: '{"volumes":[{"id":"a"}' } }, because: /cut or not JSON/ },
  'the JSON is a list': { pages: { 1: { body: '[]' } }, because: /not an object/ },
  'the text is not UTF-8': {
    pages: { 1: { body: Buffer.from('{"volumes":[],"x":"\xff"}', 'latin1') } },
    because: /not UTF-8/,
  },
  'the list is an object': {
    pages: { 1: { body: { volumes: {}, meta: { total: 0 } } } },
    because: /no list named/,
  },
  'an item has no id': {
    pages: { 1: { body: { volumes: [{}], meta: { total: 1 } } } },
    because: /no usable id/,
  },
  'an item is null': {
    pages: { 1: { body: { volumes: [null], meta: { total: 1 } } } },
    because: /no usable id/,
  },
  'a later page fails for good': { pages: { 1: volumePage([1, 2], 4, next(2)) }, because: /page 2: .* 500/ },
}

for (const [what, { pages, because }] of Object.entries(faults)) {
  test(`a listing is not whole when ${what}`, async t => {
    const { provider } = await setup(t, volumes(pages), { attempts: 1 })
    const { complete, reason } = await provider.list('volume')
    assert.equal(complete, false)
    assert.match(reason ?? '', because)
  })
}

test('a null list beside a total of nothing is an empty listing', async t => {
  const { provider } = await setup(t, () => ({ body: { apps: null, meta: { total: 0 } } }))
  assert.equal((await provider.list('app')).complete, true)
})

test('a listing that never ends stops at the page cap', async t => {
  const { provider, requests } = await setup(
    t,
    ({ query }) => {
      const page = Number(query.get('page'))
      return volumePage([page], 1_000_000, next(page + 1))
    },
    { maxPages: 5 },
  )
  const { complete, reason, pages } = await provider.list('volume')
  assert.deepEqual([complete, pages, requests.length], [false, 5, 5])
  assert.match(reason ?? '', /more than 5 pages/)
})

test('a listing that shows more than the total stops there', async t => {
  const { provider, requests } = await setup(t, ({ query }) => {
    const page = Number(query.get('page'))
    return volumePage([page], 2, next(page + 1))
  })
  assert.match((await provider.list('volume')).reason ?? '', /more items are listed than the 2/)
  assert.equal(requests.length, 3)
})

test('a listing gives up at its deadline', async t => {
  const { provider, clock } = await setup(t, ({ query }) => {
    clock.pass(4 * 60_000)
    const page = Number(query.get('page'))
    return volumePage([page], 100, next(page + 1))
  })
  const { complete, reason, pages } = await provider.list('volume')
  assert.deepEqual([complete, pages], [false, 3])
  assert.match(reason ?? '', /deadline has passed/)
})

test('the next page is asked of the configured host, wherever the link points', async t => {
  let strayed = 0
  const elsewhere = await serve(t, () => {
    strayed += 1
    return volumePage([2], 2)
  })
  const { provider, requests } = await setup(t, ({ query }) =>
    query.get('page') === '1'
      ? volumePage([1], 2, { pages: { next: `${elsewhere}/v2/volumes?page=2&per_page=1` } })
      : volumePage([2], 2),
  )
  assert.equal((await provider.list('volume')).complete, true)
  assert.deepEqual([requests.length, strayed], [2, 0])
})

test('page by page, nothing comes twice and the verdict is final only at the end', async t => {
  const items = numbered(5)
  const { provider } = await setup(t, ({ query }) => pageOf('volumes', items, query), { perPage: 2 })
  const listing = provider.pages('volume')
  assert.equal(listing.verdict.complete, false)
  const sizes: number[] = []
  const verdicts: boolean[] = []
  for await (const page of listing) {
    sizes.push(page.items.length)
    verdicts.push(listing.verdict.complete)
  }
  assert.deepEqual(
    [sizes, verdicts],
    [
      [2, 2, 1],
      [false, false, true],
    ],
  )
  assert.deepEqual(listing.verdict, { complete: true, pages: 3, total: 5, reason: null })
})

test('a listing left early is not whole', async t => {
  const { provider } = await setup(t, ({ query }) => pageOf('volumes', numbered(5), query), { perPage: 2 })
  const listing = provider.pages('volume')
  for await (const _ of listing) break
  assert.deepEqual(listing.verdict.complete, false)
  assert.match(listing.verdict.reason ?? '', /not read to its end/)
})

test('each page is handed to onPage before the next is asked for', async t => {
  const { provider, requests } = await setup(t, ({ query }) => pageOf('volumes', numbered(4), query), {
    perPage: 2,
  })
  const asked: number[] = []
  await provider.list('volume', { onPage: () => void asked.push(requests.length) })
  assert.deepEqual(asked, [1, 2])
})

test('an aborted listing throws the reason it was aborted with', async t => {
  const stop = new AbortController()
  const { provider } = await setup(t, ({ query }) => {
    stop.abort(new Error('shutting down'))
    return pageOf('volumes', numbered(4), query)
  })
  await assert.rejects(provider.list('volume', { signal: stop.signal }), /shutting down/)
})

test('a listing that meets an exhausted hour asks to be rescheduled', async t => {
  const { provider, clock } = await setup(
    t,
    ({ query }) => ({
      ...pageOf('volumes', numbered(4), query),
      headers: {
        'ratelimit-limit': '5000',
        'ratelimit-remaining': '0',
        'ratelimit-reset': String(clock.now() / 1_000 + 1_800),
      },
    }),
    { perPage: 2 },
  )
  await assert.rejects(provider.list('volume'), error => {
    assert.ok(error instanceof ProviderBusyError)
    assert.equal(error.retryAfterMs, 1_800_000)
    return true
  })
})
