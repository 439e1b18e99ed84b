import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { pino } from 'pino'
import {
  createProvider,
  ProviderBusyError,
  ProviderError,
} from '../../src/integrations/digitalocean/index.ts'
import { fixture, pageOf, type Reply, serve, setup, testClock, token } from './scripted-provider.ts'

const balance = { body: fixture('balance.get') }

/** The replies in turn, the last one for ever. */
const inTurn =
  (...replies: Reply[]) =>
  (_: unknown, count: number) =>
    replies[count - 1] ?? (replies.at(-1) as Reply)

async function failure(call: Promise<unknown>): Promise<ProviderError> {
  try {
    await call
  } catch (error) {
    assert.ok(error instanceof ProviderError, `not a ProviderError: ${inspect(error)}`)
    return error
  }
  assert.fail('the call succeeded')
}

for (const status of [429, 500, 502, 503, 504]) {
  test(`a read that meets ${status} is tried again`, async t => {
    const { provider, requests } = await setup(t, inTurn({ status, body: fixture('error.500') }, balance))
    assert.equal((await provider.balance()).account_balance, '12.23')
    assert.equal(requests.length, 2)
  })
}

for (const fault of ['reset', 'cut'] as const) {
  test(`a read whose connection is ${fault} is tried again`, async t => {
    const { provider, requests } = await setup(t, inTurn({ fault, body: '{' }, balance))
    await provider.balance()
    assert.equal(requests.length, 2)
  })
}

test('a read that gets no answer in time is tried again', async t => {
  const { provider, requests } = await setup(t, inTurn({ fault: 'hang' }, balance), {
    requestTimeoutMs: 2_000,
  })
  await provider.balance()
  assert.equal(requests.length, 2)
})

test('the timeout covers the body too', async () => {
  const fetch = async (_: string, { signal }: { signal: AbortSignal }) => ({
    status: 200,
    headers: new Headers(),
    body: new ReadableStream<Uint8Array>({}).pipeThrough(new TransformStream(), { signal }),
  })
  const limits = { requestTimeoutMs: 30, attempts: 1 }
  const provider = createProvider({ baseUrl: 'http://provider.test', token, fetch, limits })
  assert.equal((await failure(provider.balance())).kind, 'timeout')
})

test('attempts are bounded and spread by doubling waits', async t => {
  const { provider, requests, clock } = await setup(t, () => ({ status: 503, body: {} }))
  const error = await failure(provider.balance())
  assert.deepEqual([error.status, requests.length], [503, 5])
  assert.deepEqual(clock.waits, [500, 1_000, 2_000, 4_000])
})

test('with full jitter a wait may be anything down to nothing', async t => {
  const baseUrl = await serve(t, inTurn({ status: 500, body: {} }, balance))
  const clock = testClock()
  const provider = createProvider({ baseUrl, token, timer: clock, random: () => 0.25 })
  t.after(() => provider.close())
  await provider.balance()
  assert.deepEqual(clock.waits, [125])
})

for (const status of [400, 401, 403, 404, 409, 422]) {
  test(`a read that meets ${status} is not tried again`, async t => {
    const { provider, requests } = await setup(t, () => ({ status, body: fixture('error.401') }))
    const error = await failure(provider.balance())
    assert.deepEqual([error.status, error.code, error.mayHaveHappened], [status, 'unauthorized', false])
    assert.equal(requests.length, 1)
  })
}

test('Retry-After in seconds is waited for', async t => {
  const { provider, clock } = await setup(
    t,
    inTurn({ status: 429, headers: { 'retry-after': '17' } }, balance),
  )
  await provider.balance()
  assert.deepEqual(clock.waits, [17_000])
})

test('Retry-After as a date is waited for', async t => {
  const { provider, clock } = await setup(t, (_, count) =>
    count === 1
      ? { status: 503, headers: { 'retry-after': new Date(clock.now() + 42_000).toUTCString() } }
      : balance,
  )
  await provider.balance()
  assert.deepEqual(clock.waits, [42_000])
})

for (const nonsense of ['soon', '-5', '1.5', '']) {
  test(`a Retry-After of "${nonsense}" is ignored`, async t => {
    const { provider, clock } = await setup(
      t,
      inTurn({ status: 429, headers: { 'retry-after': nonsense } }, balance),
    )
    await provider.balance()
    assert.deepEqual(clock.waits, [500])
  })
}

