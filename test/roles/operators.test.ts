// Operators: callers of the platform's tenant whose roles are all registered. They see all tenants for what their roles
// permit, and nothing else.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPERATOR_PERMISSIONS, PERMISSIONS, TENANT_PERMISSIONS } from '../../src/features/roles/role.ts'
import { newId } from '../../src/kernel/ids.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { deployment, plan } from '../support/factories.ts'
import { type Bundle, setup } from '../support/setup.ts'

const session = '/api/v1/session'

/** The token of an operator with a role of its own that has these permissions. */
async function operator({ call, tokens }: Bundle, sub: string, ...permissions: string[]): Promise<string> {
  const { status, text } = await call('POST', '/api/v1/admin/roles', {
    body: { name: `role-of-${sub}`, permissions },
  })
  assert.equal(status, 201, text)
  return tokens.tenant('platform', { sub, role: `role-of-${sub}` })
}

interface Described {
  'x-callers': string
  'x-permission'?: string
  'x-permission-instead'?: string
}

test(
  'every operation is for whom its description says: 403 names the permission that an operator lacks',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { env: { RATE_LIMIT_PER_MINUTE: '0' }, keys: false })
    const { app, call, tokens } = bundle
    const holders = new Map<string, string>()
    for (const permission of PERMISSIONS)
      holders.set(
        permission,
        await operator(bundle, permission.replace(':', '-').replace('*', 'all'), permission),
      )
    const lacking = new Map<string, string>()
    const withAllBut = async (needed: string, instead?: string) => {
      const name = ['all-but', needed, ...(instead ? [instead] : [])].join('-').replaceAll(':', '-')
      const known = lacking.get(name)
      if (known) return known
      const others = PERMISSIONS.filter(
        one =>
          one !== needed && one !== instead && !(one.startsWith('*') && one.endsWith(needed.split(':')[1]!)),
      )
      lacking.set(name, await operator(bundle, name, ...others))
      return lacking.get(name)!
    }
    const member = await tokens.tenant('acme')
    const everything = await operator(bundle, 'everything', ...PERMISSIONS)
    let walked = 0
    for (const [path, methods] of Object.entries(app.swagger().paths ?? {})) {
      for (const [method, described] of Object.entries(methods as Record<string, Described>)) {
        const { 'x-callers': callers, 'x-permission': needed, 'x-permission-instead': instead } = described
        if (callers === 'anyone' || path === session) continue
        const url = path.replaceAll(/\{\w+\}/g, newId())
        const what = `${method} ${path}`
        const ask = (token: string) =>
          call(method.toUpperCase(), url, { token, body: method === 'get' ? undefined : { '?': 1 } })
        const refused = async (token: string, detail: string) => {
          const { status, body } = await ask(token)
          assert.deepEqual([status, body?.code, body?.detail], [403, 'forbidden', detail], what)
        }
        const passed = async (token: string) => assert.notEqual((await ask(token)).status, 403, what)
        walked++
        await passed(await tokens.admin())
        if (callers === 'platform_admin') {
          await refused(everything, 'This is for a platform_admin.')
          await refused(member, 'This is for a platform_admin.')
          continue
        }
        if (callers === 'tenants') await passed(member)
        else await refused(member, `This is for operators with ${needed}, and for a platform_admin.`)
        if (needed === undefined) continue
        await refused(
          await withAllBut(needed, instead),
          `Your role does not permit this: it lacks ${needed}.`,
        )
        if (instead) await passed(holders.get(instead)!)
        await passed(holders.get(needed)!)
        const [, kind] = needed.split(':')
        if (kind === 'read' || kind === 'write') await passed(holders.get(`*:${kind}`)!)
      }
    }
    assert.ok(walked > 90, String(walked))
  },
)

test('an operator sees all tenants for what its role permits, and writes in any of them', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const [acme, globex] = [await deployment(bundle, 'acme'), await deployment(bundle, 'globex')]
  const reader = await operator(bundle, 'rita', 'deployments:read')
  const ids = async (token: string, query = '') =>
    (await call('GET', `/api/v1/deployments${query}`, { token })).body.data.map(
      ({ id }: { id: string }) => id,
    )
  assert.deepEqual(await ids(reader), [acme.id, globex.id])
  assert.deepEqual(await ids(reader, '?tenant_id=globex'), [globex.id])
  for (const { id } of [acme, globex])
    for (const path of ['', '/events', '/usage'])
      assert.equal((await call('GET', `/api/v1/deployments/${id}${path}`, { token: reader })).status, 200)
  const patch = (token: string, body: object) =>
    call('PATCH', `/api/v1/deployments/${acme.id}`, { token, body })
  assert.equal((await patch(reader, { display_name: 'x' })).status, 403)

  const writer = await operator(bundle, 'will', 'deployments:write')
  assert.equal((await call('GET', '/api/v1/deployments', { token: writer })).status, 403)
  assert.equal((await patch(writer, { display_name: 'Theirs' })).body.data.display_name, 'Theirs')
  const create = (tenant_id?: string) =>
    call('POST', '/api/v1/deployments', { token: writer, body: { slug: 'new', tenant_id } })
  assert.equal((await create('initech')).body.data.tenant_id, 'initech')
  assert.equal((await create()).body.data.tenant_id, 'platform')

  const trial = { plan_code: await plan(bundle), trial_ends_at: '2026-12-01T00:00:00Z' }
  const subscribe = (token: string, id: string) =>
    call('POST', `/api/v1/deployments/${id}/subscribe`, { token, body: trial })
  const refused = [await patch(writer, { billing_action_suspended: true }), await subscribe(writer, acme.id)]
  for (const { status, body } of refused) {
    assert.equal(status, 403)
    assert.match(body.detail, /for operators with deployments:operate/)
  }
  const operating = await operator(bundle, 'olga', 'deployments:write', 'deployments:operate')
  assert.equal((await patch(operating, { billing_action_suspended: true })).status, 200)
  assert.equal((await subscribe(operating, acme.id)).status, 201)
  const tenants = await tokens.tenant('acme', { role: 'role-of-olga' })
  assert.equal(
    (await patch(tenants, { billing_action_suspended: false })).status,
    403,
    'a tenant’s role operates nothing',
  )
})

