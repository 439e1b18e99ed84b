import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Bundle, setup } from '../support/setup.ts'

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

test('in production the cookie is Secure', async t => {
  const bundle = await setup(t, { env: { NODE_ENV: 'production', DATABASE_URL: 'postgres://not-used/here' } })
  assert.match((await login(bundle)).header, /Secure/)
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
