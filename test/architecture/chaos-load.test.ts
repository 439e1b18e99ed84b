// The campaign against the database sends every operation that writes: of each it is known that a story does, or why not.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { describedWrites, OPERATIONS } from '../chaos/database/operations.ts'

const folder = join(import.meta.dirname, '../chaos/database')

test('every operation that writes is sent by a story of chaos:database, or it is said why not', () => {
  const sent = new Set(
    readdirSync(folder)
      .filter(file => file.startsWith('stories-'))
      .flatMap(file => [...readFileSync(join(folder, file), 'utf8').matchAll(/\bsend\('(\w+)'/g)])
      .map(([, operation]) => operation!),
  )
  const leftOut = Object.entries(OPERATIONS).flatMap(([name, { left_out }]) => (left_out ? [name] : []))
  assert.deepEqual([...sent, ...leftOut].sort(), [...describedWrites().keys()].sort())
})
