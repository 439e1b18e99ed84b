import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createProvider,
  createProviderRateLimiter,
  defaultLimits,
  ProviderBusyError,
  type ProviderError,
} from '../../src/integrations/digitalocean/index.ts'
import { fixture, pageOf, setup, testClock } from './scripted-provider.ts'

const noDeadline = { deadlineAt: Number.POSITIVE_INFINITY }

async function take(
  rateLimiter: ReturnType<typeof createProviderRateLimiter>,
  times: number,
  path = '/v2/droplets',
) {
  for (let n = 0; n < times; n += 1) {
    await rateLimiter.take(path, noDeadline)
    rateLimiter.done(null)
  }
}

const headers = (remaining: number, reset: number) =>
  new Headers({
    'ratelimit-limit': '5000',
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(reset),
  })

test('250 requests go at once, the next waits until the first has left the minute', async () => {
  const clock = testClock()
  const rateLimiter = createProviderRateLimiter(clock, defaultLimits)
  await take(rateLimiter, 250)
  assert.deepEqual(clock.waits, [])
  clock.pass(10_000)
  await take(rateLimiter, 1)
  assert.deepEqual(clock.waits, [50_000])
})

test('no minute ever holds more than 250 requests, nor an hour more than 5,000', async () => {
  const clock = testClock()
  const rateLimiter = createProviderRateLimiter(clock, { ...defaultLimits, maxWaitMs: 3_600_000 })
  const departures: number[] = []
  for (let n = 0; n < 11_000; n += 1) {
    await take(rateLimiter, 1)
    departures.push(clock.now())
    clock.pass(n % 3 === 0 ? 40 : 0)
  }
  for (const { requests, windowMs } of defaultLimits.rates) {
    for (let n = requests; n < departures.length; n += 1) {
      assert.ok((departures[n] as number) - (departures[n - requests] as number) >= windowMs)
    }
  }
})

test('an exhausted hour asks to be rescheduled instead of holding the job', async () => {
  const clock = testClock()
  const rateLimiter = createProviderRateLimiter(clock, defaultLimits)
  await take(rateLimiter, 5_000)
  await assert.rejects(take(rateLimiter, 1), error => {
    assert.ok(error instanceof ProviderBusyError)
    assert.ok(error.retryAfterMs > 2_000_000 && error.retryAfterMs <= 3_600_000)
    return true
  })
})

test('the SSH keys have a limit of their own that does not hold up the rest', async () => {
  const clock = testClock()
  const rateLimiter = createProviderRateLimiter(clock, defaultLimits)
  await take(rateLimiter, 10, '/v2/account/keys')
  await take(rateLimiter, 10)
  assert.deepEqual(clock.waits, [])
  await take(rateLimiter, 1, '/v2/account/keys')
  assert.deepEqual(clock.waits, [60_000])
})

test('when the provider says nothing remains, the next request waits for its reset', async () => {
  const clock = testClock()
  const rateLimiter = createProviderRateLimiter(clock, defaultLimits)
  await rateLimiter.take('/v2/apps', noDeadline)
  rateLimiter.done(headers(0, clock.now() / 1_000 + 30))
  assert.deepEqual(rateLimiter.allowance(), { limit: 5_000, remaining: 0, resetAt: clock.now() + 30_000 })
  await take(rateLimiter, 1)
  assert.deepEqual(clock.waits, [30_000])
})

test('what remains is shared among the requests under way', async () => {
  const clock = testClock()
  const rateLimiter = createProviderRateLimiter(clock, defaultLimits)
  await rateLimiter.take('/v2/apps', noDeadline)
  await rateLimiter.take('/v2/apps', noDeadline)
  rateLimiter.done(headers(1, clock.now() / 1_000 + 30))
  await take(rateLimiter, 1)
  assert.deepEqual(clock.waits, [30_000])
})

test('past its reset the provider’s last word no longer holds', async () => {
  const clock = testClock()
  const rateLimiter = createProviderRateLimiter(clock, defaultLimits)
  await rateLimiter.take('/v2/apps', noDeadline)
  rateLimiter.done(headers(0, clock.now() / 1_000 + 30))
  clock.pass(31_000)
  await take(rateLimiter, 3)
  assert.deepEqual(clock.waits, [])
})

