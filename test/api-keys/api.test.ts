import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, type Bundle, setup } from '../support/setup.ts'

const keysOf = (user: string) => `/api/v1/users/${encodeURIComponent(user)}/api_keys`
const alice = ({ tokens }: Bundle) => tokens.tenant('acme', { sub: 'alice' })

async function make(bundle: Bundle, body?: object, token?: string, user = 'alice') {
  const answer = await bundle.call('POST', keysOf(user), { token: token ?? (await alice(bundle)), body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body.data
}

const whoAmI = ({ call }: Bundle, token: string) => call('GET', '/api/v1/session', { token })

test('a user makes a key, sees its value once, and finds it by its prefix afterwards', async t => {
  const bundle = await setup(t)
  const { call, clock } = bundle
  const token = await alice(bundle)
  const expires_at = '2027-01-01T00:00:00+01:00'
  const made = await call('POST', keysOf('alice'), { token, body: { description: 'CI', expires_at } })
  assert.equal(made.status, 201, made.text)
  assert.equal(made.headers.get('cache-control'), 'no-store')
  const { api_key, key_id, key_prefix, warning, ...rest } = made.body.data
  assert.match(api_key, /^cops_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/)
  assert.equal(api_key.slice(5, 13), key_prefix)
  assert.equal(typeof warning, 'string')
  const created_at = clock.now().toISOString()
  assert.deepEqual(rest, {
    user_id: 'alice',
    description: 'CI',
    created_at,
    expires_at: '2026-12-31T23:00:00.000Z',
  })
  assert.equal(made.headers.get('location'), `${keysOf('alice')}/${key_id}`)

  const record = {
    id: key_id,
    key_prefix,
    description: 'CI',
    created_at,
    last_used_at: null,
    expires_at: '2026-12-31T23:00:00.000Z',
    revoked_at: null,
    is_active: true,
  }
  const shown = await call('GET', made.headers.get('location')!, { token })
  assert.deepEqual(shown.body, { data: record })
  const listed = await call('GET', keysOf('alice'), { token })
  assert.deepEqual(listed.body, { data: [record], next_cursor: null })
  assert.ok(!(shown.text + listed.text).includes(api_key.slice(14, 57)))
})

test('a key is made without any body, with an empty one, and with nulls', async t => {
  const bundle = await setup(t)
  for (const body of [undefined, {}, { description: null, expires_at: null }]) {
    const { description, expires_at } = await make(bundle, body)
    assert.deepEqual([description, expires_at], [null, null])
  }
})

test('keys are listed newest first, page by page', async t => {
  const bundle = await setup(t)
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.unshift((await make(bundle)).key_id)
  const token = await alice(bundle)
  const seen: string[] = []
  let next: string | null = `${keysOf('alice')}?limit=2`
  while (next) {
    const { body, headers }: Answer = await bundle.call('GET', next, { token })
    seen.push(...body.data.map((key: { id: string }) => key.id))
    assert.equal(headers.has('link'), body.next_cursor !== null)
    next = body.next_cursor && `${keysOf('alice')}?limit=2&cursor=${body.next_cursor}`
  }
  assert.deepEqual(seen, ids)
})

test('bad bodies are 422 and name the field', async t => {
  const bundle = await setup(t)
  const token = await alice(bundle)
  const rows: [object, string][] = [
    [{ expires_at: '2026-11-15T12:00:00.000Z' }, '/expires_at'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    [{ expires_at: '2026-12-31T23:59:60Z' }, '/expires_at'],
    [{ expires_at: '9999-12-31T23:59:59-12:00' }, '/expires_at'],
    [{ expires_at: '2027-02-30T00:00:00Z' }, '/expires_at'],
    [{ expires_at: '2027-01-01' }, '/expires_at'],
    [{ expires_at: 1 }, '/expires_at'],
    [{ description: 'x'.repeat(256) }, '/description'],
    [{ description: 12 }, '/description'],
    [{ role: 'platform_admin' }, '/role'],
    [{ roles: ['platform_admin'] }, '/roles'],
    [{ user_id: 'bob' }, '/user_id'],
  ]
  for (const [body, pointer] of rows) {
    const answer = await bundle.call('POST', keysOf('alice'), { token, body })
    assert.equal(answer.status, 422, JSON.stringify(body))
    assert.equal(answer.body.errors[0].pointer, pointer, answer.text)
  }
  const { key_id } = await make(bundle)
  for (const [body, pointer] of [
    [{ grace_seconds: -1 }, '/grace_seconds'],
    [{ grace_seconds: 2_592_001 }, '/grace_seconds'],
    [{ grace_seconds: 1.5 }, '/grace_seconds'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    [{ tenant_id: 'acme' }, '/tenant_id'],
  ] as const) {
    const answer = await bundle.call('POST', `${keysOf('alice')}/${key_id}/rotate`, { token, body })
    assert.equal(answer.status, 422, JSON.stringify(body))
    assert.equal(answer.body.errors[0].pointer, pointer, answer.text)
  }
})

test('the user and a platform_admin find a user’s keys; for anyone else they are not there', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const { key_id } = await make(bundle)
  const unknown = '01980000-0000-7000-8000-000000000000'
  const routes = (user: string, key: string): [string, string, object?][] => [
    ['GET', keysOf(user)],
    ['POST', keysOf(user), {}],
    ['GET', `${keysOf(user)}/${key}`],
    ['DELETE', `${keysOf(user)}/${key}`, { reason: 'mischief' }],
    ['POST', `${keysOf(user)}/${key}/rotate`, {}],
  ]
  const strangers = {
    'another user of the tenant': await tokens.tenant('acme', { sub: 'bob' }),
    'a namesake in other letters': await tokens.tenant('acme', { sub: 'Alice' }),
    'a user of another tenant': await tokens.tenant('other', { sub: 'carol' }),
    'an admin of something else': await tokens.tenant('acme', { sub: 'dora', role: 'admin' }),
  }
  for (const [who, token] of Object.entries(strangers)) {
    for (const [i, [method, path, body]] of routes('alice', key_id).entries()) {
      const there = await call(method, path, { token, body })
      const [, unknownPath] = routes('nobody', unknown)[i]!
      const nowhere = await call(method, unknownPath, { token, body })
      assert.equal(there.status, 404, `${who}: ${method} ${path}: ${there.text}`)
      assert.deepEqual(comparable(there), comparable(nowhere), `${who}: ${method} ${path}`)
    }
  }
  const own = await call('GET', `${keysOf('alice')}/${key_id}`, { token: await alice(bundle) })
  assert.equal(own.body.data.is_active, true, 'nobody’s DELETE had an effect')
  const admin = await tokens.admin({ tenant_id: 'platform' })
  const statuses = [200, 201, 200, 201, 204]
  const order = [0, 1, 2, 4, 3].map(i => routes('alice', key_id)[i]!)
  for (const [i, [method, path, body]] of order.entries()) {
    assert.equal((await call(method, path, { token: admin, body })).status, statuses[i], `${method} ${path}`)
  }
})

test('the same `sub` in another tenant is another user: it sees and revokes none of these keys', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const { key_id, api_key } = await make(bundle)
  const owners = {
    'a platform_admin without a tenant': await tokens.admin({ sub: 'alice' }),
    'a platform_admin of the platform’s tenant': await tokens.admin({ sub: 'alice', tenant_id: 'platform' }),
    'a platform_admin of the namesake’s tenant': await tokens.admin({ sub: 'alice', tenant_id: 'other' }),
  }
  const made = [{ who: 'a user of another tenant', key_id, api_key }]
  for (const [who, token] of Object.entries(owners)) made.push({ who, ...(await make(bundle, {}, token)) })
  const token = await tokens.tenant('other', { sub: 'alice' })
  for (const { who, key_id } of made) {
    const path = `${keysOf('alice')}/${key_id}`
    assert.equal((await call('GET', path, { token })).status, 404, who)
    assert.equal((await call('DELETE', path, { token })).status, 404, who)
    assert.equal((await call('POST', `${path}/rotate`, { token, body: {} })).status, 404, who)
  }
  assert.deepEqual((await call('GET', keysOf('alice'), { token })).body, { data: [], next_cursor: null })
  for (const { who, api_key } of made) assert.equal((await whoAmI(bundle, api_key)).status, 200, who)
  const own = await make(bundle, {}, token)
  const { body } = await call('GET', keysOf('alice'), { token })
  assert.deepEqual(
    body.data.map((key: { id: string }) => key.id),
    [own.key_id],
  )
  assert.equal((await call('GET', keysOf('alice'))).body.data.length, made.length + 1)
})

function comparable({ status, headers, body }: Answer) {
  const { request_id: _, ...rest } = body
  const names = [...headers.keys()].filter(name => !/^(date|x-request-id|ratelimit-.*)$/.test(name))
  return { status, body: rest, headers: names.map(name => [name, headers.get(name)]) }
}

test('a key belongs to one user: under another’s path it is not there, not even for a platform_admin', async t => {
  const bundle = await setup(t)
  const { key_id } = await make(bundle)
  for (const [method, tail] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/rotate'],
  ] as const) {
    const body = method === 'GET' ? undefined : {}
    const { status } = await bundle.call(method, `${keysOf('bob')}/${key_id}${tail}`, { body })
    assert.equal(status, 404, method)
  }
})

test('users are opaque text: odd names work, and what cannot be a name is 404', async t => {
  const bundle = await setup(t)
  for (const sub of ['a/b', 'Ünal 💶', 'auth0|42', '%', '?x=1#y', 'u'.repeat(128), '漢'.repeat(128)]) {
    const token = await bundle.tokens.tenant('acme', { sub })
    const { key_id, api_key, user_id } = await make(bundle, {}, token, sub)
    assert.equal(user_id, sub)
    const shown = await bundle.call('GET', `${keysOf(sub)}/${key_id}`, { token })
    assert.equal(shown.status, 200)
    assert.equal((await whoAmI(bundle, api_key)).body.data.sub, sub)
  }
  for (const name of ['%00', 'a%00b', '%ff', '%zz', 'u'.repeat(129), 'u'.repeat(2000)]) {
    for (const [method, tail] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', '/01980000-0000-7000-8000-000000000000'],
    ] as const) {
      const answer = await bundle.call(method, `/api/v1/users/${name}/api_keys${tail}`)
      assert.equal(answer.status, 404, `${method} ${name}: ${answer.text}`)
    }
  }
})

