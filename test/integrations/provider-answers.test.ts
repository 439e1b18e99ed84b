// The provider's answers, read strictly: pages, objects, ids, amounts; what is worth another try, and when.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPassingStatus } from '../../src/integrations/digitalocean/errors.ts'
import { createTally, type PageCount } from '../../src/integrations/digitalocean/listing.ts'
import {
  decimalAt,
  idAt,
  idText,
  listAt,
  objectAt,
  readPage,
  textAt,
} from '../../src/integrations/digitalocean/responses.ts'
import { retryAfterMs } from '../../src/kernel/http-client.ts'
import { backoffMs } from '../../src/kernel/retry.ts'

const page = (body: Record<string, unknown>) => readPage(body, 'things', 'id')
const says = (words: string) => ({ message: new RegExp(`${words}$`) })

test('a page has its items, their ids as text, the stated total and the number of the next', () => {
  const links = (next: unknown) => ({ pages: { next } })
  const body = {
    things: [{ id: 7 }, { id: 'x' }],
    meta: { total: 5 },
    links: links('https://h/v2/x?page=2&n=1'),
  }
  assert.deepEqual(page(body), { items: body.things, ids: ['7', 'x'], nameless: null, total: 5, next: 2 })
  assert.deepEqual(page({ things: [] }), { items: [], ids: [], nameless: null, total: null, next: null })
  assert.deepEqual(page({ things: null, meta: { total: 0 } }).items, [])
  assert.equal(page({ things: [], meta: { total: null } }).total, null)
  for (const next of [undefined, null, '']) assert.equal(page({ things: [], links: links(next) }).next, null)
  assert.equal(page({ things: [], links: links('?page=999999999') }).next, 999_999_999)
  for (const next of [
    1,
    '?page=0',
    '?page=01',
    '?page=-1',
    '?page=2x',
    '?page=1000000000',
    '?x=1',
    'https://',
  ])
    assert.throws(
      () => page({ things: [], links: links(next) }),
      says('the link to the next page names no page'),
    )
  assert.equal(page({ things: [], meta: { total: 2_000_000_000 } }).total, 2_000_000_000)
  for (const total of [-1, 1.5, '5', {}, 2_000_000_001, Number('1e400')])
    assert.throws(() => page({ things: [], meta: { total } }), says('the stated total is not a count'))
  for (const body of [{}, { things: {} }, { things: null }, { things: null, meta: { total: 1 } }])
    assert.throws(() => page(body), says('the answer has no list named things'))
  assert.throws(() => readPage({}, 'toString', 'id'), says('the answer has no list named toString'))
  for (const item of [{}, { id: '' }, { id: 1.5 }, { id: null }, null, 'x'])
    assert.deepEqual(page({ things: [{ id: 1 }, item, null, { id: 2 }] }), {
      items: [{ id: 1 }, { id: 2 }],
      ids: ['1', '2'],
      nameless: 'item 2 of things has no usable id',
      total: null,
      next: null,
    })
  assert.deepEqual([idText(0), idText('a'), idText(true)], ['0', 'a', null])
})

test('what an answer must hold is there, or the answer is refused by the name of what it lacks', () => {
  const [key, text] = ['thing', { thing: 'x', n: 1, none: '' }]
  assert.deepEqual(objectAt({ thing: { a: 1 } }, key), { a: 1 })
  assert.deepEqual(listAt({ thing: [{ a: 1 }] }, key), [{ a: 1 }])
  assert.equal(idAt({ thing: 7 }, key), '7')
  assert.deepEqual([textAt(text, 'thing'), textAt(text, 'none')], ['x', ''])
  for (const body of [null, {}, { thing: [] }, { thing: null }])
    assert.throws(() => objectAt(body, key), says('the answer has no thing'))
  assert.throws(() => objectAt({}, 'constructor'), says('the answer has no constructor'))
  for (const body of [null, {}, { thing: {} }, { thing: [1] }, { thing: [{}, null] }])
    assert.throws(() => listAt(body, key), says('the answer has no list thing'))
  assert.throws(() => listAt({}, 'constructor'), says('the answer has no list constructor'))
  assert.throws(() => idAt({ thing: '' }, key), says('the answer has no usable thing'))
  assert.throws(() => textAt(text, 'n'), says('the answer has no text n'))
})

test('after a write, an answer that cannot be read may have been done', () => {
  const may = (ask: () => unknown) => {
    try {
      ask()
    } catch (error) {
      return (error as { mayHaveHappened?: boolean }).mayHaveHappened
    }
  }
  for (const read of [objectAt, listAt] as const)
    assert.deepEqual([may(() => read({}, 'x')), may(() => read({}, 'x', true))], [false, true])
  assert.deepEqual([may(() => idAt({}, 'x')), may(() => idAt({}, 'x', true))], [false, true])
})

