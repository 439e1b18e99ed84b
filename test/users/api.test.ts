import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aroundStatements } from '../support/inspect-database.ts'
import { type Bundle, setup } from '../support/setup.ts'

const base = '/api/v1/admin/users'
const session = '/api/v1/session'

async function add({ call }: Bundle, id: string, tenant_id: string, more: object = {}): Promise<string> {
  const answer = await call('POST', base, { body: { id, tenant_id, ...more } })
  assert.equal(answer.status, 201, answer.text)
  return answer.headers.get('location')!
}

const addRole = ({ call }: Bundle, name: string, ...permissions: string[]) =>
  call('POST', '/api/v1/admin/roles', { body: { name, permissions } })

/** A new API key of the caller's own. */
async function keyOf({ call }: Bundle, user: string, token: string, body: object = {}) {
  const answer = await call('POST', `/api/v1/users/${user}/api_keys`, { token, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body.data as { api_key: string; key_id: string }
}

test('a user is added, found by every filter, changed, and taken out again', async t => {
  const bundle = await setup(t)
  const { call, clock } = bundle
  await addRole(bundle, 'viewer', '*:read')
  const made = await call('POST', base, {
    body: {
      id: 'auth0|a/b',
      tenant_id: 'acme & co',
      email: 'Ann@example.com',
      display_name: 'Ann',
      role: 'viewer',
    },
  })
  assert.equal(made.status, 201, made.text)
  const ann = {
    id: 'auth0|a/b',
    tenant_id: 'acme & co',
    email: 'Ann@example.com',
    display_name: 'Ann',
    role: 'viewer',
    status: 'active',
    created_at: '2026-11-15T12:00:00.000Z',
    updated_at: '2026-11-15T12:00:00.000Z',
  }
  assert.deepEqual(made.body.data, ann)
  const path = made.headers.get('location')!
  assert.equal(path, `${base}/auth0%7Ca%2Fb?tenant_id=acme+%26+co`)
  assert.deepEqual((await call('GET', path)).body.data, ann)
  assert.deepEqual((await call('GET', `${base}/auth0%7Ca%2Fb`)).body.data, ann, 'its id alone will do')

  await add(bundle, 'bob', 'acme', { status: 'suspended' })
  await add(bundle, 'bob', 'other', { email: 'bob@example.com' })
  const listed = async (query: string) =>
    (await call('GET', `${base}?${query}`)).body.data.map(
      (user: { id: string; tenant_id: string }) => `${user.id} ${user.tenant_id}`,
    )
  const [first, second, third] = ['bob other', 'bob acme', 'auth0|a/b acme & co']
  assert.deepEqual(await listed(''), [first, second, third], 'newest first')
  assert.deepEqual(await listed('tenant_id=acme'), [second])
  assert.deepEqual(await listed('status=suspended'), [second])
  assert.deepEqual(await listed('status=active'), [first, third])
  assert.deepEqual(await listed('role=viewer'), [third])
  assert.deepEqual(await listed('email=aNN%40example.com'), [third])
  const page = await call('GET', `${base}?limit=2`)
  assert.equal(page.body.data.length, 2)
  assert.deepEqual(await listed(`limit=2&cursor=${page.body.next_cursor}`), [third])

  clock.advance(1_000)
  const changes = { email: null, display_name: 'Ann B.', role: null }
  const changed = await call('PATCH', path, { body: changes })
  assert.deepEqual(changed.body.data, { ...ann, ...changes, updated_at: '2026-11-15T12:00:01.000Z' })

  const again = await call('POST', base, { body: { id: 'bob', tenant_id: 'acme' } })
  assert.deepEqual([again.status, again.body.code], [409, 'user_exists'])
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const body = method === 'PATCH' ? {} : undefined
    const ambiguous = await call(method, `${base}/bob`, { body })
    assert.deepEqual(
      [ambiguous.status, ambiguous.body.code, ambiguous.body.tenant_ids],
      [409, 'user_ambiguous', ['acme', 'other']],
      method,
    )
    assert.equal((await call(method, `${base}/bob?tenant_id=third`, { body })).status, 404, method)
    assert.equal((await call(method, `${base}/nobody`, { body })).status, 404, method)
  }
  assert.equal((await call('DELETE', `${base}/bob?tenant_id=other`)).status, 204)
  assert.equal((await call('GET', `${base}/bob`)).body.data.tenant_id, 'acme', 'the one that is left')

  for (const [pointer, body] of [
    ['/tenant_id', { id: 'x' }],
    ['/id', { id: '', tenant_id: 'acme' }],
    ['/id', { id: 'x'.repeat(129), tenant_id: 'acme' }],
    ['/email', { id: 'x', tenant_id: 'acme', email: 'nobody' }],
    ['/display_name', { id: 'x', tenant_id: 'acme', display_name: 'a\u001bb' }],
    ['/status', { id: 'x', tenant_id: 'acme', status: 'gone' }],
    ['/role', { id: 'x', tenant_id: 'acme', role: 'unheard-of' }],
    ['/role', { id: 'x', tenant_id: 'acme', role: 'platform_admin' }],
  ] as const) {
    const refused = await call('POST', base, { body })
    assert.deepEqual([refused.status, refused.body.errors?.[0]?.pointer], [422, pointer], refused.text)
  }
  for (const role of ['unheard-of', 'platform_admin'])
    assert.equal((await call('PATCH', path, { body: { role } })).status, 422, role)
})

test('a suspended user is refused by token, session and API key, and a namesake in another tenant is not', async t => {
  const bundle = await setup(t)
  const { call, tokens, url } = bundle
  const token = await tokens.tenant('acme', { sub: 'alice' })
  const namesake = await tokens.tenant('other', { sub: 'alice' })
  const { api_key } = await keyOf(bundle, 'alice', token)
  const started = await fetch(url + session, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  const cookie = started.headers.get('set-cookie')!.split(';')[0]!
  const byCookie = () => call('GET', session, { token: null, headers: { cookie } })
  const everyWay = async () => [
    await call('GET', session, { token }),
    await byCookie(),
    await call('GET', session, { token: api_key }),
    await call('GET', '/api/v1/admin/users', { token }),
    await call('GET', '/api/v1/nowhere', { token }),
  ]
  const path = await add(bundle, 'alice', 'acme')
  assert.deepEqual(
    (await everyWay()).map(({ status }) => status),
    [200, 200, 200, 403, 404],
  )
  assert.equal((await call('PATCH', path, { body: { status: 'suspended' } })).status, 200)
  for (const answer of await everyWay()) {
    assert.equal(answer.status, 403, answer.text)
    assert.deepEqual([answer.body.code, answer.body.detail], ['user_suspended', 'This user is suspended.'])
  }
  assert.equal((await call('GET', session, { token: namesake })).status, 200)
  assert.equal((await call('GET', session, { token: 'not a token' })).status, 401)
  await call('PATCH', path, { body: { status: 'active' } })
  assert.equal((await byCookie()).status, 200)
})

test('a platform_admin is suspended under the platform’s tenant, whatever tenant its token or key names', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const bare = await tokens.admin({ sub: 'eve' })
  const named = await tokens.admin({ sub: 'eve', tenant_id: 'acme' })
  const { api_key } = await keyOf(bundle, 'eve', bare, { tenant_id: 'other' })
  const statuses = async () =>
    Promise.all([bare, named, api_key].map(async token => (await call('GET', base, { token })).status))
  const path = await add(bundle, 'eve', 'platform')
  await add(bundle, 'ada', 'platform')
  assert.deepEqual(await statuses(), [200, 200, 200])
  await call('PATCH', path, { body: { status: 'suspended' } })
  assert.deepEqual(await statuses(), [403, 403, 403])
  const user = await tokens.tenant('acme', { sub: 'eve' })
  assert.equal((await call('GET', session, { token: user })).status, 200, 'a tenant’s eve is somebody else')
  await call('PATCH', path, { body: { status: 'active' } })
  await add(bundle, 'eve', 'acme', { status: 'suspended' })
  assert.deepEqual(await statuses(), [200, 403, 200])
})

test('the last operator of the directory is suspended by nobody, until there is another', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const eve = await add(bundle, 'eve', 'platform')
  const bob = await add(bundle, 'bob', 'platform', { status: 'suspended' })
  await add(bundle, 'ann', 'acme')
  const suspend = async (path: string) => {
    const { status, body } = await call('PATCH', path, { body: { status: 'suspended', display_name: 'X' } })
    return [status, body.code]
  }
  assert.deepEqual(await suspend(eve), [409, 'last_operator'])
  assert.deepEqual((await call('GET', eve)).body.data.display_name, null, 'nothing of it is done')
  assert.deepEqual(await suspend(bob), [200, undefined], 'who is suspended already may stay so')
  assert.equal((await call('PATCH', eve, { body: { display_name: 'Eve' } })).status, 200)
  assert.equal((await call('PATCH', bob, { body: { status: 'active' } })).status, 200)
  assert.deepEqual(await suspend(eve), [200, undefined])
  assert.deepEqual(await suspend(bob), [409, 'last_operator'])
  assert.deepEqual(await suspend(`${base}/ann`), [200, undefined], 'tenants’ users are not counted')
})

