import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createProvider, ProviderBusyError } from '../../src/integrations/digitalocean/index.ts'
import { createDistinctIds } from '../../src/integrations/digitalocean/listing.ts'
import { testClock } from './scripted-provider.ts'

/** A page as some provider might send it, well or badly. */
interface ScriptedPage {
  ids: number[]
  total: number | string | null
  next: number | string | null
  fault: 'none' | 'html' | 'empty' | 'cut' | '500' | '429' | 'dead' | 'no list'
}

const faults = ['html', 'empty', 'cut', '500', '429', 'dead', 'no list'] as const

/** Pages as an honest provider sends them, so that a property is not only met by rubbish. */
function honest(count: number, perPage: number): ScriptedPage[] {
  const pages = Math.max(1, Math.ceil(count / perPage))
  return Array.from({ length: pages }, (_, at) => ({
    ids: Array.from({ length: Math.min(perPage, count - at * perPage) }, (_, n) => at * perPage + n + 1),
    total: count,
    next: at + 1 < pages ? at + 2 : null,
    fault: 'none',
  }))
}

const anyPage: fc.Arbitrary<ScriptedPage> = fc.record({
  ids: fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 4 }),
  total: fc.oneof(fc.integer({ min: -1, max: 8 }), fc.constantFrom('3', null)),
  next: fc.oneof(fc.integer({ min: 0, max: 6 }), fc.constantFrom(null, 'x')),
  fault: fc.oneof({ weight: 4, arbitrary: fc.constant('none' as const) }, fc.constantFrom(...faults)),
})

const honestPages = fc
  .tuple(fc.nat(9), fc.integer({ min: 1, max: 4 }))
  .map(([count, perPage]) => honest(count, perPage))

/** An honest listing in which some pages are swapped for others. */
const spoiledPages = fc
  .tuple(honestPages, fc.array(fc.tuple(fc.nat(8), anyPage), { maxLength: 2 }))
  .map(([pages, spoilt]) => pages.map((page, at) => spoilt.find(([where]) => where === at)?.[1] ?? page))

const anyPages = fc.oneof(honestPages, spoiledPages, fc.array(anyPage, { minLength: 1, maxLength: 6 }))

function answer({ ids, total, next, fault }: ScriptedPage): Response {
  const headers = { 'content-type': 'application/json' }
  const link = next === null ? {} : { pages: { next: `https://elsewhere.test/v2/volumes?page=${next}` } }
  const body = JSON.stringify({ volumes: ids.map(id => ({ id: `v${id}` })), links: link, meta: { total } })
  if (fault === 'dead') throw new TypeError('fetch failed')
  if (fault === 'html') return new Response('<html></html>')
  if (fault === 'empty') return new Response('')
  if (fault === 'cut') return new Response(body.slice(0, -2), { headers })
  if (fault === '500') return new Response('{}', { status: 500 })
  if (fault === '429') return new Response('{}', { status: 429, headers: { 'retry-after': '3600' } })
  if (fault === 'no list') return new Response(JSON.stringify({ meta: { total } }), { headers })
  return new Response(body, { headers })
}

/** What whole means, said a second time and independently of the client. */
function isWhole(pages: ScriptedPage[], asked: number[]): boolean {
  const read = asked.map(page => pages[page - 1])
  const followed = asked.every((page, at) => page === at + 1)
  const answered = read.every(page => page?.fault === 'none')
  const linked = read.every((page, at) => page?.next === (at + 1 < read.length ? at + 2 : null))
  const distinct = new Set(read.flatMap(page => page?.ids ?? []))
  return followed && answered && linked && read.every(page => page?.total === distinct.size)
}

async function list(pages: ScriptedPage[]) {
  const asked: number[] = []
  const provider = createProvider({
    baseUrl: 'https://provider.test',
    token: 'token',
    timer: testClock(),
    limits: { attempts: 2, maxPages: 20 },
    fetch: async url => {
      const { host, searchParams } = new URL(url)
      assert.equal(host, 'provider.test')
      const page = Number(searchParams.get('page'))
      if (asked.at(-1) !== page) asked.push(page)
      return answer(pages[page - 1] ?? { ids: [], total: 0, next: null, fault: '500' })
    },
  })
  try {
    return { asked, listing: await provider.list('volume') }
  } catch (error) {
    assert.ok(error instanceof ProviderBusyError)
    return { asked, listing: null }
  }
}

test('whatever the pages, a listing ends and is called whole only when it is', async () => {
  let whole = 0
  await fc.assert(
    fc.asyncProperty(anyPages, async pages => {
      const { asked, listing } = await list(pages)
      assert.ok(asked.length <= 20)
      if (!listing) return
      assert.equal(listing.reason === null, listing.complete)
      const ids = listing.items.map(({ id }) => id)
      assert.equal(new Set(ids).size, ids.length)
      if (!listing.complete) return
      whole += 1
      assert.ok(isWhole(pages, asked))
      assert.equal(listing.total, ids.length)
    }),
    { numRuns: 500 },
  )
  assert.ok(whole > 50, `only ${whole} listings were whole: the property says too little`)
})

test('an honest listing of any size is whole', async () => {
  await fc.assert(
    fc.asyncProperty(honestPages, async pages => {
      const { listing } = await list(pages)
      assert.equal(listing?.complete, true, listing?.reason ?? '')
      assert.equal(listing?.items.length, pages[0]?.total)
    }),
    { numRuns: 100 },
  )
})

test('distinct ids are counted as a set would count them', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string({ maxLength: 3 }), fc.uuid(), fc.nat(50).map(String))), ids => {
      const distinct = createDistinctIds()
      const set = new Set<string>()
      for (const id of ids) {
        assert.equal(distinct.add(id), !set.has(id))
        set.add(id)
      }
      assert.equal(distinct.size, set.size)
    }),
  )
})

test('two hundred thousand consecutive ids are all told apart', () => {
  const distinct = createDistinctIds()
  for (let id = 400_000_000; id < 400_200_000; id += 1) distinct.add(String(id))
  assert.equal(distinct.size, 200_000)
})
