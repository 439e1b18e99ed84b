import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPERATOR_PERMISSIONS, TENANT_PERMISSIONS } from '../../src/features/roles/role.ts'
import { type Bundle, setup } from '../support/setup.ts'

const base = '/api/v1/admin/roles'
const inventory = '/api/v1/inventory'

async function register({ call }: Bundle, name: string, ...permissions: string[]) {
  const answer = await call('POST', base, { body: { name, permissions } })
  assert.equal(answer.status, 201, answer.text)
  return answer
}

test('a role is registered, shown, changed and deleted; platform_admin is built in and stays as it is', async t => {
  const bundle = await setup(t)
  const { call, clock, tokens } = bundle
  const made = await call('POST', base, {
    body: { name: 'viewer', description: 'Looks on', permissions: ['inventory:read', 'catalog:read'] },
  })
  assert.equal(made.status, 201, made.text)
  const path = made.headers.get('location')!
  assert.equal(path, `${base}/viewer`)
  const viewer = {
    name: 'viewer',
    description: 'Looks on',
    permissions: ['catalog:read', 'inventory:read'],
    built_in: false,
    created_at: '2026-11-15T12:00:00.000Z',
    updated_at: '2026-11-15T12:00:00.000Z',
  }
  assert.deepEqual(made.body.data, viewer)
  assert.deepEqual((await call('GET', path)).body.data, viewer)

  clock.advance(1_000)
  const changed = await call('PATCH', path, { body: { permissions: ['*:read', '*:read'] } })
  assert.deepEqual(changed.body.data, {
    ...viewer,
    permissions: ['*:read'],
    updated_at: '2026-11-15T12:00:01.000Z',
  })

  await register(bundle, 'auditor')
  const names: string[] = []
  for (let next = `${base}?limit=1`; next; ) {
    const page = await call('GET', next)
    names.push(...page.body.data.map((role: { name: string }) => role.name))
    next = /<([^>]+)>/.exec(page.headers.get('link') ?? '')?.[1] ?? ''
  }
  assert.deepEqual(names, ['auditor', 'platform_admin', 'viewer'])

  for (const name of ['viewer', 'platform_admin']) {
    const again = await call('POST', base, { body: { name, permissions: [] } })
    assert.deepEqual([again.status, again.body.code], [409, 'role_exists'], name)
  }
  const builtIn = await call('GET', `${base}/platform_admin`)
  assert.deepEqual([builtIn.body.data.built_in, builtIn.body.data.permissions], [true, ['*:*']])
  for (const method of ['PATCH', 'DELETE']) {
    const body = method === 'PATCH' ? { permissions: [] } : undefined
    const refused = await call(method, `${base}/platform_admin`, { body })
    assert.deepEqual([refused.status, refused.body.code], [409, 'role_built_in'], method)
  }

  assert.equal((await call('DELETE', path)).status, 204)
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const body = method === 'PATCH' ? {} : undefined
    assert.equal((await call(method, path, { body })).status, 404, method)
    assert.equal((await call(method, `${base}/No%20name`, { body })).status, 404, method)
  }
  for (const [pointer, body] of [
    ['/name', { name: 'Viewer', permissions: [] }],
    ['/permissions', { name: 'viewer' }],
    ['/permissions/0', { name: 'viewer', permissions: ['secrets:read'] }],
    ['/permissions/1', { name: 'viewer', permissions: ['*:read', '*:*'] }],
    ['/colour', { name: 'viewer', permissions: [], colour: 'red' }],
  ] as const) {
    const refused = await call('POST', base, { body })
    assert.deepEqual([refused.status, refused.body.errors?.[0]?.pointer], [422, pointer], refused.text)
  }
  const token = await tokens.tenant('acme')
  for (const path of [base, '/api/v1/admin/users', '/api/v1/admin/invitations'])
    assert.equal((await call('GET', path, { token })).status, 403, path)
})

