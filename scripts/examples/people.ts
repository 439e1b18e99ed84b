// Roles are registered, people invited, added, held to a role and suspended.
import type { Teller } from './recorder.ts'

const admin = '/api/v1/admin'

export async function people(told: Teller): Promise<void> {
  await roles(told)
  await invitations(told)
  await users(told)
}

async function roles({ tell }: Teller): Promise<void> {
  const base = `${admin}/roles`
  const viewer = { name: 'viewer', description: 'Looks on', permissions: ['*:read'] }
  await tell(201, 'POST', base, { body: viewer })
  await tell('role_exists', 'POST', base, { body: viewer })
  await tell(200, 'PATCH', `${base}/viewer`, { body: { permissions: ['inventory:read', 'catalog:read'] } })
  await tell(200, 'GET', `${base}/viewer`)
  await tell(200, 'GET', base)
  await tell('role_built_in', 'DELETE', `${base}/platform_admin`)
}

async function invitations({ tell, tokens }: Teller): Promise<void> {
  const base = `${admin}/invitations`
  const body = { email: 'ann@example.com', tenant_id: 'acme', role: 'viewer' }
  const { body: made } = await tell(201, 'POST', base, { body })
  const path = `${base}/${made.data.id}`
  await tell('already_invited', 'POST', base, { body })
  await tell('role_in_use', 'DELETE', `${admin}/roles/viewer`)
  await tell(200, 'GET', path)
  await tell(200, 'GET', base)
  const { body: other } = await tell(201, 'POST', base, { body: { ...body, email: 'bob@example.com' } })
  await tell(204, 'DELETE', `${base}/${other.data.id}`)
  const accept = { token: await tokens.tenant('acme', { sub: 'ann' }), body: { token: made.data.token } }
  await tell(200, 'POST', '/api/v1/invitations/accept', accept)
  await tell('already_accepted', 'DELETE', path)
}

async function users({ tell, tokens }: Teller): Promise<void> {
  const base = `${admin}/users`
  const bob = { id: 'bob', tenant_id: 'acme', email: 'bob@example.com', display_name: 'Bob' }
  await tell(201, 'POST', base, { body: bob })
  await tell('user_exists', 'POST', base, { body: bob })
  await tell(200, 'GET', base)
  await tell(200, 'GET', `${base}/bob`)
  await tell(200, 'PATCH', `${base}/bob`, { body: { status: 'suspended' } })
  const token = await tokens.tenant('acme', { sub: 'bob' })
  await tell('user_suspended', 'GET', '/api/v1/inventory', { token })
  await tell(201, 'POST', base, { body: { ...bob, tenant_id: 'globex' } })
  await tell('user_ambiguous', 'GET', `${base}/bob`)
  await tell(204, 'DELETE', `${base}/bob?tenant_id=acme`)
  await tell(201, 'POST', base, { body: { id: 'ada', tenant_id: 'platform' } })
  await tell('own_user', 'DELETE', `${base}/ada`)
  const eve = await tokens.admin({ sub: 'eve' })
  await tell('last_operator', 'PATCH', `${base}/ada`, { token: eve, body: { status: 'suspended' } })
  await tell(204, 'DELETE', `${base}/ann`)
  await tell(204, 'DELETE', `${admin}/roles/viewer`)
}
