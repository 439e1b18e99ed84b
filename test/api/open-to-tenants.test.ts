// What a member of a tenant may call, written out: a route that is opened by mistake is none of these.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/kernel/ids.ts'
import { setup } from '../support/setup.ts'

const OPEN = `
  GET /api/health
  GET /api/v1/session
  POST /api/v1/session
  DELETE /api/v1/session
  GET /api/v1/openapi.json
  GET /api/v1/catalog/plans
  GET /api/v1/catalog/plans/{code}
  GET /api/v1/catalog/addons
  GET /api/v1/catalog/addons/{code}
  GET /api/v1/deployments
  POST /api/v1/deployments
  GET /api/v1/deployments/{id}
  PATCH /api/v1/deployments/{id}
  GET /api/v1/deployments/{id}/events
  GET /api/v1/deployments/{id}/usage
  POST /api/v1/deployments/{id}/transition
  POST /api/v1/deployments/{id}/subscribe
  POST /api/v1/deployments/{id}/change-plan-version
  GET /api/v1/inventory
  GET /api/v1/inventory/{id}
  GET /api/v1/inventory/{id}/events
  GET /api/v1/projects
  GET /api/v1/projects/{id}
  POST /api/v1/invitations/accept
  GET /api/v1/users/{user_id}/api_keys
  POST /api/v1/users/{user_id}/api_keys
  GET /api/v1/users/{user_id}/api_keys/{key_id}
  DELETE /api/v1/users/{user_id}/api_keys/{key_id}
  POST /api/v1/users/{user_id}/api_keys/{key_id}/rotate`
  .trim()
  .split(/\n\s*/)

test('a member of a tenant gets 403 from every operation but those that are open to tenants', async t => {
  const { app, call, tokens } = await setup(t, { keys: false })
  const token = await tokens.tenant('acme')
  const passed: string[] = []
  for (const [path, methods] of Object.entries(app.swagger().paths ?? {})) {
    for (const method of Object.keys(methods as object)) {
      const url = path.replaceAll(/\{\w+\}/g, newId())
      const body = method === 'get' ? undefined : { '?': 1 }
      const answer = await call(method.toUpperCase(), url, { token, body })
      if (answer.status !== 403) passed.push(`${method.toUpperCase()} ${path}`)
      else assert.equal(answer.body.code, 'forbidden', path)
    }
  }
  assert.deepEqual(passed.sort(), OPEN.sort())
})
