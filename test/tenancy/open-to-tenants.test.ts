// What a member of a tenant may call, written out: a route that is opened by mistake is none of these.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { newId } from '../../src/kernel/ids.ts'
import { setup } from '../support/setup.ts'

const OPEN = `
  GET /api/health
  GET /api/v1/session
  POST /api/v1/session
  DELETE /api/v1/session
  GET /api/v1/openapi.json
  GET /api/v1/overview
  GET /api/v1/catalog/plans
  GET /api/v1/catalog/plans/:code
  GET /api/v1/catalog/addons
  GET /api/v1/catalog/addons/:code
  GET /api/v1/catalog/meters
  GET /api/v1/catalog/meters/:code
  GET /api/v1/budgets
  POST /api/v1/budgets
  GET /api/v1/budgets/:id
  PATCH /api/v1/budgets/:id
  DELETE /api/v1/budgets/:id
  GET /api/v1/budgets/:id/alerts
  GET /api/v1/budgets/unusual-days
  GET /api/v1/costs
  GET /api/v1/costs/estimate
  GET /api/v1/costs/lines
  GET /api/v1/costs/summary
  GET /api/v1/costs/focus
  GET /api/v1/deployments
  POST /api/v1/deployments
  GET /api/v1/deployments/:id
  GET /api/v1/deployments/lifecycle
  PATCH /api/v1/deployments/:id
  GET /api/v1/deployments/:id/events
  GET /api/v1/deployments/:id/usage
  GET /api/v1/deployments/:id/usage/days
  GET /api/v1/deployments/:id/statements
  GET /api/v1/statements
  GET /api/v1/statements/:id
  POST /api/v1/deployments/:id/transition
  POST /api/v1/deployments/:id/subscribe
  POST /api/v1/deployments/:id/change-plan-version
  POST /api/v1/deployments/:id/addons
  DELETE /api/v1/deployments/:id/addons/:addon_id
  GET /api/v1/findings
  GET /api/v1/findings/summary
  GET /api/v1/findings/checks
  GET /api/v1/findings/:id
  GET /api/v1/inventory
  GET /api/v1/inventory/:id
  GET /api/v1/inventory/:id/events
  GET /api/v1/inventory/:id/owners
  GET /api/v1/inventory/:id/relations
  GET /api/v1/inventory/changes
  GET /api/v1/projects
  GET /api/v1/projects/:id
  GET /api/v1/sagas
  GET /api/v1/sagas/:id
  GET /api/v1/sagas/:id/steps
  POST /api/v1/usage-events
  GET /api/v1/webhooks
  POST /api/v1/webhooks
  GET /api/v1/webhooks/:id
  PATCH /api/v1/webhooks/:id
  DELETE /api/v1/webhooks/:id
  POST /api/v1/webhooks/:id/rotate-secret
  POST /api/v1/webhooks/:id/test
  GET /api/v1/webhooks/:id/deliveries
  GET /api/v1/webhooks/:id/deliveries/:delivery_id
  POST /api/v1/webhooks/:id/deliveries/:delivery_id/replay
  POST /api/v1/invitations/accept
  GET /api/v1/users/:user_id/api_keys
  POST /api/v1/users/:user_id/api_keys
  GET /api/v1/users/:user_id/api_keys/:key_id
  DELETE /api/v1/users/:user_id/api_keys/:key_id
  POST /api/v1/users/:user_id/api_keys/:key_id/rotate`
  .trim()
  .split(/\n\s*/)

/** Every route of the app, those too that its description leaves out: the router's own drawing of them. */
function routesOf(app: FastifyInstance): [method: string, path: string][] {
  const found: [string, string][] = []
  const parts: string[] = []
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent, part, methods] = /^([│ ]*)[├└]── (\S+)(?: \((.*)\))?$/.exec(line) ?? []
    if (indent === undefined || part === undefined) continue
    parts.splice(indent.length / 4, Number.POSITIVE_INFINITY, part)
    for (const method of methods?.split(', ') ?? [])
      if (method !== 'HEAD' && method !== 'OPTIONS') found.push([method, parts.join('')])
  }
  return found
}

test('a member of a tenant gets 403 from every route but those that are open to tenants', async t => {
  const { app, call, tokens } = await setup(t, { keys: false })
  const token = await tokens.tenant('acme')
  const described = Object.values(app.swagger().paths ?? {}).flatMap(Object.keys)
  const routes = routesOf(app)
  assert.ok(routes.length >= described.length, `${routes.length} routes, ${described.length} operations`)
  const passed: string[] = []
  for (const [method, path] of routes) {
    const url = path.replaceAll(/:\w+/g, newId())
    const answer = await call(method, url, { token, body: method === 'GET' ? undefined : { '?': 1 } })
    if (answer.status !== 403) passed.push(`${method} ${path}`)
    else assert.equal(answer.body.code, 'forbidden', path)
  }
  assert.deepEqual(passed.sort(), OPEN.sort())
})
