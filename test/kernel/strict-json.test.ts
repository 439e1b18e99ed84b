import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bodyReader, DEEPEST, parseStrictJson } from '../../src/kernel/http/json.ts'
import { onPostgresAlone } from '../support/engine.ts'

const parse = (text: string) => parseStrictJson(Buffer.from(text))

test('whatever JSON.stringify writes is read back the same', onPostgresAlone, () => {
  const value = fc.jsonValue({ maxDepth: 6, noUnicodeString: false })
  fc.assert(
    fc.property(value, json => {
      const text = JSON.stringify(json)
      const takes =
        !text.includes('\\u0000') &&
        text.isWellFormed() &&
        !/\\u[dD][89a-fA-F]/.test(text) &&
        !/e\+|\d{16}/.test(text)
      fc.pre(takes)
      assert.deepEqual(parse(text), JSON.parse(text))
    }),
  )
})

test('arbitrary bytes are read or refused as malformed, never anything else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
      try {
        parseStrictJson(Buffer.from(bytes))
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'malformed_body')
      }
    }),
  )
})

test('keys are compared as they read, within one object only', () => {
  assert.throws(() => parse('{"a":1,"b":{"c":1},"\\u0061":2}'), /stands twice/)
  assert.deepEqual(parse('{"a":{"a":1},"b":[{"a":1},{"a":1}]}'), { a: { a: 1 }, b: [{ a: 1 }, { a: 1 }] })
  assert.deepEqual(parse('["a","a",{"x":"x"}]'), ['a', 'a', { x: 'x' }])
})

test('nesting is taken to its limit and no deeper', () => {
  const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  assert.ok(parse(nested(DEEPEST)))
  assert.throws(() => parse(nested(DEEPEST + 1)), /levels deep/)
  assert.deepEqual(
    parse('"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["'),
    '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[',
  )
})

test('numbers are taken up to 2^53 - 1, whole characters in any escape', () => {
  assert.equal(parse('9007199254740991'), Number.MAX_SAFE_INTEGER)
  assert.throws(() => parse('9007199254740992'), /2\^53/)
  assert.throws(() => parse('[-9007199254740993]'), /2\^53/)
  assert.equal(parse('-1.5e3'), -1500)
  assert.equal(parse('"\\ud83d\\ude00 \\\\ \\" \\/"'), '😀 \\ " /')
})

test('what is refused is refused in words', () => {
  const refused: [body: string | Buffer, message: string][] = [
    ['{', 'The body is not valid JSON.'],
    [Buffer.from([0x22, 0xff, 0x22]), 'The body is not valid UTF-8.'],
    ['["\\ud800"]', 'The body holds half of a surrogate pair.'],
    ['["a\\u0000"]', 'The body holds a NUL character.'],
    ['{"a\\u0000":1}', 'The body holds a NUL character.'],
    ['{"a":[1,{"b":2}],"a":1}', 'The key "a" stands twice in one object.'],
    ['[{"a":1,"a":2}]', 'The key "a" stands twice in one object.'],
    ['[[{"a":{"b":[1,2]},"a":2}]]', 'The key "a" stands twice in one object.'],
    ['{"a":[],"a":1}', 'The key "a" stands twice in one object.'],
    [
      `{"${'k'.repeat(65)}":1,"${'k'.repeat(65)}":1}`,
      `The key "${'k'.repeat(64)}" stands twice in one object.`,
    ],
    [`[${'[]'}${',[]'.repeat(40)},1e400]`, 'The number 1e400 is larger than can be kept exactly (2^53 - 1).'],
    [`1${'0'.repeat(50)}`, `The number 1${'0'.repeat(39)} is larger than can be kept exactly (2^53 - 1).`],
    [
      `0.1e${'9'.repeat(20)}`,
      'The number 0.1e99999999999999999999 is larger than can be kept exactly (2^53 - 1).',
    ],
  ]
  for (const [body, message] of refused) assert.throws(() => parseStrictJson(Buffer.from(body)), { message })
  const lists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  assert.ok(parse(lists(32)))
  assert.throws(() => parse(lists(33)), { message: 'The body is nested more than 32 levels deep.' })
})

test('keys and texts that only look alike are taken: in lists, in values, after objects and numbers', () => {
  for (const text of [
    '"a"',
    '[["a"],"a","a"]',
    '{"a":"b","b":"a"}',
    '[{"a":1},"a",{"a":1}]',
    '{"x":[{"a":1}],"a":["a","a"]}',
    '{"n":-1,"m":[0,-0.5,9],"o":"\\\\"}',
    '{"k":[1,2],"j":"k"}',
    '["a",1,"a",["a","a"],{"a":["a","a"]}]',
    '{}',
    '[]',
    '""',
  ])
    assert.deepEqual(parse(text), JSON.parse(text))
})

test('of large bodies that arrive together one is read in each turn of the event loop', async () => {
  const read = bodyReader()
  const large = Buffer.from(`{"a":"${'x'.repeat(20_000)}"}`)
  const turns: number[] = []
  let turn = 0
  const count = () => {
    turn += 1
    if (turns.length < 3) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all([1, 2, 3].map(async () => turns.push(await read(large).then(() => turn))))
  assert.equal(new Set(turns).size, 3, `read in the turns ${turns.join(', ')}`)
  assert.equal(await read(Buffer.from('')), null)
  assert.deepEqual(await read(Buffer.from('{"a":1}')), { a: 1 })
})
