import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { forgetSessions } from '../../src/features/session/index.ts'
import { type Bundle, setup, testEnvironment } from '../support/setup.ts'

const allowedOrigin = { origin: 'https://console.example.com' }

async function login({ call }: Bundle, token?: string): Promise<{ header: string; cookie: string }> {
  const answer = await call('POST', '/api/v1/session', { token })
  assert.equal(answer.status, 200, answer.text)
  const header = answer.headers.get('set-cookie') ?? ''
  return { header, cookie: header.split(';')[0]! }
}

test('a token is traded for a cookie that then authenticates as the same caller', async t => {
  const bundle = await setup(t)
  const { cookie } = await login(bundle, await bundle.tokens.tenant('acme', { sub: 'grace' }))
  const { status, body } = await bundle.call('GET', '/api/v1/session', { token: null, headers: { cookie } })
  assert.equal(status, 200)
  assert.deepEqual([body.data.sub, body.data.tenant_id], ['grace', 'acme'])
})

test('the cookie is signed, HttpOnly, SameSite=Lax and gone when the token is', async t => {
  const bundle = await setup(t)
  const { header, cookie } = await login(bundle)
  assert.match(header, /HttpOnly/)
  assert.match(header, /SameSite=Lax/)
  assert.doesNotMatch(header, /Secure/)
  assert.match(header, /Expires=Sun, 15 Nov 2026 13:00:00 GMT/)
  bundle.clock.advance(3_606_000)
  assert.equal(
    (await bundle.call('GET', '/api/v1/session', { token: null, headers: { cookie } })).status,
    401,
  )
})

test('in production the cookie is Secure and bound to the host', async t => {
  const bundle = await setup(t, { env: { NODE_ENV: 'production', DATABASE_URL: 'postgres://not-used/here' } })
  const { header, cookie } = await login(bundle)
  assert.match(header, /^__Host-cloudops_session=/)
  assert.match(header, /; Path=\/; /)
  assert.match(header, /Secure/)
  assert.doesNotMatch(header, /Domain/i)
  const headers = { cookie, ...allowedOrigin }
  assert.equal((await bundle.call('GET', '/api/v1/session', { token: null, headers })).status, 200)
  const plain = { cookie: cookie.replace('__Host-', '') }
  assert.equal((await bundle.call('GET', '/api/v1/session', { token: null, headers: plain })).status, 401)
  const ended = await bundle.call('DELETE', '/api/v1/session', { token: null, headers })
  assert.match(ended.headers.get('set-cookie') ?? '', /^__Host-cloudops_session=; .*Path=\/; .*Secure/)
})

test('a session tells when it ends, as do a token and an API key', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const token = await tokens.tenant('acme', { sub: 'grace' })
  const started = await call('POST', '/api/v1/session', { token })
  const cookie = started.headers.get('set-cookie')!.split(';')[0]!
  const ends = async (options: object) => (await call('GET', '/api/v1/session', options)).body.data.expires_at
  const exp = '2026-11-15T13:00:00.000Z'
  assert.equal(started.body.data.expires_at, exp)
  assert.equal(await ends({ token: null, headers: { cookie } }), exp)
  assert.equal(await ends({ token }), exp)
  const keys = '/api/v1/users/grace/api_keys'
  const expires_at = '2027-01-01T00:00:00.000Z'
  for (const end of [expires_at, null]) {
    const made = await call('POST', keys, { token, body: { expires_at: end } })
    assert.equal(await ends({ token: made.body.data.api_key }), end)
  }
})

test('the cookie holds neither the token nor anything of it, and the row holds it encrypted', async t => {
  const bundle = await setup(t)
  const token = await bundle.tokens.admin()
  const { header } = await login(bundle, token)
  const parts = token.split('.')
  const rows = JSON.stringify(await bundle.ctx.db.selectFrom('sessions').selectAll().execute())
  const entries = (await bundle.call('GET', '/api/v1/admin/audit_log')).text
  for (const part of parts) assert.ok(!(header + rows + entries).includes(part), part)
  assert.match(rows, /"user_id":"ada"/)
  assert.match(entries, /"operation" ?: ?"startSession"/)
})

test('a session whose token the issuer’s secrets no longer verify is over', async t => {
  const bundle = await setup(t)
  const { cookie } = await login(bundle)
  const { config } = readConfig({ ...testEnvironment, JWT_SECRET: 'another-issuer-secret-5f3a1c9be7d25046' })
  const node = await buildApp({ ...bundle.ctx, config })
  t.after(() => node.close())
  assert.equal((await node.inject({ url: '/api/v1/session', headers: { cookie } })).statusCode, 401)
})

test('an altered cookie, or one signed with another salt, is refused', async t => {
  const bundle = await setup(t)
  const { cookie } = await login(bundle)
  const [name, value = ''] = cookie.split('=')
  const decoded = decodeURIComponent(value)
  const unsigned = decoded.slice(0, decoded.lastIndexOf('.'))
  for (const forged of [unsigned, `${decoded.slice(0, -2)}AA`, `${unsigned}.AAAA`, '', 'x', '%00']) {
    const { status } = await bundle.call('GET', '/api/v1/session', {
      token: null,
      headers: { cookie: `${name}=${forged}` },
    })
    assert.equal(status, 401, forged)
  }
  const other = await setup(t, { env: { SESSION_SIGNING_SALT: 'another-salt-for-the-session-cookie-1' } })
  assert.equal((await other.call('GET', '/api/v1/session', { token: null, headers: { cookie } })).status, 401)
})

