// Rules about the API, asked of its own description.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setup } from '../support/setup.ts'

interface Operation {
  security?: unknown[]
}

test('health alone is open to strangers', async t => {
  const { app } = await setup(t)
  const open: string[] = []
  for (const [path, methods] of Object.entries(app.swagger().paths ?? {})) {
    for (const [method, operation] of Object.entries(methods as Record<string, Operation>)) {
      if (operation.security?.length === 0) open.push(`${method} ${path}`)
    }
  }
  assert.deepEqual(open, ['get /api/health'])
})

test('docs/openapi.json is what the service describes itself as', async t => {
  const { app } = await setup(t)
  const written = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8'))
  assert.deepEqual(JSON.parse(JSON.stringify(app.swagger())), written)
  assert.equal(written.openapi, '3.1.0')
})
