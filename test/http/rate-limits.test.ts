// 429: strangers by their address, callers by who they are, tenants by what they ask at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newKey } from '../../src/features/api-keys/verify.ts'
import { eventually } from '../support/eventually.ts'
import { type Bundle, setup } from '../support/setup.ts'

const path = '/api/v1/deployments'

const statuses = async (times: number, ask: () => ReturnType<Bundle['call']>) => {
  const found: number[] = []
  for (let nth = 0; nth < times; nth++) found.push((await ask()).status)
  return found
}

test('an address that fails too often is told to wait, its good callers are not, and a minute later all begin anew', async t => {
  const bundle = await setup(t, { env: { AUTH_FAILURES_PER_MINUTE: '3' } })
  const { call, clock } = bundle
  const wrong = ['nonsense', newKey().raw, null]
  assert.deepEqual(
    await Promise.all(wrong.map(async token => (await call('GET', path, { token })).status)),
    [401, 401, 401],
  )
  for (const token of wrong) {
    const refused = await call('GET', path, { token })
    assert.deepEqual([refused.status, refused.body.code], [429, 'rate_limited'])
    assert.match(refused.headers.get('retry-after') ?? '', /^([1-9]|[1-5]\d|60)$/)
  }
  assert.equal((await call('GET', '/api/v1/no/such/path', { token: null })).status, 429)
  assert.equal((await call('GET', path)).status, 200, 'who has a token is no guesser')
  clock.advance(60_000)
  assert.equal((await call('GET', path, { token: 'nonsense' })).status, 401)
})

test('a guessed API key is not looked up once its address has failed too often, and one that was good is', async t => {
  const bundle = await setup(t, { env: { AUTH_FAILURES_PER_MINUTE: '2' } })
  const { call, tokens } = bundle
  const own = { token: await tokens.tenant('acme', { sub: 'grace' }) }
  const { body } = await call('POST', '/api/v1/users/grace/api_keys', { ...own, body: {} })
  const good = { token: body.data.api_key as string }
  const another = (await call('POST', '/api/v1/users/grace/api_keys', { ...own, body: {} })).body.data.api_key
  assert.equal((await call('GET', path, good)).status, 200)
  assert.deepEqual(await statuses(3, () => call('GET', path, { token: newKey().raw })), [401, 401, 429])
  assert.equal((await call('GET', path, good)).status, 200, 'it was good a moment ago')
  // Good, but not known to be: found out by nobody, because nothing is looked up.
  assert.equal((await call('GET', path, { token: another })).status, 429)
})

test('a caller’s refused requests count as the others do, and only its own', async t => {
  const bundle = await setup(t, { env: { RATE_LIMIT_PER_MINUTE: '4' } })
  const { call, tokens } = bundle
  const grace = { token: await tokens.tenant('acme', { sub: 'grace' }) }
  const forbidden = await call('GET', '/api/v1/admin/roles', grace)
  assert.equal(forbidden.status, 403)
  assert.equal(forbidden.headers.get('ratelimit-limit'), '4')
  assert.equal(forbidden.headers.get('ratelimit-remaining'), '3')
  assert.equal((await call('GET', '/api/v1/no/such/path', grace)).status, 404)
  assert.deepEqual(await statuses(3, () => call('GET', '/api/v1/admin/roles', grace)), [403, 403, 429])
  const refused = await call('GET', path, grace)
  assert.deepEqual([refused.status, refused.body.code], [429, 'rate_limited'])
  assert.equal((await call('GET', path, { token: await tokens.tenant('acme', { sub: 'ada' }) })).status, 200)
  assert.equal(
    (await call('GET', path, { token: await tokens.tenant('globex', { sub: 'grace' }) })).status,
    200,
  )
})

test('strangers are limited on the one path that is open to them', async t => {
  const { call } = await setup(t, { env: { RATE_LIMIT_PER_MINUTE: '2' } })
  assert.deepEqual(await statuses(3, () => call('GET', '/api/health', { token: null })), [200, 200, 429])
})

test('behind a trusted proxy callers are told apart by the address it names, otherwise by their own', async t => {
  const env = { AUTH_FAILURES_PER_MINUTE: '1' }
  const fails = (bundle: Bundle, from: string) => () =>
    bundle.call('GET', path, { token: null, headers: { 'x-forwarded-for': from } })
  const trusting = await setup(t, { env: { ...env, TRUST_PROXY: '1' } })
  assert.deepEqual(await statuses(2, fails(trusting, '203.0.113.7')), [401, 429])
  assert.deepEqual(await statuses(2, fails(trusting, '198.51.100.1, 203.0.113.8')), [401, 429])
  assert.deepEqual(
    await statuses(1, fails(trusting, '198.51.100.2, 203.0.113.8')),
    [429],
    'what it was told counts for nothing',
  )
  assert.deepEqual(await statuses(1, fails(trusting, '2001:db8::1')), [401])
  assert.deepEqual(await statuses(1, fails(trusting, '2001:db8::2')), [429], 'the same network')
  const alone = await setup(t, { env })
  assert.deepEqual(await statuses(1, fails(alone, '203.0.113.7')), [401])
  assert.deepEqual(await statuses(1, fails(alone, '203.0.113.8')), [429])
})

test('a tenant whose questions are slow keeps no other tenant waiting, and is answered in the end', async t => {
  let open = () => {}
  const gate = new Promise<void>(resolve => {
    open = resolve
  })
  let reached = 0
  const bundle = await setup(t, {
    env: { REQUESTS_AT_ONCE: '3' },
    extend: app =>
      app.get('/api/v1/deployments/slow', { config: { guard: 'caller' } }, async () => {
        reached += 1
        await gate
        return { data: reached }
      }),
  })
  const { call, tokens } = bundle
  const acme = { token: await tokens.tenant('acme') }
  const slow = Array.from({ length: 12 }, () => call('GET', '/api/v1/deployments/slow', acme))
  await eventually('the tenant has its share', async () => reached === 3)
  assert.equal((await call('GET', path, { token: await tokens.tenant('globex') })).status, 200)
  assert.equal((await call('GET', path)).status, 200, 'nor the operators')
  assert.equal(reached, 3)
  open()
  assert.deepEqual(new Set((await Promise.all(slow)).map(answer => answer.status)), new Set([200]))
  assert.equal((await call('GET', path, acme)).status, 200)
})