test('a revoked key is refused at the next request; revoking twice is 204 and keeps the first reason', async t => {
  const bundle = await setup(t)
  const { call, ctx, clock } = bundle
  const { api_key, key_id } = await make(bundle)
  assert.equal((await whoAmI(bundle, api_key)).status, 200)
  const token = await alice(bundle)
  const path = `${keysOf('alice')}/${key_id}`
  const revokedAt = clock.now().toISOString()
  const revoked = await call('DELETE', path, { token, body: { reason: 'leaked' } })
  assert.equal(revoked.status, 204)
  assert.equal(revoked.text, '')
  const refused = await whoAmI(bundle, api_key)
  assert.equal(refused.status, 401)
  assert.match(refused.headers.get('www-authenticate') ?? '', /^Bearer/)
  clock.advance(60_000)
  assert.equal((await call('DELETE', path)).status, 204)
  const { body } = await call('GET', path, { token })
  assert.equal(body.data.revoked_at, revokedAt)
  assert.equal(body.data.is_active, false)
  const row = await ctx.db
    .selectFrom('api_keys')
    .selectAll()
    .where('id', '=', key_id)
    .executeTakeFirstOrThrow()
  assert.deepEqual([row.revoked_by, row.revoked_reason], ['alice', 'leaked'])
  assert.equal((await call('DELETE', `${keysOf('alice')}/01980000-0000-7000-8000-000000000000`)).status, 404)
})

