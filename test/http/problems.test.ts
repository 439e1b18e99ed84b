import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { setup } from '../support/setup.ts'

const config = { guard: 'caller' } as const

test('a thrown bug is a 500 problem that shows no stack, no SQL and no secret, and is logged whole', async t => {
  const { call, logged } = await setup(t, {
    extend: app => {
      app.get('/api/v1/bug', { config }, async () => {
        throw new Error('secret-detail-of-the-bug')
      })
    },
  })
  const { status, body, text, headers } = await call('GET', '/api/v1/bug')
  assert.equal(status, 500)
  assert.equal(body.code, 'internal')
  assert.equal(body.request_id, headers.get('x-request-id'))
  assert.doesNotMatch(text, /secret-detail|\.ts/)
  assert.match(logged(), /secret-detail-of-the-bug/)
  assert.ok(logged().includes(body.request_id))
})

test('a broken SQL statement is a 500 problem without its text', async t => {
  const { call } = await setup(t, {
    extend: (app, { db }) => {
      app.get('/api/v1/bug', { config }, () => sql`select no_such_column from scheduled_tasks`.execute(db))
    },
  })
  const { status, text } = await call('GET', '/api/v1/bug')
  assert.equal(status, 500)
  assert.doesNotMatch(text, /no_such_column|scheduled_tasks/)
})

test('violated constraints and values that cannot be stored are 4xx problems', async t => {
  const { call } = await setup(t, {
    extend: (app, { db }) => {
      const routes = {
        unique: sql`insert into scheduled_tasks select * from scheduled_tasks`,
        foreign: sql`insert into task_runs (id, task, trigger, status, requested_at) values (gen_random_uuid(), 'nope', 'manual', 'queued', now())`,
        check: sql`insert into task_runs (id, task, trigger, status, requested_at) values (gen_random_uuid(), 'housekeeping', 'moon', 'queued', now())`,
        uuid: sql`select * from task_runs where id = ${'not-a-uuid'}`,
        range: sql`select 99999999999999::bigint::int`,
        nul: sql`select ${'a\0b'}::text`,
      }
      for (const [name, query] of Object.entries(routes))
        app.get(`/api/v1/${name}`, { config }, () => query.execute(db))
    },
  })
  const expected = { unique: 409, foreign: 409, check: 422, uuid: 404, range: 422, nul: 422 }
  for (const [name, status] of Object.entries(expected)) {
    const answer = await call('GET', `/api/v1/${name}`)
    assert.equal(answer.status, status, `${name}: ${answer.text}`)
    assert.doesNotMatch(answer.text, /task_runs|scheduled_tasks|constraint|violates/)
  }
})

test('a route that declares no guard keeps the app from being built', async t => {
  await assert.rejects(
    setup(t, { extend: app => void app.get('/api/v1/open', async () => 'hello') }),
    /GET \/api\/v1\/open declares no guard/,
  )
})

test('the request id of an answer and of its problem is our own, whatever the caller sends', async t => {
  const { call } = await setup(t)
  for (const theirs of ['trace-1234567890', '<script>', '0198a2b4-5c6d-7e8f-9a0b-1c2d3e4f5a6b']) {
    const { headers, body } = await call('GET', '/api/v1/none', { headers: { 'x-request-id': theirs } })
    const id = headers.get('x-request-id') ?? ''
    assert.match(id, /^[0-9a-f-]{36}$/)
    assert.notEqual(id, theirs)
    assert.equal(body.request_id, id)
  }
})

test('answers carry the headers that keep browsers from guessing, framing and sniffing', async t => {
  const { call } = await setup(t)
  const { headers } = await call('GET', '/api/v1/session')
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/)
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('x-powered-by'), null)
})

test('each caller has a rate limit of its own, and is told where it stands', async t => {
  const { call, tokens } = await setup(t, { env: { RATE_LIMIT_PER_MINUTE: '3' } })
  const ada = await tokens.admin()
  for (const left of ['2', '1', '0']) {
    const { status, headers } = await call('GET', '/api/v1/session', { token: ada })
    assert.equal(status, 200)
    assert.equal(headers.get('ratelimit-limit'), '3')
    assert.equal(headers.get('ratelimit-remaining'), left)
  }
  const limited = await call('GET', '/api/v1/session', { token: ada })
  assert.equal(limited.status, 429)
  assert.equal(limited.body.code, 'rate_limited')
  assert.ok(Number(limited.headers.get('retry-after')) > 0)
  assert.equal((await call('GET', '/api/v1/no-such-path', { token: ada })).status, 429)
  const other = await call('GET', '/api/v1/session', { token: await tokens.tenant('acme') })
  assert.equal(other.status, 200)
  assert.equal((await call('GET', '/api/health', { token: null })).status, 200)
})
