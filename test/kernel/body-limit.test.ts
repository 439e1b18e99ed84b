// How large a body each schema can need.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { bytesNeeded, limitFor, SMALLEST_LIMIT } from '../../src/kernel/http/json.ts'
import { Body, NoBody, Nullable } from '../../src/kernel/http/schemas.ts'

test('a text needs six bytes for each of its characters, and its quotes', () => {
  assert.equal(bytesNeeded(Type.String({ maxLength: 10 })), 62)
  assert.equal(bytesNeeded(Nullable(Type.String({ maxLength: 10 })) as object), 62)
  assert.equal(bytesNeeded(Type.String({ pattern: '^a$' })), 128 * 6 + 2)
  assert.equal(bytesNeeded(Type.String({ format: 'uuid' })), 128 * 6 + 2)
  assert.equal(bytesNeeded(Type.String({ pattern: '^a+$', maxLength: 3 })), 20)
})

test('numbers, choices and unions need what their longest spelling does', () => {
  assert.equal(bytesNeeded(Type.Integer()), 32)
  assert.equal(bytesNeeded(Type.Boolean()), 32)
  assert.equal(bytesNeeded(Type.Enum(['a', 'abc'])), 5)
  assert.equal(bytesNeeded(Type.Literal('ab')), 4)
  assert.equal(bytesNeeded(Type.Union([Type.Literal('ab'), Type.String({ maxLength: 1 })])), 8)
})

test('a list needs its members times its bound, an object its names and members', () => {
  assert.equal(bytesNeeded(Type.Array(Type.Literal('ab'), { maxItems: 3 })), (4 + 2) * 3 + 2)
  assert.equal(
    bytesNeeded(Body({ ab: Type.Literal('ab'), c: Type.Literal('d') })),
    2 + (2 + 4 + 6) + (1 + 3 + 6),
  )
})

test('what sets no bound needs no one knows how much, wherever it stands', () => {
  for (const schema of [
    Type.String(),
    Type.Array(Type.Integer()),
    Type.Array(Type.String(), { maxItems: 3 }),
    Type.Object({}, { additionalProperties: true }),
    Type.Object({}),
  ]) {
    assert.equal(bytesNeeded(schema), undefined)
    assert.equal(bytesNeeded(Type.Union([Type.Null(), schema])), undefined)
    assert.equal(limitFor(Body({ first: Type.Integer(), open: schema, last: Type.Integer() })), undefined)
  }
})

test('a limit is what is needed and a quarter more in whole KiB, and never less than 16', () => {
  assert.equal(limitFor(undefined), SMALLEST_LIMIT)
  assert.equal(limitFor(NoBody), SMALLEST_LIMIT)
  assert.equal(limitFor(Type.String({ maxLength: 2000 })), SMALLEST_LIMIT)
  // 60,002 bytes and a quarter more.
  assert.equal(limitFor(Type.String({ maxLength: 10_000 })), 74 * 1024)
})