test('a key is refused from the moment it expires', async t => {
  const bundle = await setup(t)
  const { api_key, key_id } = await make(bundle, { expires_at: '2026-11-15T12:10:00Z' })
  bundle.clock.set('2026-11-15T12:09:59.999Z')
  assert.equal((await whoAmI(bundle, api_key)).status, 200)
  bundle.clock.set('2026-11-15T12:10:00.000Z')
  assert.equal((await whoAmI(bundle, api_key)).status, 401)
  const { body } = await bundle.call('GET', `${keysOf('alice')}/${key_id}`)
  assert.equal(body.data.is_active, false)
  assert.equal(body.data.revoked_at, null)
})

test('rotating gives a new key with the old one’s rights, and the old one lives for the grace alone', async t => {
  const bundle = await setup(t)
  const { call, clock } = bundle
  const token = await bundle.tokens.tenant('acme', { sub: 'alice', role: ['member', 'billing'] })
  const old = await make(bundle, { description: 'CI' }, token)
  const rotate = `${keysOf('alice')}/${old.key_id}/rotate`
  const rotated = await call('POST', rotate, { token, body: { grace_seconds: 600 } })
  assert.equal(rotated.status, 201, rotated.text)
  assert.equal(rotated.headers.get('cache-control'), 'no-store')
  const fresh = rotated.body.data
  assert.deepEqual(Object.keys(fresh).sort(), Object.keys(old).sort())
  assert.equal(rotated.headers.get('location'), `${keysOf('alice')}/${fresh.key_id}`)
  assert.notEqual(fresh.api_key, old.api_key)
  assert.equal(fresh.description, 'CI')
  assert.equal(fresh.expires_at, null)
  const [before, after] = [await whoAmI(bundle, old.api_key), await whoAmI(bundle, fresh.api_key)]
  assert.equal(before.body.data.expires_at, '2026-11-15T12:10:00.000Z')
  assert.deepEqual(after.body.data, { ...before.body.data, expires_at: null })
  assert.deepEqual(after.body.data.roles, ['member', 'billing'])
  const again = await call('POST', rotate, { token, body: {} })
  assert.equal(again.status, 409)
  assert.equal(again.body.code, 'already_rotated')
  assert.equal(again.body.replaced_by, fresh.key_id)
  clock.advance(600_000)
  assert.equal((await whoAmI(bundle, old.api_key)).status, 401)
  assert.equal((await whoAmI(bundle, fresh.api_key)).status, 200)
})

