// Who did it: the audit log and the request log name the credential and the address, and a 401 says why.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { newKey } from '../../src/features/api-keys/verify.ts'
import { deployment } from '../support/factories.ts'
import { type Bundle, setup } from '../support/setup.ts'

interface Line {
  msg: string
  request_id: string
  status: number
  route?: string
  path: string
  sub?: string
  credential?: { kind: string; id?: string }
  address?: string
  client_request_id?: string
  code?: string
  reason?: string
}

const requests = ({ logged }: Bundle): Line[] =>
  logged()
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Line)
    .filter(({ msg }) => msg === 'request')

const last = (bundle: Bundle): Line => requests(bundle).at(-1)!
const fingerprint = (token: string) =>
  `sha256:${createHash('sha256').update(token).digest('hex').slice(0, 16)}`

test('entries and log lines say by which token, session or key, and from where', async t => {
  // Without keys: a request that is sent again has a log line, but no entry of its own.
  const bundle = await setup(t, { keys: false })
  const { call, tokens } = bundle
  const named = await tokens.admin({ jti: 'issuer-names-it' })
  const nameless = await tokens.admin()
  const { key_id, api_key } = (await call('POST', '/api/v1/users/ada/api_keys', { body: {} })).body.data
  const started = await call('POST', '/api/v1/session')
  const cookie = started.headers.get('set-cookie')!.split(';')[0]!
  const session = decodeURIComponent(cookie.split('=')[1]!).split('.')[0]!
  const browser = { cookie, origin: 'https://console.example.com' }
  const callers: [string, object, { token: string | null; headers?: Record<string, string> }][] = [
    ['a token with an id', { kind: 'token', id: 'issuer-names-it' }, { token: named }],
    ['a token without one', { kind: 'token', id: fingerprint(nameless) }, { token: nameless }],
    ['an API key', { kind: 'api_key', id: key_id }, { token: api_key }],
    ['a session', { kind: 'session', id: session }, { token: null, headers: browser }],
  ]
  const tasks = '/api/v1/admin/scheduled_tasks/housekeeping'
  for (const [i, [who, credential, options]] of callers.entries()) {
    const { status, text } = await call('POST', `${tasks}/${i % 2 === 0 ? 'pause' : 'resume'}`, options)
    assert.equal(status, 200, text)
    const line = last(bundle)
    assert.deepEqual([line.credential, line.address, line.sub], [credential, '127.0.0.1', 'ada'], who)
    const { body } = await call('GET', '/api/v1/admin/audit_log?limit=1')
    const [entry] = body.data
    assert.deepEqual([entry.credential, entry.address], [credential, '127.0.0.1'], who)
    assert.equal(entry.request_id, line.request_id, who)
  }
})

test('a deployment’s entry, which is written without the trigger, names the credential too', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  const { body } = await bundle.call('GET', `/api/v1/admin/audit_log?subject_id=${id}`)
  assert.equal(body.data[0].credential.kind, 'token')
  assert.equal(body.data[0].address, '127.0.0.1')
})

test('the request id is ours, and the caller’s own is kept beside it', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const headers = { 'x-request-id': 'their-own-0001' }
  const [one, two] = [
    await call('GET', '/api/v1/session', { headers }),
    await call('GET', '/api/v1/session', { headers }),
  ]
  const ids = [one, two].map(answer => answer.headers.get('x-request-id'))
  assert.ok(ids[0] !== ids[1] && ids[0] !== 'their-own-0001', String(ids))
  const lines = requests(bundle)
  assert.deepEqual(
    lines.map(line => [line.request_id, line.client_request_id]),
    ids.map(id => [id, 'their-own-0001']),
  )
  await call('GET', '/api/v1/session', { headers: { 'x-request-id': 'x'.repeat(129) } })
  assert.equal(last(bundle).client_request_id, undefined)
})

test('a proxy’s word for the client’s address is taken only from a proxy that is trusted', async t => {
  const seen = async (env: Record<string, string>, forwarded: string) => {
    const bundle = await setup(t, { env })
    await bundle.call('GET', '/api/v1/session', { headers: { 'x-forwarded-for': forwarded } })
    return last(bundle).address
  }
  const trusted = { TRUST_PROXY: '127.0.0.0/8, 10.0.0.5' }
  assert.equal(await seen({}, '203.0.113.7'), '127.0.0.1')
  assert.equal(await seen({ TRUST_PROXY: '192.0.2.1' }, '203.0.113.7'), '127.0.0.1')
  assert.equal(await seen(trusted, '203.0.113.7'), '203.0.113.7')
  assert.equal(await seen(trusted, '198.51.100.1, 203.0.113.7, 10.0.0.5'), '203.0.113.7')
  assert.equal(await seen(trusted, 'eyJhbGciOiJIUzI1NiJ9'), '127.0.0.1')
})

