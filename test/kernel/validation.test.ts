// What a caller hears of a body that is not acceptable, and how little it may cost.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TSchema, Type } from 'typebox'
import { Body } from '../../src/kernel/http/schemas.ts'
import { fieldErrors, validatorCompiler } from '../../src/kernel/http/validation.ts'

function complaints(schema: TSchema, data: unknown) {
  const check = validatorCompiler({ schema, httpPart: 'body', method: 'POST', url: '/' }) as {
    (data: unknown): boolean
    errors: Parameters<typeof fieldErrors>[0]
  }
  return check(data)
    ? { count: 0, shown: [] }
    : { count: check.errors.length, shown: fieldErrors(check.errors, 'body') }
}

const order = Body({
  name: Type.String({ maxLength: 5 }),
  addons: Type.Array(Type.Union([Type.String(), Body({ code: Type.String() })]), { maxItems: 50 }),
})

test('a small body hears of everything that is wrong with it at once', () => {
  const { shown } = complaints(order, { name: 'too long', addons: [1], more: true })
  assert.deepEqual(new Set(shown.map(error => error.pointer)), new Set(['/name', '/addons/0', '/more']))
})

test('a list that is too long is told so, and its members are not looked at', () => {
  const { count, shown } = complaints(order, { name: 'a', addons: Array(5_000).fill(1) })
  assert.equal(count, 1)
  assert.deepEqual(shown, [{ pointer: '/addons', message: 'must NOT have more than 50 items' }])
})

test('a body with very many fields hears of the first unknown one', () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, index]))
  const { count, shown } = complaints(order, { name: 'a', addons: [], ...many })
  assert.equal(count, 1)
  assert.deepEqual(shown, [{ pointer: '/k0', message: 'is not a known field' }])
})

test('of many small faults twenty are named', () => {
  const few = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, index]))
  assert.equal(complaints(order, { name: 'a', addons: [], ...few }).shown.length, 20)
})

test('two hundred values are few, one more is many', () => {
  const list = Type.Object({ list: Type.Array(Type.String()) })
  // The object and its list count too.
  assert.equal(complaints(list, { list: Array(198).fill(1) }).count, 198)
  assert.equal(complaints(list, { list: Array(199).fill(1) }).count, 1)
  const open = Type.Object({ a: Type.String(), b: Type.String() })
  const nested = (size: number) => ({ a: 1, b: 1, more: { deep: [Array(size).fill({})] } })
  assert.equal(complaints(open, nested(194)).count, 2)
  assert.equal(complaints(open, nested(195)).count, 1)
})
