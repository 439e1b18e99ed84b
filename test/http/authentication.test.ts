import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, test } from 'node:test'
import { SignJWT } from 'jose'
import { setup } from '../support/setup.ts'
import { OLDER_SECRET, SECRET } from '../support/tokens.ts'

const guarded = '/api/v1/admin/scheduled_tasks'
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('every row of the authentication matrix is refused with 401, a challenge and a problem', async t => {
  const { call, tokens, clock } = await setup(t)
  const now = Math.floor(clock.now().getTime() / 1000)
  const good = { sub: 'ada', role: 'platform_admin', iat: now, exp: now + 600 }
  const { exp: _exp, ...noExp } = good
  const { sub: _sub, ...noSub } = good
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const rsInput = `${part({ alg: 'RS256' })}.${part(good)}`
  const hmacAsRs = (await tokens.raw(good)).split('.')

  const rows: Record<string, string | null> = {
    'no token': null,
    'an empty bearer': '',
    'not a JWT': 'not-a-token',
    'two parts': (await tokens.raw(good)).split('.').slice(0, 2).join('.'),
    'rubbish in three parts': 'a.b.c',
    'alg none': `${part({ alg: 'none' })}.${part(good)}.`,
    'alg None with a signature': `${part({ alg: 'None' })}.${part(good)}.${hmacAsRs[2]}`,
    'RS256 header over an HMAC of the secret': `${part({ alg: 'RS256' })}.${hmacAsRs[1]}.${hmacAsRs[2]}`,
    'RS256, truly signed': `${rsInput}.${sign('sha256', Buffer.from(rsInput), rsa).toString('base64url')}`,
    'alg named as a method of every object': `${part({ alg: 'constructor' })}.${part(good)}.${hmacAsRs[2]}`,
    'a wrong secret': await tokens.raw(good, { secret: 'x'.repeat(40) }),
    'a changed payload': [hmacAsRs[0], part({ ...good, sub: 'eve' }), hmacAsRs[2]].join('.'),
    expired: await tokens.raw({ ...good, exp: now - 6 }),
    'nbf in the future': await tokens.raw({ ...good, nbf: now + 60 }),
    'iat in the future': await tokens.raw({ ...good, iat: now + 60 }),
    'no exp': await tokens.raw(noExp),
    'exp as text': await tokens.raw({ ...good, exp: String(now + 600) as unknown as number }),
    'no sub': await tokens.raw(noSub),
    'an empty sub': await tokens.raw({ ...good, sub: '' }),
    'sub as a number': await tokens.raw({ ...good, sub: 7 as unknown as string }),
    'a sub of 129 characters': await tokens.raw({ ...good, sub: 'a'.repeat(129) }),
    'a sub with NUL': await tokens.raw({ ...good, sub: 'a\0b' }),
    'made by this service for finance': await tokens.raw({
      ...good,
      iss: 'cloudops',
      aud: 'finance',
      role: 'admin',
    }),
    'an API key nobody made': 'cops_abcdefgh_0000000000000000000000000000000000000000000_000000',
  }
  for (const [name, token] of Object.entries(rows)) {
    const answer = await call('GET', guarded, { token })
    assert.equal(answer.status, 401, `${name}: ${answer.text}`)
    assert.equal(answer.body.code, 'unauthenticated', name)
    assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer/, name)
    assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/, name)
    if (token) assert.ok(!answer.text.includes(token), `${name}: the answer repeats the token`)
  }
})

test('other schemes in the Authorization header are refused', async t => {
  const { call, tokens } = await setup(t)
  const token = await tokens.admin()
  for (const authorization of [
    `Basic ${token}`,
    token,
    `Bearer ${token} ${token}`,
    'Bearer',
    `Token ${token}`,
  ]) {
    const { status } = await call('GET', guarded, { token: null, headers: { authorization } })
    assert.equal(status, 401, authorization)
  }
  const { status } = await call('GET', guarded, {
    token: null,
    headers: { authorization: `bearer ${token}` },
  })
  assert.equal(status, 200, 'the scheme’s name has no case')
})

test('tokens signed by either of two secrets in rotation are accepted, with all three HMAC algorithms', async t => {
  const { call, tokens, clock } = await setup(t)
  const now = Math.floor(clock.now().getTime() / 1000)
  for (const secret of [SECRET, OLDER_SECRET]) {
    for (const alg of ['HS256', 'HS384', 'HS512']) {
      const token = await tokens.raw({ sub: 'ada', role: 'platform_admin', exp: now + 60 }, { secret, alg })
      assert.equal((await call('GET', guarded, { token })).status, 200, alg)
    }
  }
})