test('money is a decimal number of at most 18 digits on either side, kept as text', () => {
  const most = `-${'9'.repeat(18)}.${'9'.repeat(18)}`
  for (const value of ['0', '-1', '12.50', most]) assert.equal(decimalAt({ a: value }, 'a'), value)
  for (const value of ['', '.5', '5.', '+1', '1e3', 'x1', '1x', '9'.repeat(19), `1.${'9'.repeat(19)}`])
    assert.throws(() => decimalAt({ a: value }, 'a'), says('a is not a decimal number'))
})

test('busy and broken answers pass, others stay', () => {
  const statuses = [200, 400, 401, 404, 408, 422, 428, 429, 430, 500, 501, 502, 503, 504, 505]
  for (const _ of ['once', 'again'])
    assert.deepEqual(statuses.filter(isPassingStatus), [429, 500, 502, 503, 504])
})

test('the pause doubles with each try up to its cap, and is anything from nothing to all of it', () => {
  const pauses = (random: number) => [1, 2, 3, 4].map(attempt => backoffMs(attempt, 100, 350, () => random))
  assert.deepEqual(
    [pauses(1), pauses(0), pauses(0.5)],
    [
      [100, 200, 350, 350],
      [0, 0, 0, 0],
      [50, 100, 175, 175],
    ],
  )
})

test('Retry-After is read as seconds or as an HTTP date, and never as anything else', () => {
  const now = Date.parse('2026-11-15T12:00:00Z')
  const waits: [header: string | null, ms: number | null][] = [
    [null, null],
    ['', null],
    [' 7 ', 7_000],
    ['0', 0],
    ['999999999', 999_999_999_000],
    ['1000000000', null],
    ['-5', null],
    ['2.5', null],
    ['x5', null],
    ['2026-11-15T12:00:09Z', null],
    ['Sun, 15 Nov 2026 12:00:09 GMT', 9_000],
    ['Sunday, 15-Nov-26 12:00:09 GMT', 9_000],
    ['Sun Nov 15 12:00:09 2026 GMT', 9_000],
    ['Sun, 15 Nov 2026 11:00:00 GMT', 0],
    ['Sun, whenever', null],
    [', Sun, 15 Nov 2026 12:00:09 GMT', null],
  ]
  for (const [header, ms] of waits) assert.equal(retryAfterMs(header, now), ms, String(header))
})

const whole: PageCount = { items: 2, fresh: 2, total: 4, next: null }
const first = { ...whole, next: 2 }

test('a listing is whole when every page follows the last and the count is right; else it says why not', () => {
  const verdict = (paged: boolean, ...pages: PageCount[]) => {
    const tally = createTally({ paged, maxPages: 3 })
    const asked = pages.map(page => tally.add(page))
    return [asked.at(-1), tally.verdict().complete, tally.verdict().reason]
  }
  assert.deepEqual(verdict(true, first, whole), [null, true, null])
  assert.deepEqual(verdict(false, { ...whole, total: null }), [null, true, null])
  assert.deepEqual(verdict(true, { ...first, items: 4, fresh: 4 })[0], 2)
  assert.deepEqual(verdict(true, first), [2, false, 'the listing was not read to its end'])
  const wrong: [why: string, paged: boolean, ...pages: PageCount[]][] = [
    ['the provider stated no total', true, { ...whole, total: null }],
    ['2 distinct items were listed but the provider counts 4', true, whole],
    ['2 distinct items were listed but the provider counts 4', false, whole],
    ['the answer names a next page although this listing has only one', false, first],
    ['page 1 names page 3 as the next', true, { ...first, next: 3 }],
    ['page 1 names page 1 as the next', true, { ...first, next: 1 }],
    ['page 1 is empty but names a next page', true, { ...first, items: 0, fresh: 0 }],
    ['page 2 repeats what was already listed', true, first, { ...first, fresh: 0, next: 3 }],
    ['more items are listed than the 4 the provider counts', true, { ...first, items: 5, fresh: 5 }],
    ['the total changed from 4 to 5 on page 2', true, first, { ...whole, total: 5, fresh: 3 }],
  ]
  for (const [why, paged, ...pages] of wrong)
    assert.deepEqual(verdict(paged, ...pages), [null, false, why], why)
  const long = (n: number) =>
    Array.from({ length: n }, (_, at) => ({ items: 1, fresh: 1, total: 9, next: at + 2 }))
  assert.deepEqual(verdict(true, ...long(2))[0], 3)
  assert.deepEqual(verdict(true, ...long(3)), [null, false, 'the listing has more than 3 pages'])
})

test('the first reason stands, and what was counted is told', () => {
  const tally = createTally({ paged: true, maxPages: 9 })
  tally.add(first)
  tally.fail('the line broke')
  tally.fail('something else')
  assert.deepEqual(tally.verdict(), { complete: false, pages: 1, total: 4, reason: 'the line broke' })
  assert.equal(tally.add(whole), null)
  assert.deepEqual(tally.verdict(), { complete: false, pages: 2, total: 4, reason: 'the line broke' })
  const changed = createTally({ paged: true, maxPages: 9 })
  changed.add(first)
  assert.equal(changed.add({ ...first, total: 9, next: 3 }), 3, 'what can be seen is still worth seeing')
})
