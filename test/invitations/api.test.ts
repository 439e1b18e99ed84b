import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { type Bundle, setup } from '../support/setup.ts'

const base = '/api/v1/admin/invitations'
const accept = '/api/v1/invitations/accept'
const ann = { email: 'Ann@example.com', tenant_id: 'acme' }

async function invite({ call }: Bundle, more: object = {}) {
  const answer = await call('POST', base, { body: { ...ann, ...more } })
  assert.equal(answer.status, 201, answer.text)
  return answer.body.data
}

const addRole = ({ call }: Bundle, name: string, ...permissions: string[]) =>
  call('POST', '/api/v1/admin/roles', { body: { name, permissions } })

test('an invitation is made, its token shown once, and accepted once by a caller of its tenant', async t => {
  const bundle = await setup(t)
  const { call, clock, tokens, logged, ctx } = bundle
  await addRole(bundle, 'viewer', '*:read')
  const made = await call('POST', base, { body: { ...ann, role: 'viewer' } })
  assert.equal(made.status, 201, made.text)
  const { token, ...invitation } = made.body.data
  assert.match(token, /^inv_[0-9A-Za-z]{43}$/)
  assert.equal(made.headers.get('cache-control'), 'no-store')
  const path = made.headers.get('location')!
  assert.equal(path, `${base}/${invitation.id}`)
  const { id } = invitation
  const pending = {
    id,
    ...ann,
    role: 'viewer',
    status: 'pending',
    invited_by: 'ada',
    expires_at: '2026-11-22T12:00:00.000Z',
    created_at: '2026-11-15T12:00:00.000Z',
    accepted_at: null,
    accepted_by: null,
  }
  assert.deepEqual(invitation, pending)
  assert.deepEqual((await call('GET', path)).body.data, pending)

  const alice = await tokens.tenant('acme', { sub: 'alice', role: 'viewer' })
  const stranger = await tokens.tenant('other', { sub: 'alice' })
  const body = { token }
  assert.equal((await call('POST', accept, { token: stranger, body })).status, 404)
  clock.advance(1_000)
  const accepted = await call('POST', accept, { token: alice, body })
  assert.equal(accepted.status, 200, accepted.text)
  const user = {
    id: 'alice',
    tenant_id: 'acme',
    email: ann.email,
    display_name: null,
    role: 'viewer',
    status: 'active',
    created_at: '2026-11-15T12:00:01.000Z',
    updated_at: '2026-11-15T12:00:01.000Z',
  }
  assert.deepEqual(accepted.body.data, user)
  assert.deepEqual((await call('GET', '/api/v1/admin/users/alice')).body.data, user)
  assert.deepEqual((await call('GET', path)).body.data, {
    ...pending,
    status: 'accepted',
    accepted_at: '2026-11-15T12:00:01.000Z',
    accepted_by: 'alice',
  })
  assert.equal((await call('POST', accept, { token: alice, body })).status, 404, 'a second time')
  const revoked = await call('DELETE', path)
  assert.deepEqual([revoked.status, revoked.body.code], [409, 'already_accepted'])

  const { rows } = await sql<{ text: string }>`select i::text as text from invitations i`.execute(ctx.db)
  assert.match(rows[0]!.text, /Ann@example\.com/)
  assert.ok(!rows[0]!.text.includes(token.slice(4)) && !logged().includes(token.slice(4)))
})

test('an unknown, revoked, expired, used or foreign invitation is the same 404', async t => {
  const bundle = await setup(t)
  const { call, clock, tokens } = bundle
  const token = await tokens.tenant('acme', { sub: 'alice' })
  const used = await invite(bundle, { email: 'used@example.com' })
  assert.equal((await call('POST', accept, { token, body: { token: used.token } })).status, 200)
  const expired = await invite(bundle, { email: 'late@example.com', expires_at: '2026-11-15T12:00:01Z' })
  const foreign = await invite(bundle, { tenant_id: 'other' })
  const revoked = await invite(bundle, { email: 'gone@example.com' })
  for (let i = 0; i < 2; i++) assert.equal((await call('DELETE', `${base}/${revoked.id}`)).status, 204)
  clock.advance(1_000)
  const answers = new Set<string>()
  for (const { token: given } of [used, expired, foreign, revoked, { token: 'inv_x' }, { token: '\u00e9' }]) {
    const { status, body } = await call('POST', accept, { token, body: { token: given } })
    answers.add(JSON.stringify({ status, ...body, request_id: '' }))
  }
  assert.equal(answers.size, 1)
  assert.match([...answers][0]!, /"status":404/)

  const statusesOf = async (query: string) =>
    (await call('GET', `${base}?${query}`)).body.data.map((row: { id: string; status: string }) => row.status)
  assert.deepEqual(await statusesOf(''), ['revoked', 'pending', 'expired', 'accepted'], 'newest first')
  for (const status of ['pending', 'accepted', 'revoked', 'expired'])
    assert.deepEqual(await statusesOf(`status=${status}`), [status])
  assert.deepEqual(await statusesOf('tenant_id=other'), ['pending'])
  assert.deepEqual(await statusesOf('email=LATE%40example.com'), ['expired'])
  const { body: page } = await call('GET', `${base}?limit=3`)
  assert.deepEqual(await statusesOf(`limit=3&cursor=${page.next_cursor}`), ['accepted'])
  assert.equal((await call('DELETE', `${base}/${expired.id}`)).status, 204, 'what has expired may go as well')
  for (const method of ['GET', 'DELETE']) {
    assert.equal((await call(method, `${base}/01890000-0000-7000-8000-000000000000`)).status, 404)
    assert.equal((await call(method, `${base}/none`)).status, 404)
  }
})