test('headers that are no numbers are ignored', async () => {
  const rateLimiter = createProviderRateLimiter(testClock(), defaultLimits)
  await rateLimiter.take('/v2/apps', noDeadline)
  rateLimiter.done(new Headers({ 'ratelimit-remaining': 'none', 'ratelimit-reset': '-1' }))
  assert.equal(rateLimiter.allowance(), null)
})

test('several short waits together count as one long one', async () => {
  const clock = testClock()
  const rateLimiter = createProviderRateLimiter(clock, { ...defaultLimits, maxWaitMs: 40_000 })
  await rateLimiter.take('/v2/apps', noDeadline)
  rateLimiter.done(headers(0, clock.now() / 1_000 + 30))
  const { sleep } = clock
  clock.sleep = async ms => {
    await sleep(ms)
    rateLimiter.pauseUntil(clock.now() + 30_000)
  }
  await assert.rejects(take(rateLimiter, 1), ProviderBusyError)
  assert.deepEqual(clock.waits, [30_000])
})

test('a wait that would pass the deadline fails at once', async () => {
  const clock = testClock()
  const rateLimiter = createProviderRateLimiter(clock, defaultLimits)
  await take(rateLimiter, 250)
  await assert.rejects(
    rateLimiter.take('/v2/apps', { deadlineAt: clock.now() + 1_000 }),
    (error: ProviderError) => error.kind === 'deadline',
  )
})

test('a waiting request can be aborted', async () => {
  const rateLimiter = createProviderRateLimiter(testClock(), defaultLimits)
  await assert.rejects(
    rateLimiter.take('/v2/apps', { ...noDeadline, signal: AbortSignal.abort(new Error('stop')) }),
    /stop/,
  )
})

test('a listing of many SSH keys is paced by that endpoint’s limit', async t => {
  const keys = Array.from({ length: 12 }, (_, at) => ({ id: at + 1, name: `k${at}` }))
  const { provider, clock } = await setup(t, ({ query }) => pageOf('ssh_keys', keys, query), { perPage: 1 })
  assert.equal((await provider.list('ssh_key')).complete, true)
  assert.deepEqual(clock.waits, [60_000])
})

test('clients of one token share one pace', async t => {
  const { baseUrl, clock } = await setup(t, () => ({ body: fixture('balance.get') }))
  const rateLimiter = createProviderRateLimiter(clock, {
    ...defaultLimits,
    rates: [{ requests: 1, windowMs: 5_000 }],
  })
  const clients = [1, 2].map(() => createProvider({ baseUrl, token: 'shared', timer: clock, rateLimiter }))
  for (const client of clients) {
    await client.balance()
    await client.close()
  }
  assert.deepEqual(clock.waits, [5_000])
})

test('what may be asked beside others leaves half of each window free, and is nothing while anybody waits', async () => {
  const clock = testClock()
  const rates = [
    { requests: 100, windowMs: 3_600_000 },
    { requests: 10, windowMs: 60_000 },
  ]
  const rateLimiter = createProviderRateLimiter(clock, { ...defaultLimits, rates })
  assert.equal(rateLimiter.spare(), 5)
  await take(rateLimiter, 4)
  assert.equal(rateLimiter.spare(), 1)
  await take(rateLimiter, 5)
  assert.equal(rateLimiter.spare(), 0)
  clock.pass(60_000)
  assert.equal(rateLimiter.spare(), 5)
  await rateLimiter.take('/v2/droplets', noDeadline)
  rateLimiter.done(headers(2_503, clock.now() / 1_000 + 60))
  assert.equal(rateLimiter.spare(), 3, 'the provider’s own word is believed')
  clock.pass(60_000)
  rateLimiter.pauseUntil(clock.now() + 1_000)
  assert.equal(rateLimiter.spare(), 0)
  clock.pass(1_000)
  assert.equal(rateLimiter.spare(), 5)
})
