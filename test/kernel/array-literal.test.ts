import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { arrayLiteral } from '../../src/kernel/db/array-literal.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { setup } from '../support/setup.ts'

test('a list is written as the database reads it, or left to the client', () => {
  assert.equal(
    arrayLiteral(['a', null, '"', '\\', '{},', 'ä', 'null', '']),
    '{"a",null,"\\"","\\\\","{},","ä","null",""}',
  )
  assert.equal(arrayLiteral([1, 0.5, 1e-7]), '{1,0.5,1e-7}')
  assert.equal(arrayLiteral([]), '{}')
  for (const values of [['a\nb'], ['\u0001'], ['\\n']]) assert.equal(arrayLiteral(values), values)
})

test('whatever text a list holds, the database reads what was written', onPostgresAlone, async t => {
  const { ctx } = await setup(t)
  const text = fc
    .string({ unit: 'binary', maxLength: 8 })
    .filter(value => !value.includes('\0') && value.isWellFormed())
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(fc.oneof(text, fc.constantFrom('\\', '"', '\n', '{}', ',')))),
      async values => {
        const { rows } = await sql<{ values: (string | null)[] }>`
        select ${arrayLiteral(values)}::text[] as values`.execute(ctx.db)
        assert.deepEqual(rows[0]!.values, values)
      },
    ),
    { numRuns: 100 },
  )
})