test('an address has one pending invitation to a tenant, in capitals or not, until it has answered or it is too late', async t => {
  const bundle = await setup(t)
  const { call, clock } = bundle
  const first = await invite(bundle, { expires_at: '2026-11-15T12:00:01Z' })
  const twice = async () => call('POST', base, { body: { ...ann, email: 'aNN@Example.com' } })
  const refused = await twice()
  assert.deepEqual([refused.status, refused.body.code], [409, 'already_invited'])
  const { id: elsewhere } = await invite(bundle, { tenant_id: 'other', expires_at: '2026-11-15T12:00:01Z' })
  clock.advance(1_000)
  const second = await twice()
  assert.equal(second.status, 201, 'the first has expired')
  assert.equal((await call('GET', `${base}/${first.id}`)).body.data.status, 'expired')
  const told = await call('GET', `/api/v1/admin/audit_log?subject_id=${elsewhere}`)
  assert.equal(told.body.data.length, 1, 'that of another tenant is left as it is')
  assert.equal((await twice()).status, 409)
  await call('DELETE', second.headers.get('location')!)
  assert.equal((await twice()).status, 201, 'the second is revoked')

  const other = { email: 'new@example.com', tenant_id: 'acme' }
  for (const [pointer, body] of [
    ['/email', { ...other, email: 'new' }],
    ['/tenant_id', { email: other.email }],
    ['/role', { ...other, role: 'unheard-of' }],
    ['/role', { ...other, role: 'platform_admin' }],
    ['/expires_at', { ...other, expires_at: '2026-11-15T12:00:00Z' }],
    ['/expires_at', { ...other, expires_at: '2027-02-14T00:00:00Z' }],
  ] as const) {
    const answer = await call('POST', base, { body })
    assert.deepEqual([answer.status, answer.body.errors?.[0]?.pointer], [422, pointer], answer.text)
  }
})

test('a promised role stays until the invitation is answered, and the invited has it at once', async t => {
  const bundle = await setup(t)
  const { call, clock, tokens } = bundle
  await addRole(bundle, 'looker', 'inventory:read')
  await addRole(bundle, 'nothing')
  const drop = async () => (await call('DELETE', '/api/v1/admin/roles/looker')).status
  const late = await invite(bundle, { role: 'looker', expires_at: '2026-11-15T12:00:01Z' })
  assert.equal(await drop(), 409)
  clock.advance(1_000)
  const { token } = await invite(bundle, { role: 'looker' })
  assert.equal((await call('GET', `${base}/${late.id}`)).body.data.role, 'looker')
  assert.equal(await drop(), 409)

  const alice = await tokens.tenant('acme', { sub: 'alice', role: 'nothing' })
  const plain = await tokens.tenant('acme', { sub: 'alice', role: 'member' })
  const plans = async () => (await call('GET', '/api/v1/catalog/plans', { token: plain })).status
  assert.equal(await plans(), 200)
  const accepted = await call('POST', accept, { token: alice, body: { token } })
  assert.equal(accepted.status, 200, 'whatever the roles of the token permit')
  assert.equal(await plans(), 403)
  assert.equal(await drop(), 409, 'alice has it now')

  await call('PATCH', '/api/v1/admin/users/alice', { body: { display_name: 'Alice' } })
  const again = await invite(bundle, { email: 'alice@example.com' })
  const known = await call('POST', accept, { token: plain, body: { token: again.token } })
  const { email, role, display_name } = known.body.data
  assert.deepEqual([email, role, display_name], ['alice@example.com', 'looker', 'Alice'])
  await call('DELETE', '/api/v1/admin/users/alice')
  assert.equal(await drop(), 204, 'invitations that have ended hold nothing')

  const platform = await invite(bundle, { tenant_id: 'platform' })
  const admin = await call('POST', accept, { body: { token: platform.token } })
  assert.deepEqual([admin.body.data.id, admin.body.data.tenant_id], ['ada', 'platform'])
})