test('who was suspended a moment ago at another process changes nothing in the directory, nor undoes it', async t => {
  const bundle = await setup(t)
  const { call, ctx, tokens } = bundle
  const paths = [await add(bundle, 'eve', 'platform'), await add(bundle, 'bob', 'platform')]
  const eve = await tokens.admin({ sub: 'eve' })
  assert.equal((await call('GET', base, { token: eve })).status, 200, 'her standing is remembered now')
  await ctx.db.updateTable('users').set({ status: 'suspended' }).where('user_id', '=', 'eve').execute()
  assert.equal((await call('GET', base, { token: eve })).status, 200, 'for up to five seconds')
  for (const [method, path, body] of [
    ['PATCH', paths[0], { status: 'active' }],
    ['PATCH', paths[1], { status: 'suspended' }],
    ['DELETE', paths[0], undefined],
    ['DELETE', paths[1], undefined],
    ['POST', base, { id: 'mallory', tenant_id: 'platform' }],
  ] as const) {
    const { status, body: answer } = await call(method, path!, { token: eve, body })
    assert.deepEqual([status, answer.code], [403, 'user_suspended'], `${method} ${path}`)
  }
  const rows = await ctx.db.selectFrom('users').select(['user_id', 'status']).orderBy('user_id').execute()
  assert.deepEqual(rows, [
    { user_id: 'bob', status: 'active' },
    { user_id: 'eve', status: 'suspended' },
  ])
})

