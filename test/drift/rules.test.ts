// The pure rules of drift: what counts as the same, and how large a spec may be.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { alike, LONGEST_FIELD, MOST_FIELDS, specErrors } from '../../src/features/drift/spec.ts'

/** Parsed, so that a key named `__proto__` is a key. */
const parsed = (text: string) => JSON.parse(text)

const same: [string, unknown, unknown][] = [
  ['a number and its text', 1, '1'],
  ['a boolean and its text', true, 'true'],
  ['two texts', 'nyc3', 'nyc3'],
  ['null and what is missing', null, undefined],
  ['lists in another order', ['a', 'b'], ['b', 'a']],
  ['lists with something twice', ['a', 'a'], ['a']],
  ['lists of numbers and of their texts', [1, '2'], ['1', 2]],
  ['lists of lists and of objects', [[1, 2], { a: [3] }], [{ a: ['3'] }, ['2', '1']]],
  ['objects with keys in another order', { a: 1, b: 2 }, { b: '2', a: '1' }],
  ['a member that is null and one that is missing', { a: 1, b: null }, { a: 1 }],
  ['keys named __proto__', parsed('{"__proto__": {"a": 1}}'), parsed('{"__proto__": {"a": "1"}}')],
]

const different: [string, unknown, unknown][] = [
  ['two texts', 'nyc3', 'nyc1'],
  ['a text in another case', 'a', 'A'],
  ['a value and nothing', 'a', null],
  ['null and its text', null, 'null'],
  ['nothing and zero, false, an empty text', null, 0],
  ['nothing and an empty text', null, ''],
  ['nothing and an empty list', null, []],
  ['an empty list and an empty object', [], {}],
  ['lists of which one has more', ['a'], ['a', 'b']],
  ['a list and the text that shows it', ['a'], '["a"]'],
  ['a list of one and the one', ['a'], 'a'],
  ['a text with a comma and two texts', ['a","b'], ['a', 'b']],
  ['objects of which one has more', { a: 1 }, { a: 1, b: 2 }],
  ['members by another name', { a: 1 }, { b: 1 }],
  ['a key named __proto__ and none', parsed('{"__proto__": 1}'), {}],
  ['what every object inherits', parsed('{"constructor": 1}'), {}],
  ['what an inherited member would answer', {}, parsed('{"toString": "x"}')],
]

test('the loose comparison: scalars as text, lists as sets, objects by key, missing as null', () => {
  for (const [what, desired, actual] of same) {
    assert.equal(alike(desired, actual), true, what)
    assert.equal(alike(actual, desired), true, what)
  }
  for (const [what, desired, actual] of different) {
    assert.equal(alike(desired, actual), false, what)
    assert.equal(alike(actual, desired), false, what)
  }
})

const json = fc.jsonValue({ maxDepth: 3 })

/** The same value as loosely as it may be written. */
function loosened(value: unknown): unknown {
  if (Array.isArray(value)) return [...value, ...value].map(loosened).toReversed()
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, inner]) => [key, loosened(inner)])
    return Object.fromEntries(members.toReversed())
  }
  return value === null ? null : String(value)
}

test('for any values: as loose as can be written is the same, the order of the two does not matter, text tells apart', () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      assert.ok(alike(a, loosened(a)))
      assert.equal(alike(a, b), alike(b, a))
      assert.equal(alike(JSON.stringify(a), JSON.stringify(b)), JSON.stringify(a) === JSON.stringify(b))
      assert.equal(alike([a], [b]), alike(a, b))
      assert.equal(alike({ x: a }, { x: b }), alike(a, b))
    }),
  )
})

test('a spec has its bounds: deep or large ones are named, and any name is good for a field', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])
  assert.deepEqual(specErrors(parsed('{"__proto__": 1, "a/b~c": 2, "": null}')), [])
  assert.deepEqual(specErrors({ fine: nested(8), attr: 1, attrsx: 1, provider: 1, ids: 1 }), [])
  assert.deepEqual(specErrors({ id: nested(9), 'attrs.a/b': 1, last_seen_at: null }), [
    { pointer: '/spec/id', message: 'names the resource, and never changes' },
    {
      pointer: '/spec/attrs.a~1b',
      message: 'is spelt without `attrs`: an attribute is a field of the spec by its own name',
    },
    { pointer: '/spec/last_seen_at', message: 'says what the mirror has seen, not how the resource is' },
  ])
  assert.deepEqual(
    specErrors({ 'a/b~c': nested(9), fine: 1 }).map(({ pointer }) => pointer),
    ['/spec/a~1b~0c'],
  )
  assert.deepEqual(
    specErrors({ a: 'x'.repeat(65_536) }).map(({ pointer }) => pointer),
    ['/spec'],
  )
})

test('the bounds of a spec are exact, and said in words', () => {
  const deep = (depth: number): unknown => (depth === 0 ? 1 : { a: deep(depth - 1) })
  assert.deepEqual(specErrors({ a: deep(9) }), [
    { pointer: '/spec/a', message: 'must not be nested more than 8 levels deep' },
  ])
  const whole = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })
  assert.deepEqual(specErrors(whole(65_536)), [])
  assert.deepEqual(specErrors(whole(65_537)), [
    { pointer: '/spec', message: 'must not be larger than 64 KB' },
  ])
  assert.deepEqual([MOST_FIELDS, LONGEST_FIELD], [100, 255])
})

test('lists and objects whose parts read alike in a row are still different', () => {
  assert.equal(alike([['a', 'b']], [['a'], ['b']]), false)
  assert.equal(alike({ a: { b: 1 }, c: 2 }, { a: { b: 1, c: 2 } }), false)
})