test('without a grace the old key ends at once; a grace never lengthens its life', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const token = await alice(bundle)
  const one = await make(bundle)
  assert.equal((await call('POST', `${keysOf('alice')}/${one.key_id}/rotate`, { token })).status, 201)
  assert.equal((await whoAmI(bundle, one.api_key)).status, 401)
  const two = await make(bundle, { expires_at: '2026-11-15T12:01:00Z' })
  const rotated = await call('POST', `${keysOf('alice')}/${two.key_id}/rotate`, {
    token,
    body: { grace_seconds: 3600, description: 'new', expires_at: '2027-01-01T00:00:00Z' },
  })
  assert.equal(rotated.body.data.description, 'new')
  assert.equal(rotated.body.data.expires_at, '2027-01-01T00:00:00.000Z')
  const { body } = await call('GET', `${keysOf('alice')}/${two.key_id}`, { token })
  assert.equal(body.data.expires_at, '2026-11-15T12:01:00.000Z')
})

test('a revoked or expired key is not rotated: 409', async t => {
  const bundle = await setup(t)
  const token = await alice(bundle)
  const rotate = (id: string) => bundle.call('POST', `${keysOf('alice')}/${id}/rotate`, { token, body: {} })
  const revoked = await make(bundle)
  await bundle.call('DELETE', `${keysOf('alice')}/${revoked.key_id}`, { token })
  const expired = await make(bundle, { expires_at: '2026-11-15T12:01:00Z' })
  bundle.clock.advance(60_000)
  for (const { key_id } of [revoked, expired]) {
    const answer = await rotate(key_id)
    assert.equal(answer.status, 409)
    assert.equal(answer.body.code, 'key_not_active')
  }
})
