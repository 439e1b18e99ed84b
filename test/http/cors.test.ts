import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setup } from '../support/setup.ts'

const allowed = [
  'http://localhost:5173',
  'https://a.example.com',
  'https://a.b.example.com',
  'https://x-1.example.com',
]
const refused = [
  'https://example.com.evil.io',
  'https://evilexample.com',
  'http://a.example.com',
  'null',
  'https://example.com',
  'https://a.example.com.evil.io',
  'https://a.example.com:8443',
  'https://.example.com',
  'https://a..example.com',
  'https://-a.example.com',
  'https://a.exampleXcom',
  'https://evil.io/a.example.com',
  'https://evil.io#.example.com',
  'https://a_b@evil.io?.example.com',
  'HTTPS://A.EXAMPLE.COM',
  'http://localhost:5174',
  'https://localhost:5173',
  'http://127.0.0.1:5173',
]

const preflight = (origin: string) => ({
  token: null,
  headers: {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  },
})

test('preflights from allowed origins are answered with credentials, without a token', async t => {
  const { call } = await setup(t)
  for (const origin of allowed) {
    const { status, headers } = await call('OPTIONS', '/api/v1/session', preflight(origin))
    assert.equal(status, 204, origin)
    assert.equal(headers.get('access-control-allow-origin'), origin)
    assert.equal(headers.get('access-control-allow-credentials'), 'true')
    assert.match(headers.get('access-control-allow-headers') ?? '', /authorization/)
    assert.match(headers.get('access-control-allow-methods') ?? '', /PATCH.*DELETE|DELETE.*PATCH/)
    assert.match(headers.get('vary') ?? '', /origin/i)
  }
})

test('other origins get no permission, neither for preflights nor for requests', async t => {
  const { call } = await setup(t)
  for (const origin of refused) {
    const asked = await call('OPTIONS', '/api/v1/session', preflight(origin))
    assert.equal(asked.headers.get('access-control-allow-origin'), null, origin)
    const answered = await call('GET', '/api/v1/session', { headers: { origin } })
    assert.equal(answered.headers.get('access-control-allow-origin'), null, origin)
  }
})

test('answers to allowed origins may be read by them, errors too', async t => {
  const { call } = await setup(t)
  const headers = { origin: 'https://a.example.com' }
  for (const token of [undefined, null]) {
    const answer = await call('GET', '/api/v1/session', { token, headers })
    assert.equal(answer.headers.get('access-control-allow-origin'), 'https://a.example.com')
    assert.match(answer.headers.get('access-control-expose-headers') ?? '', /Link/)
  }
})

test('without a domain only the development origin is allowed', async t => {
  const { call } = await setup(t, { env: { ALLOWED_ORIGIN_DOMAIN: '', DEV_ORIGIN: 'http://localhost:3000' } })
  const origins = {
    'http://localhost:3000': true,
    'https://a.example.com': false,
    'http://localhost:5173': false,
  }
  for (const [origin, may] of Object.entries(origins)) {
    const { headers } = await call('GET', '/api/v1/session', { headers: { origin } })
    assert.equal(headers.get('access-control-allow-origin'), may ? origin : null)
  }
})