test('a Retry-After longer than a job should hold asks to be rescheduled', async t => {
  const reply = { status: 429, headers: { 'retry-after': '600' }, body: fixture('error.429') }
  const { provider, requests, clock } = await setup(t, () => reply)
  const error = await failure(provider.balance())
  assert.ok(error instanceof ProviderBusyError)
  assert.deepEqual([error.retryAfterMs, error.status, error.code], [600_000, 429, 'too_many_requests'])
  assert.deepEqual([requests.length, clock.waits], [1, []])
})

test('the hourly 429, which has no Retry-After, is rescheduled for the moment the window opens', async t => {
  const { provider, clock } = await setup(t, () => ({
    status: 429,
    headers: { 'ratelimit-remaining': '0', 'ratelimit-reset': String(clock.now() / 1_000 + 900) },
  }))
  const error = await failure(provider.balance())
  assert.ok(error instanceof ProviderBusyError)
  assert.equal(error.retryAfterMs, 900_000)
})

test('a 429 without any hint, met to the end, still says when to come back', async t => {
  const { provider, requests } = await setup(t, () => ({ status: 429, body: fixture('error.429') }))
  const error = await failure(provider.balance())
  assert.ok(error instanceof ProviderBusyError)
  assert.deepEqual([error.retryAfterMs, requests.length], [60_000, 5])
})

test('after a 429 every other call of the token waits as well', async t => {
  const { provider, clock } = await setup(t, ({ method, path, query }) =>
    method === 'POST' ? { status: 429, headers: { 'retry-after': '20' } } : pageOf(path.slice(4), [], query),
  )
  await failure(provider.createTag('one'))
  await provider.list('volume')
  assert.deepEqual(clock.waits, [20_000])
})

test('retries stop at the deadline', async t => {
  const { provider, requests } = await setup(
    t,
    () => ({ status: 503, headers: { 'retry-after': '50' }, body: {} }),
    { callDeadlineMs: 110_000 },
  )
  await failure(provider.balance())
  assert.equal(requests.length, 3)
})

const droplet = { name: 'web-1', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64', tags: ['saga:1'] }

for (const status of [500, 502, 503, 504]) {
  test(`a create that meets ${status} is sent once and may have happened`, async t => {
    const headers = { 'retry-after': '1' }
    const { provider, requests } = await setup(t, () => ({ status, headers, body: fixture('error.500') }))
    const error = await failure(provider.createDroplet(droplet))
    assert.deepEqual([requests.length, error.mayHaveHappened], [1, true])
    assert.ok(!(error instanceof ProviderBusyError))
  })
}

const lostAnswers: Record<string, Reply> = {
  'a reset connection': { fault: 'reset' },
  'no answer': { fault: 'hang' },
  'an empty answer': { status: 202, body: '' },
  'a cut answer': { status: 202, body: '{"droplet":{"id":' },
  'an answer without the droplet': { status: 202, body: {} },
  'a droplet without an id': { status: 202, body: { droplet: {} } },
}
for (const [what, reply] of Object.entries(lostAnswers)) {
  test(`a create that gets ${what} is sent once and may have happened`, async t => {
    // Long enough for the request to arrive, however busy the machine is.
    const limits = reply.fault === 'hang' ? { requestTimeoutMs: 2_000 } : {}
    const { provider, requests } = await setup(t, () => reply, limits)
    const error = await failure(provider.createDroplet(droplet))
    assert.deepEqual([requests.length, error.mayHaveHappened], [1, true])
  })
}

test('a create that meets a 429 or a 422 is sent once and has not happened', async t => {
  for (const status of [429, 422]) {
    const { provider, requests } = await setup(t, () => ({ status, body: fixture('error.429') }))
    const error = await failure(provider.createDroplet(droplet))
    assert.deepEqual([requests.length, error.mayHaveHappened], [1, false])
  }
})

test('a create that could not connect has not happened', async () => {
  const fetch = async () => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code: 'ECONNREFUSED' }) })
  }
  const provider = createProvider({ baseUrl: 'http://provider.test', token, fetch, timer: testClock() })
  const error = await failure(provider.createDroplet(droplet))
  assert.deepEqual([error.kind, error.mayHaveHappened], ['network', false])
  await provider.close()
})