test('a 401 says why in the log, and shows no credential there', async t => {
  const bundle = await setup(t)
  const { call, tokens, clock } = bundle
  const own = '/api/v1/users/alice/api_keys'
  const alice = await tokens.tenant('acme', { sub: 'alice' })
  const make = async (body = {}) => (await call('POST', own, { token: alice, body })).body.data
  const [revoked, expired] = [await make(), await make({ expires_at: '2026-11-15T12:00:01Z' })]
  await call('DELETE', `${own}/${revoked.key_id}`, { token: alice })
  clock.advance(1_000)
  const past = await tokens.admin({ exp: 1_700_000_000 })
  const forged = await tokens.raw({ sub: 'eve', exp: 4_000_000_000 }, { secret: 'x'.repeat(40) })
  const unknown = newKey().raw
  const cases: [string | null, RegExp, string | undefined][] = [
    [null, /Send a token/, undefined],
    [past, /The token has expired/, fingerprint(past)],
    [forged, /signature is not valid/, fingerprint(forged)],
    ['nonsense', /malformed/, fingerprint('nonsense')],
    [unknown, /nobody has it/, undefined],
    ['cops_nonsense', /it is malformed/, undefined],
    [revoked.api_key, /it was revoked/, revoked.key_id],
    [expired.api_key, /it has expired/, expired.key_id],
  ]
  for (const [token, reason, id] of cases) {
    assert.equal((await call('GET', '/api/v1/session', { token })).status, 401)
    const line = last(bundle)
    assert.match(line.reason ?? '', reason)
    assert.deepEqual([line.code, line.credential?.id, line.address], ['unauthenticated', id, '127.0.0.1'])
    if (token !== null && token.length > 20) assert.ok(!bundle.logged().includes(token), token)
  }
  assert.equal((await call('GET', '/api/v1/admin/users', { token: alice })).status, 403)
  assert.match(last(bundle).reason ?? '', /platform_admin/)
})

test('secrets that are pasted into a path, a query or a request id stay out of the log', async t => {
  const bundle = await setup(t)
  const { url, tokens } = bundle
  const token = await tokens.admin()
  const key = newKey().raw
  const secrets = [
    token,
    token.split('.')[1]!,
    key,
    key.slice(14, 57),
    `inv_${'aB3'.repeat(14)}x`,
    `dop_v1_${'0a'.repeat(32)}`,
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'postgres://ada:correct-horse@db.internal/cloudops',
    '9f86d081884c7d659a2feaa0c55ad015',
    'correct horse battery staple',
  ]
  for (const secret of secrets) {
    for (const path of [
      `/api/v1/deployments/${encodeURIComponent(secret)}`,
      `/api/v1/users/${encodeURIComponent(secret)}/api_keys`,
      `/api/v1/${encodeURIComponent(encodeURIComponent(secret))}`,
      `/${encodeURIComponent(secret)}/%zz`,
      `/api/v1/inventory?name=${encodeURIComponent(secret)}`,
    ]) {
      for (const headers of [{}, { authorization: `Bearer ${token}`, 'x-request-id': encodeURI(secret) }]) {
        if (encodeURI(secret).length > 500 && path.startsWith('/api/v1/%')) continue
        await (await fetch(url + path, { headers })).arrayBuffer()
      }
    }
    const telling = bundle.logged().replaceAll(/"client_request_id":"[^"]*"/g, '')
    assert.ok(!telling.includes(secret) && !telling.includes(encodeURIComponent(secret)), secret)
  }
  const known = secrets.filter(secret => /^(eyJ|cops_|inv_|dop_|whsec_)/.test(secret))
  for (const secret of known) assert.ok(!bundle.logged().includes(secret), secret)
  const paths = requests(bundle).map(({ route, path }) => `${route} ${path}`)
  assert.ok(paths.includes('/api/v1/deployments/:id /api/v1/deployments/[masked]'), paths.join('\n'))
})