test('a caller of the platform’s tenant is an operator by registered roles alone, from the token or the directory', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  await deployment(bundle, 'acme')
  const token = await operator(bundle, 'rita', 'deployments:read')
  const role = 'role-of-rita'
  const as = async (tenant: string, ...roles: string[]) => {
    const token = await tokens.tenant(tenant, { sub: 'sam', role: roles })
    const { kind, permissions } = (await call('GET', session, { token })).body.data
    const { status, body } = await call('GET', '/api/v1/deployments', { token })
    return [kind, permissions.length, status, body.data?.length]
  }
  assert.deepEqual(await as('platform', role), ['operator', 1, 200, 1])
  assert.deepEqual(await as('platform', role, 'member'), ['member', TENANT_PERMISSIONS.length, 200, 0])
  assert.deepEqual(await as('platform', 'member'), ['member', TENANT_PERMISSIONS.length, 200, 0])
  assert.deepEqual(await as('platform'), ['member', TENANT_PERMISSIONS.length, 200, 0])
  assert.deepEqual(await as('globex', role), ['member', 1, 200, 0])
  await call('POST', '/api/v1/admin/users', { body: { id: 'sam', tenant_id: 'platform', role } })
  assert.deepEqual(await as('platform'), ['operator', 1, 200, 1])
  assert.deepEqual(await as('platform', 'member'), ['member', 1, 200, 0])
  await call('POST', '/api/v1/admin/users', { body: { id: 'rita', tenant_id: 'platform' } })
  await call('PATCH', '/api/v1/admin/users/sam', { body: { status: 'suspended' } })
  assert.equal((await call('GET', session, { token })).status, 200, 'rita is somebody else')
  const suspended = await tokens.tenant('platform', { sub: 'sam', role })
  assert.equal((await call('GET', session, { token: suspended })).body.code, 'user_suspended')
  const admin = (await call('GET', session)).body.data
  assert.equal(admin.kind, 'platform_admin')
  assert.ok(OPERATOR_PERMISSIONS.every(permission => admin.permissions.includes(permission)))
})

test('an operator manages its own keys, which are operators too, and nobody else’s, not even a namesake’s', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  await deployment(bundle, 'acme')
  const token = await operator(bundle, 'ada', 'users:read', 'users:write', 'deployments:read')
  const keys = '/api/v1/users/ada/api_keys'
  const make = async (token: string) => (await call('POST', keys, { token, body: {} })).body.data
  const [own, member, admins] = [
    await make(token),
    await make(await tokens.tenant('acme', { sub: 'ada' })),
    await make(await tokens.admin({ tenant_id: 'platform' })),
  ]
  const listed = (await call('GET', keys, { token })).body.data
  assert.deepEqual(
    listed.map(({ id }: { id: string }) => id),
    [own.key_id],
  )
  for (const { key_id } of [member, admins])
    assert.equal((await call('DELETE', `${keys}/${key_id}`, { token })).status, 404)
  assert.equal((await call('GET', '/api/v1/users/bob/api_keys', { token })).status, 404)
  const other = await call('POST', keys, { token, body: { tenant_id: 'acme' } })
  assert.equal(other.status, 403)
  const { body } = await call('GET', '/api/v1/deployments', { token: own.api_key })
  assert.equal(body.data.length, 1)
})

test('the audit log names an operator as it names others', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const token = await operator(bundle, 'olga', 'drift:write', 'audit_log:read')
  const rule = { field: 'tags', reason: 'Ours' }
  const made = await call('POST', '/api/v1/drift/ignore-rules', { token, body: rule })
  assert.equal(made.status, 201, made.text)
  const { body } = await call('GET', '/api/v1/admin/audit_log?actor=olga', { token })
  const [{ actor, actor_role, actor_tenant_id, operation, credential }] = body.data
  assert.deepEqual(
    [actor, actor_role, actor_tenant_id, operation, credential.kind],
    ['olga', 'role-of-olga', 'platform', 'createIgnoreRule', 'token'],
  )
})