for (const status of [301, 302, 303, 307, 308]) {
  test(`a ${status} redirect is not followed, so the token stays`, async t => {
    let strayed = 0
    const elsewhere = await serve(t, () => {
      strayed += 1
      return balance
    })
    const { provider } = await setup(t, () => ({
      status,
      headers: { location: `${elsewhere}/v2/x` },
      body: '',
    }))
    const error = await failure(provider.balance())
    assert.deepEqual([error.kind, error.status, strayed], ['redirect', status, 0])
  })
}

test('the token goes out as a bearer and shows nowhere else', async t => {
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: line => void lines.push(line) })
  const seen: unknown[] = []
  const baseUrl = await serve(t, ({ headers }, count) => {
    seen.push(headers.authorization)
    const message = `Unable to authenticate ${token} or ${token.slice(0, 40)}`
    return count === 1
      ? { status: 500, body: {} }
      : { status: 401, body: { id: token, message, request_id: token } }
  })
  const provider = createProvider({ baseUrl, token, timer: testClock(), log })
  t.after(() => provider.close())
  const error = await failure(provider.balance())
  assert.deepEqual(seen, [`Bearer ${token}`, `Bearer ${token}`])
  assert.ok(lines.length > 0)
  const secret = token.slice(7, 30)
  for (const text of [
    inspect(error, { depth: 9 }),
    error.stack,
    JSON.stringify(error),
    inspect(provider),
    ...lines,
  ]) {
    assert.ok(!text?.includes(secret), text)
  }
  assert.match(error.message, /401: Unable to authenticate \[token\]/)
})

test('a token of any shape is kept out of what the provider says', async t => {
  const plain = 'a-token-of-another-kind'
  const baseUrl = await serve(t, () => ({
    status: 403,
    body: { id: 'forbidden', message: `${plain} lacks a scope` },
  }))
  const provider = createProvider({ baseUrl, token: plain, timer: testClock() })
  t.after(() => provider.close())
  assert.equal((await failure(provider.balance())).providerMessage, '[token] lacks a scope')
})

test('a token that cannot be sent is refused without being shown', () => {
  for (const bad of ['', 'line\nbreak', 'ünicode']) {
    assert.throws(
      () => createProvider({ baseUrl: 'http://127.0.0.1', token: bad }),
      error => error instanceof TypeError && (bad === '' || !error.message.includes(bad)),
    )
  }
})

test('a base URL that is no plain http address is refused', () => {
  for (const baseUrl of ['', 'api.digitalocean.com', 'ftp://x', 'https://user:pw@x', 'https://x/?a=1']) {
    assert.throws(() => createProvider({ baseUrl, token }), TypeError)
  }
})

test('a provider below a path is reached there', async t => {
  const { requests, baseUrl } = await setup(t, () => balance)
  const provider = createProvider({ baseUrl: `${baseUrl}/sandbox/`, token })
  t.after(() => provider.close())
  await provider.balance()
  assert.equal(requests[0]?.path, '/sandbox/v2/customers/my/balance')
})

test('an error carries the provider’s words in bounded length, and its request id', async t => {
  const body = { id: 'unprocessable_entity', message: `bad\n${'x'.repeat(10_000)}`, request_id: 'req-1' }
  const { provider } = await setup(t, () => ({ status: 422, body }))
  const error = await failure(provider.balance())
  assert.deepEqual([error.status, error.code, error.requestId], [422, 'unprocessable_entity', 'req-1'])
  assert.ok(error.message.length < 400)
  assert.ok(!error.message.includes('\n'))
})

test('an error page that is no JSON keeps its status and the request id of its header', async t => {
  const reply = { status: 403, headers: { 'x-request-id': 'req-2' }, body: '<html>' }
  const { provider } = await setup(t, () => reply)
  const error = await failure(provider.balance())
  assert.deepEqual([error.status, error.code, error.requestId], [403, null, 'req-2'])
})

test('an answer larger than the limit is refused', async t => {
  const { provider } = await setup(t, () => ({ body: { pad: 'x'.repeat(5_000) } }), { maxBodyBytes: 1_000 })
  assert.match((await failure(provider.balance())).message, /larger than 1000 bytes/)
})

test('an aborted call throws the reason it was aborted with, even while waiting', async t => {
  const stop = new AbortController()
  const { provider } = await setup(t, () => {
    stop.abort(new Error('enough'))
    return { status: 500, body: {} }
  })
  await assert.rejects(provider.balance({ signal: stop.signal }), /enough/)
})
