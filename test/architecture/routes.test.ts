// Rules about the API, asked of its own description.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { withPermissionsTable } from '../../scripts/permissions-table.ts'
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

test('every endpoint of the specification is there, and every path but health carries the version', async t => {
  const { app } = await setup(t)
  const there = new Set<string>()
  for (const [path, methods] of Object.entries(app.swagger().paths ?? {})) {
    assert.ok(path === '/api/health' || path.startsWith('/api/v1/'), path)
    for (const method of Object.keys(methods as object)) there.add(`${method.toUpperCase()} ${path}`)
  }
  const named = [
    'GET /api/health',
    'GET /api/v1/inventory',
    'GET /api/v1/deployments',
    'POST /api/v1/deployments',
    'GET /api/v1/deployments/{id}',
    'POST /api/v1/deployments/{id}/transition',
    'POST /api/v1/deployments/{id}/subscribe',
    'GET /api/v1/catalog/plans',
    'GET /api/v1/catalog/addons',
    'GET /api/v1/drift',
    'POST /api/v1/drift/{id}/accept',
    'GET /api/v1/billing/balance',
    'GET /api/v1/billing/cost-lines',
    'GET /api/v1/users/{user_id}/api_keys',
    'POST /api/v1/users/{user_id}/api_keys',
    'DELETE /api/v1/users/{user_id}/api_keys/{key_id}',
  ]
  assert.deepEqual(
    named.filter(endpoint => !there.has(endpoint)),
    [],
  )
})

test('every schema of the API is one by JSON Schema’s own rules', async t => {
  const { app } = await setup(t)
  const ajv = new Ajv2020({ strict: false })
  const wrong: string[] = []
  let checked = 0
  const look = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      const isSchema = name === 'schema' || path === '/components/schemas'
      if (isSchema && ajv.validateSchema(member) !== true) wrong.push(`${path}/${name}: ${ajv.errorsText()}`)
      if (isSchema) checked += 1
      else look(member, `${path}/${name}`)
    }
  }
  look(app.swagger(), '')
  assert.deepEqual(wrong, [])
  assert.ok(checked > 500, `${checked} schemas`)
})

test('docs/openapi.json is what the service describes itself as', async t => {
  const { app } = await setup(t)
  const written = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8'))
  assert.deepEqual(JSON.parse(JSON.stringify(app.swagger())), written)
  assert.equal(written.openapi, '3.1.0')
})

test('docs/permissions.md says what each permission is for', async t => {
  const { app } = await setup(t)
  const page = readFileSync(join(import.meta.dirname, '../../docs/permissions.md'), 'utf8')
  assert.equal(page, withPermissionsTable(page, app.swagger()), 'run `npm run openapi`')
})