test('a namesake who is suspended in another tenant keeps nobody from changing the directory', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const body = { id: 'eve', tenant_id: 'acme', status: 'suspended' }
  assert.equal((await call('POST', base, { body })).status, 201)
  const eve = await tokens.admin({ sub: 'eve' })
  const added = await call('POST', base, { token: eve, body: { id: 'bob', tenant_id: 'acme' } })
  assert.equal(added.status, 201, added.text)
})

test('nobody suspends, deletes or demotes themselves', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  await addRole(bundle, 'viewer', '*:read')
  const eve = await tokens.admin({ sub: 'eve' })
  const self = { id: 'ada', tenant_id: 'platform' }
  for (const more of [{ status: 'suspended' }, { role: 'viewer' }])
    assert.equal((await call('POST', base, { body: { ...self, ...more } })).body.code, 'own_user')
  assert.equal((await call('POST', base, { token: eve, body: { ...self, role: 'viewer' } })).status, 201)
  const path = `${base}/ada?tenant_id=platform`
  const elsewhere = await tokens.admin({ tenant_id: 'acme' })
  for (const token of [undefined, elsewhere]) {
    for (const [method, body] of [
      ['PATCH', { status: 'suspended' }],
      ['PATCH', { role: null }],
      ['DELETE', undefined],
    ] as const) {
      const refused = await call(method, path, { token, body })
      assert.deepEqual([refused.status, refused.body.code], [409, 'own_user'], `${method} ${refused.text}`)
    }
  }
  const harmless = { display_name: 'Ada', email: 'ada@example.com', role: 'viewer', status: 'active' }
  const changed = await call('PATCH', path, { body: harmless })
  assert.equal(changed.status, 200, changed.text)
  assert.equal(changed.body.data.display_name, 'Ada')
  const namesake = await add(bundle, 'ada', 'third')
  assert.equal((await call('DELETE', namesake)).status, 204, 'another tenant’s ada is somebody else')
  assert.equal((await call('DELETE', path, { token: eve })).status, 204)
})