test('callers may do what the registered roles of their tokens permit together', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const as = (...role: string[]) => tokens.tenant('acme', { sub: 'alice', role })
  const statuses = async (token: string) => [
    (await call('GET', inventory, { token })).status,
    (await call('GET', '/api/v1/catalog/plans', { token })).status,
    (await call('POST', '/api/v1/deployments', { token, body: {} })).status,
    (await call('GET', '/api/v1/session', { token })).status,
  ]
  const open = [200, 200, 422, 200]
  const [looker, seller, both, other] = [
    await as('looker'),
    await as('seller'),
    await as('looker', 'seller'),
    await as('looker', 'member'),
  ]
  assert.deepEqual(await statuses(looker), open, 'before it is registered')

  await register(bundle, 'looker', 'inventory:read')
  await register(bundle, 'seller', '*:write', 'catalog:read')
  assert.deepEqual(await statuses(looker), [200, 403, 403, 200], 'at once')
  assert.deepEqual(await statuses(seller), [403, 200, 422, 200])
  assert.deepEqual(await statuses(both), open)
  assert.deepEqual(await statuses(other), open, 'a role that is not registered holds nothing back')
  assert.deepEqual(await statuses(await tokens.tenant('acme', { role: [] })), open)
  assert.equal((await fetch(bundle.url + inventory, { method: 'HEAD', headers: bearer(looker) })).status, 200)
  const admin = await tokens.admin({ role: ['platform_admin', 'looker'] })
  assert.equal((await call('GET', '/api/v1/catalog/plans', { token: admin })).status, 200)

  const refused = await call('POST', '/api/v1/deployments', { token: looker, body: {} })
  assert.deepEqual(
    [refused.body.code, refused.body.detail],
    ['forbidden', 'Your role does not permit this: it lacks deployments:write.'],
  )
  assert.equal((await call('GET', '/api/v1/nowhere', { token: looker })).status, 404)

  const { body } = await call('POST', '/api/v1/users/alice/api_keys', { token: both })
  await call('PATCH', `${base}/seller`, { body: { permissions: [] } })
  assert.deepEqual(await statuses(both), [200, 403, 403, 200], 'a change counts at once')
  assert.deepEqual(await statuses(body.data.api_key), [200, 403, 403, 200], 'also for keys made before')
  await call('DELETE', `${base}/seller`)
  assert.deepEqual(await statuses(both), open)
})

test('the permissions are those that the operations need, and the one of a rule', async t => {
  const { app } = await setup(t)
  const needed = new Map<string, string>()
  const callers = new Map<string, Set<string>>()
  for (const [path, methods] of Object.entries(app.swagger().paths ?? {}))
    for (const [method, operation] of Object.entries(methods as Record<string, Record<string, string>>)) {
      const { 'x-permission': permission, 'x-callers': who } = operation
      assert.equal(
        permission === undefined,
        ['anyone', 'platform_admin'].includes(who!) || FREE.includes(`${method} ${path}`),
      )
      needed.set(`${method} ${path}`, permission ?? who!)
      if (permission) callers.set(permission, (callers.get(permission) ?? new Set()).add(who!))
    }
  const usedBy = (test: (who: Set<string>) => boolean) =>
    [...callers]
      .filter(([, who]) => test(who))
      .map(([permission]) => permission)
      .sort()
  assert.deepEqual(
    usedBy(who => who.has('tenants')),
    [...TENANT_PERMISSIONS],
  )
  assert.deepEqual([...usedBy(who => !who.has('tenants')), 'deployments:operate'].sort(), [
    ...OPERATOR_PERMISSIONS,
  ])
  for (const [operation, permission] of Object.entries({
    'get /api/v1/inventory/{id}': 'inventory:read',
    'delete /api/v1/users/{user_id}/api_keys/{key_id}': 'users:write',
    'post /api/v1/drift/{id}/accept': 'drift:accept',
    'post /api/v1/deployments/{id}/provision': 'sagas:run',
    'post /api/v1/deployments/{id}/deprovision': 'sagas:run',
    'post /api/v1/sagas': 'sagas:run',
    'post /api/v1/sagas/{id}/cancel': 'sagas:run',
    'get /api/v1/billing/margins': 'billing:read',
    'post /api/v1/admin/scheduled_tasks/{name}/run': 'scheduled_tasks:run',
    'post /api/v1/admin/scheduled_tasks/{name}/pause': 'scheduled_tasks:write',
    'get /api/v1/admin/audit_log': 'audit_log:read',
  }))
    assert.equal(needed.get(operation), permission, operation)
  const admins = [...needed]
    .filter(([, who]) => who === 'platform_admin')
    .map(([operation]) => operation.replace(/^.* \/api\/v1\/(admin\/)?/, '').replace(/\/\{.*/, ''))
  assert.deepEqual([...new Set(admins)].sort(), [
    'catalog/backtest',
    'invitations',
    'roles',
    'secrets',
    'storage_backends',
    'test-clocks',
    'users',
    'webhooks',
  ])
})

/** What every caller may ask, whatever its roles permit. */
const FREE = ['get', 'post', 'delete']
  .map(method => `${method} /api/v1/session`)
  .concat('post /api/v1/invitations/accept', 'get /api/v1/openapi.json', 'get /api/v1/overview')

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