test('an unsafe request with the cookie must come from an allowed origin', async t => {
  const bundle = await setup(t)
  const { cookie } = await login(bundle)
  const pause = '/api/v1/admin/scheduled_tasks/housekeeping/pause'
  const others: Record<string, string>[] = [{}, { origin: 'https://evil.io' }, { origin: 'null' }]
  for (const origin of others) {
    const { status } = await bundle.call('POST', pause, { token: null, headers: { cookie, ...origin } })
    assert.equal(status, 403, JSON.stringify(origin))
  }
  const { status } = await bundle.call('POST', pause, { token: null, headers: { cookie, ...allowedOrigin } })
  assert.equal(status, 200)
})

test('ending the session clears the cookie', async t => {
  const bundle = await setup(t)
  const { cookie } = await login(bundle)
  const { status, headers } = await bundle.call('DELETE', '/api/v1/session', {
    token: null,
    headers: { cookie, ...allowedOrigin },
  })
  assert.equal(status, 204)
  assert.match(headers.get('set-cookie') ?? '', /^cloudops_session=; .*Expires=Thu, 01 Jan 1970/)
})

test('a session that was signed out is over on every node, also for whoever kept the cookie', async t => {
  const bundle = await setup(t)
  const { call, ctx, logged } = bundle
  const other = await buildApp(ctx)
  t.after(() => other.close())
  const [one, two] = [await login(bundle), await login(bundle)]
  const here = async (cookie: string) =>
    (await call('GET', '/api/v1/session', { token: null, headers: { cookie } })).status
  const there = async (cookie: string) =>
    (await other.inject({ url: '/api/v1/session', headers: { cookie } })).statusCode
  assert.deepEqual([await here(one.cookie), await there(one.cookie)], [200, 200])
  const headers = { cookie: one.cookie, ...allowedOrigin }
  assert.equal((await call('DELETE', '/api/v1/session', { token: null, headers })).status, 204)
  assert.deepEqual([await here(one.cookie), await there(one.cookie)], [401, 401])
  assert.match(logged(), /it was signed out/)
  assert.deepEqual([await here(two.cookie), await there(two.cookie)], [200, 200])
  // With the token in the header and the cookie beside it, the cookie's session ends too.
  await call('DELETE', '/api/v1/session', { headers: { cookie: two.cookie } })
  assert.deepEqual([await here(two.cookie), await there(two.cookie)], [401, 401])
  assert.equal((await call('DELETE', '/api/v1/session')).status, 204)
})

test('sessions whose token has expired are forgotten, the others stay', async t => {
  const bundle = await setup(t)
  const { ctx, clock } = bundle
  await login(bundle)
  clock.advance(1_800_000)
  await login(bundle)
  clock.advance(1_800_000)
  assert.equal(await forgetSessions(ctx).run(), 1)
  assert.equal(await forgetSessions(ctx).run(), 0)
})

test('no cache may keep what a caller was answered, be it good or a problem', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const token = await tokens.tenant('acme')
  const answers = [
    await call('GET', '/api/v1/session', { token }),
    await call('GET', '/api/v1/inventory', { token }),
    await call('GET', '/api/v1/catalog/plans', { token }),
    await call('GET', '/api/v1/inventory.csv'),
    await call('POST', '/api/v1/deployments', { token, body: { slug: 'shop' } }),
    await call('POST', '/api/v1/deployments', { token, body: { slug: 'shop' } }),
    await call('PATCH', '/api/v1/deployments/none', { token, body: {} }),
    await call('DELETE', '/api/v1/session', { token }),
    await call('GET', '/api/v1/admin/users', { token }),
    await call('GET', '/api/v1/session', { token: null }),
    await call('GET', '/api/v1/nowhere'),
    await call('GET', '/api/%zz'),
  ]
  const seen = answers.map(({ status, headers }) => [
    status,
    headers.get('cache-control'),
    headers.get('x-content-type-options'),
  ])
  const statuses = [200, 200, 200, 404, 201, 409, 404, 204, 403, 401, 404, 404]
  assert.deepEqual(
    seen,
    statuses.map(status => [status, 'no-store', 'nosniff']),
  )
})

test('a session starts from a token alone: not from another session', async t => {
  const bundle = await setup(t)
  const { cookie } = await login(bundle)
  const { status } = await bundle.call('POST', '/api/v1/session', {
    token: null,
    headers: { cookie, ...allowedOrigin },
  })
  assert.equal(status, 403)
})

test('a token in the header goes before a cookie', async t => {
  const bundle = await setup(t)
  const { cookie } = await login(bundle)
  const token = await bundle.tokens.tenant('acme')
  const { body } = await bundle.call('GET', '/api/v1/session', { token, headers: { cookie } })
  assert.equal(body.data.tenant_id, 'acme')
  assert.equal(
    (await bundle.call('GET', '/api/v1/session', { token: 'bad', headers: { cookie } })).status,
    401,
  )
})
