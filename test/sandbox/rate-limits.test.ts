// A token that asks too often is refused, by sliding windows, and told what the real provider would tell it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setup } from './setup.ts'

test('every answer carries the window: limit, what remains, when the oldest request leaves it', async t => {
  const { get, clock } = await setup(t, { rateLimits: {} })
  const first = (await get('/v2/account')).headers
  assert.equal(first.get('ratelimit-limit'), '5000')
  assert.equal(first.get('ratelimit-remaining'), '4999')
  assert.equal(Number(first.get('ratelimit-reset')), clock.now().getTime() / 1000 + 3600)
  clock.advance(60_000)
  const second = (await get('/v2/nothing-here')).headers
  assert.equal(second.get('ratelimit-remaining'), '4998')
  assert.equal(second.get('ratelimit-reset'), first.get('ratelimit-reset'), 'the oldest has not left yet')
})

test('past the burst limit the answer is 429 with retry-after, until the oldest request is a minute old', async t => {
  const { get, clock } = await setup(t, { rateLimits: { perMinute: 3 } })
  for (let second = 0; second < 3; second += 1) {
    assert.equal((await get('/v2/account')).status, 200)
    clock.advance(10_000)
  }
  const refused = await get('/v2/account')
  assert.equal(refused.status, 429)
  assert.equal(refused.body.id, 'too_many_requests')
  assert.equal(refused.headers.get('retry-after'), '30')
  clock.advance(29_999)
  assert.equal((await get('/v2/account')).status, 429)
  clock.advance(1)
  assert.equal((await get('/v2/account')).status, 200, 'one has left the window')
  assert.equal((await get('/v2/account')).status, 429, 'and only one')
})

test('past the hourly limit the answer is 429 without retry-after', async t => {
  const { get, clock } = await setup(t, { rateLimits: { perHour: 2, perMinute: false } })
  await get('/v2/account')
  clock.advance(600_000)
  await get('/v2/account')
  const refused = await get('/v2/account')
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), null)
  assert.equal(refused.headers.get('ratelimit-remaining'), '0')
  assert.equal(Number(refused.headers.get('ratelimit-reset')) * 1000, clock.now().getTime() + 3_000_000)
  clock.advance(3_000_000)
  assert.equal((await get('/v2/account')).status, 200)
})

test('the list of SSH keys has a tighter limit of its own', async t => {
  const { get } = await setup(t, { rateLimits: {} })
  for (let time = 0; time < 10; time += 1) assert.equal((await get('/v2/account/keys')).status, 200)
  assert.equal((await get('/v2/account/keys')).status, 429)
  assert.equal((await get('/v2/account')).status, 200)
})

test('each token has windows of its own', async t => {
  const { send } = await setup(t, { rateLimits: { perMinute: 1 }, token: ['one', 'two'] })
  const status = async (token: string) =>
    (await send('GET', '/v2/account', undefined, { authorization: `Bearer ${token}` })).status
  assert.deepEqual([await status('one'), await status('one'), await status('two')], [200, 429, 200])
})

test('turned off, nothing is ever refused', async t => {
  const { get } = await setup(t, { rateLimits: false })
  for (let time = 0; time < 300; time += 1) assert.equal((await get('/v2/registry')).status, 200)
  assert.equal((await get('/v2/account')).headers.get('ratelimit-remaining'), '5000')
})
