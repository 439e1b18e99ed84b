// Rules about the API, asked of its own description.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setup } from '../support/setup.ts'

interface Operation {
  summary?: string
  tags?: string[]
  security?: unknown[]
  responses: Record<string, { content?: Record<string, unknown> }>
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

test('every operation has a summary, a tag, a success and its errors as problem+json', async t => {
  const { app } = await setup(t)
  for (const [path, methods] of Object.entries(app.swagger().paths ?? {})) {
    for (const [method, { summary, tags, responses }] of Object.entries(
      methods as Record<string, Operation>,
    )) {
      const name = `${method} ${path}`
      assert.ok(summary, name)
      assert.ok(tags?.length, name)
      assert.ok(
        Object.keys(responses).some(status => status.startsWith('2')),
        name,
      )
      for (const [status, { content }] of Object.entries(responses)) {
        if (status >= '400')
          assert.deepEqual(Object.keys(content ?? {}), ['application/problem+json'], `${name} ${status}`)
      }
    }
  }
})

test('docs/openapi.json is what the service describes itself as', async t => {
  const { app } = await setup(t)
  const written = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8'))
  assert.deepEqual(JSON.parse(JSON.stringify(app.swagger())), written)
  assert.equal(written.openapi, '3.1.0')
})