test('the role that a user has here is held against the token’s roles, and keeps the role from being deleted', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  await addRole(bundle, 'looker', 'inventory:read', 'catalog:read')
  await addRole(bundle, 'seller', 'catalog:read', 'deployments:write')
  const plain = await tokens.tenant('acme', { sub: 'alice', role: 'member' })
  const seller = await tokens.tenant('acme', { sub: 'alice', role: 'seller' })
  const statuses = async (token: string) => [
    (await call('GET', '/api/v1/inventory', { token })).status,
    (await call('GET', '/api/v1/catalog/plans', { token })).status,
    (await call('POST', '/api/v1/deployments', { token, body: {} })).status,
  ]
  const path = await add(bundle, 'alice', 'acme', { role: 'looker' })
  assert.deepEqual(await statuses(plain), [200, 200, 403])
  assert.deepEqual(await statuses(seller), [403, 200, 403], 'what both permit')
  const { body } = await call('POST', '/api/v1/users/alice/api_keys', { body: { tenant_id: 'acme' } })
  assert.deepEqual(await statuses(body.data.api_key), [200, 200, 403], 'a key without roles of its own')
  const namesake = await tokens.tenant('other', { sub: 'alice', role: 'member' })
  assert.deepEqual(await statuses(namesake), [200, 200, 422])

  const refused = await call('DELETE', '/api/v1/admin/roles/looker')
  assert.deepEqual([refused.status, refused.body.code], [409, 'role_in_use'])
  await call('PATCH', path, { body: { role: null } })
  assert.deepEqual(await statuses(plain), [200, 200, 422])
  assert.equal((await call('DELETE', '/api/v1/admin/roles/looker')).status, 204)
})

test('deleting a user revokes its API keys with it, and those of nobody else', async t => {
  const bundle = await setup(t)
  const { call, tokens, ctx } = bundle
  const token = await tokens.tenant('acme', { sub: 'eve' })
  const ours = await keyOf(bundle, 'eve', token)
  const namesakes = await keyOf(bundle, 'eve', await tokens.tenant('other', { sub: 'eve' }))
  const bobs = await keyOf(bundle, 'bob', await tokens.tenant('acme', { sub: 'bob' }))
  const admins = await keyOf(bundle, 'eve', await tokens.admin({ sub: 'eve' }), { tenant_id: 'third' })
  const statuses = () =>
    Promise.all(
      [ours, namesakes, bobs, admins].map(
        async ({ api_key }) => (await call('GET', session, { token: api_key })).status,
      ),
    )
  const path = await add(bundle, 'eve', 'acme')
  assert.deepEqual(await statuses(), [200, 200, 200, 200])
  assert.equal((await call('DELETE', path)).status, 204)
  assert.deepEqual(await statuses(), [401, 200, 200, 200])
  const row = await ctx.db
    .selectFrom('api_keys')
    .select(['revoked_by', 'revoked_reason'])
    .where('id', '=', ours.key_id)
    .executeTakeFirst()
  assert.deepEqual(row, { revoked_by: 'ada', revoked_reason: 'The user was deleted.' })
  assert.equal((await call('GET', session, { token })).status, 200, 'its tokens are the issuer’s')

  assert.equal((await call('DELETE', await add(bundle, 'eve', 'platform'))).status, 204)
  assert.deepEqual(await statuses(), [401, 200, 200, 401], 'a platform_admin’s keys, in whichever tenant')
})

test('what another process did counts within five seconds, and without the database nobody passes', async t => {
  const bundle = await setup(t)
  const { call, tokens, ctx, clock } = bundle
  const token = await tokens.tenant('acme', { sub: 'alice' })
  await add(bundle, 'alice', 'acme')
  const ask = () => call('GET', session, { token })
  const looks: string[] = []
  aroundStatements(t, ctx.db, ({ name }, send) => {
    looks.push(name)
    return send()
  })
  assert.equal((await ask()).status, 200)
  await ctx.db.updateTable('users').set({ status: 'suspended' }).execute()
  clock.advance(4_999)
  assert.equal((await ask()).status, 200)
  assert.deepEqual(looks, ['users_access'])
  clock.advance(1)
  assert.equal((await ask()).body.code, 'user_suspended')

  clock.advance(5_000)
  const mend = aroundStatements(t, ctx.db, async () => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  })
  assert.equal((await ask()).status, 503)
  mend()
  assert.equal((await ask()).status, 403)
})