test('five seconds of leeway are given to exp and nbf, and a remembered token still expires', async t => {
  const { call, tokens, clock } = await setup(t)
  const now = Math.floor(clock.now().getTime() / 1000)
  const token = await tokens.raw({ sub: 'ada', role: 'platform_admin', exp: now + 10, nbf: now + 4 })
  assert.equal((await call('GET', guarded, { token })).status, 200)
  clock.advance(14_000)
  assert.equal((await call('GET', guarded, { token })).status, 200)
  clock.advance(2_000)
  assert.equal((await call('GET', guarded, { token })).status, 401)
})

test('issuer and audience are compared when they are configured', async t => {
  const { call, tokens } = await setup(t, {
    env: { JWT_ISSUER: 'https://id.example.com', JWT_AUDIENCE: 'cloudops-api' },
  })
  const right = { iss: 'https://id.example.com', aud: 'cloudops-api' }
  assert.equal((await call('GET', guarded, { token: await tokens.admin(right) })).status, 200)
  assert.equal(
    (await call('GET', guarded, { token: await tokens.admin({ ...right, iss: 'else' }) })).status,
    401,
  )
  assert.equal(
    (await call('GET', guarded, { token: await tokens.admin({ ...right, aud: 'else' }) })).status,
    401,
  )
  assert.equal((await call('GET', guarded, { token: await tokens.admin() })).status, 401)
})

test('the claims that carry tenant and role can be renamed', async t => {
  const { call, tokens } = await setup(t, { env: { JWT_TENANT_CLAIM: 'org', JWT_ROLE_CLAIM: 'scope' } })
  const token = await tokens.admin({ role: undefined, scope: 'platform_admin', org: 'acme' })
  const { body } = await call('GET', '/api/v1/session', { token })
  assert.equal(body.data.tenant_id, 'acme')
  assert.deepEqual(body.data.roles, ['platform_admin'])
})

describe('roles', () => {
  test('platform_admin is found in a string or a list, in the role claim or in roles', async t => {
    const { call, tokens } = await setup(t)
    const admins = [
      { role: 'platform_admin' },
      { role: ['x', 'platform_admin'] },
      { role: 'x', roles: ['platform_admin'] },
    ]
    for (const claims of admins) {
      const { status } = await call('GET', guarded, {
        token: await tokens.admin(claims),
      })
      assert.equal(status, 200, JSON.stringify(claims))
    }
  })

  test('anything that merely resembles platform_admin is no role: 403', async t => {
    const { call, tokens } = await setup(t)
    const others = [
      'Platform_Admin',
      'PLATFORM_ADMIN',
      'platform_admin ',
      'platform-admin',
      'admin',
      ['a,platform_admin'],
      { platform_admin: true },
      [['platform_admin']],
      true,
      null,
    ]
    for (const role of others) {
      const { status, body } = await call('GET', guarded, { token: await tokens.tenant('acme', { role }) })
      assert.equal(status, 403, JSON.stringify(role))
      assert.equal(body.code, 'forbidden')
    }
  })

  test('a caller who is no platform_admin and names no tenant is refused everywhere: 403', async t => {
    const { call, tokens } = await setup(t)
    for (const tenant_id of [undefined, '', 42, null, ['acme'], 'a'.repeat(129), 'a\0']) {
      const token = await tokens.raw({ sub: 'ada', role: 'member', exp: 4e9, tenant_id })
      assert.equal((await call('GET', '/api/v1/session', { token })).status, 403, JSON.stringify(tenant_id))
    }
  })
})

test('strangers get 401 on every path but health, known or not, whatever the method', async t => {
  const { call } = await setup(t)
  const paths = [
    '/',
    '/api',
    '/api/v1',
    '/api/v1/nothing',
    '/docs',
    '/metrics',
    '/openapi.json',
    '/api/health/',
    '/API/HEALTH',
    '/api/v1/%zz',
    guarded,
  ]
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const { status, body } = await call(method, path, { token: null })
      assert.equal(status, 401, `${method} ${path}`)
      assert.equal(body.code, 'unauthenticated')
    }
  }
  assert.equal((await call('POST', '/api/health', { token: null })).status, 401)
})

test('an unknown path is a 404 problem for a caller who is known', async t => {
  const { call } = await setup(t)
  for (const path of [
    '/api/v1/nothing',
    '/',
    '/api/v1/%zz',
    `/api/v1/admin/scheduled_tasks/${'a'.repeat(3000)}`,
  ]) {
    const { status, body } = await call('GET', path)
    assert.equal(status, 404, path)
    assert.equal(body.code, 'not_found')
    assert.equal(body.status, 404)
    assert.ok(body.request_id)
  }
})

test('a token never reaches the log', async t => {
  const { call, tokens, logged } = await setup(t)
  const token = await tokens.admin()
  const bad = await new SignJWT({ sub: 'x' })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(Buffer.from('y'.repeat(32)))
  await call('GET', `${guarded}?cursor=${token}`, { token })
  await call('GET', guarded, { token: bad })
  assert.ok(logged().includes('"status":200') || logged().includes('"status":422'))
  for (const secret of [token, bad, SECRET]) assert.ok(!logged().includes(secret))
})
