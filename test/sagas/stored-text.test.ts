// What sagas write down: reasons without secrets, and JSON that can be stored.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, inWords, MOST_BYTES, textOf } from '../../src/features/sagas/stored-text.ts'

test('what looks like a secret is cut out of a reason, and what stands around it stays', () => {
  const words: [said: string, kept: string][] = [
    ['got Bearer   abcdefgh12 back', 'got Bearer [redacted] back'],
    ['basic dXNlcjpwYXNz', 'basic [redacted]'],
    ['key dop_v1_0a1b, key cops_Ab-9', 'key dop_v1_[redacted], key cops_[redacted]'],
    ['jwt eyJhbGciOiJI.eyJzdWIi.c2ln!', 'jwt [redacted]!'],
    ['at postgres://ada:lovelace@db/x', 'at postgres://[redacted]@db/x'],
    ['password=hunter2 failed', 'password=[redacted] failed'],
    [
      '{"api_key": "k1", "apikey":"k2", "secret" : \'k3\'}',
      '{"api_key": "[redacted]", "apikey":"[redacted]", "secret" : \'[redacted]\'}',
    ],
    ['a tokenizer: fine', 'a tokenizer: fine'],
  ]
  for (const [said, kept] of words) assert.equal(inWords(said), kept)
})

test('a reason is one line of at most 500 characters, read from the first 4,000', () => {
  assert.equal(inWords('  one\r\n\0two  '), 'one two')
  assert.equal(inWords('x'.repeat(500)), 'x'.repeat(500))
  assert.equal(inWords('x'.repeat(501)), `${'x'.repeat(499)}…`)
  assert.equal(inWords(`${'x'.repeat(498)}😀y`), `${'x'.repeat(498)}\ufffd…`)
  assert.equal(inWords(`${' '.repeat(3_999)}ab`), 'a')
  for (const nothing of [7, undefined, { toString: () => 'x' }, '\n    at f (x.js:1:1)'])
    assert.equal(inWords(nothing), 'no reason was given')
})

test('a stored object has at most 256 KiB of text, and what cannot be written says why', () => {
  const sized = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })
  assert.equal(MOST_BYTES, 262_144)
  assert.equal(textOf(sized(MOST_BYTES), 'output').length, MOST_BYTES)
  const refused: [value: unknown, says: string][] = [
    [sized(MOST_BYTES + 1), 'its output is larger than 262144 bytes'],
    [{ n: 1n }, 'its output cannot be written as JSON'],
    [undefined, 'its output is not an object'],
    [() => 1, 'its output is not an object'],
    [[{}], 'its output is not an object'],
    [null, 'its output is not an object'],
    [{ a: '\\\0' }, 'its output holds characters that cannot be stored'],
  ]
  for (const [value, message] of refused) assert.throws(() => textOf(value, 'output'), { message })
})

test('what is frozen cannot be changed at any depth', () => {
  const value = frozen({ a: { b: [{ c: 1 }] }, n: null, t: 'x' })
  assert.ok([value, value.a, value.a.b, value.a.b[0]].every(Object.isFrozen))
  assert.throws(() => value.a.b.push({ c: 2 }), TypeError)
  assert.equal(frozen(null), null)
})
