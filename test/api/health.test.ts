import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setup } from '../support/setup.ts'

test('anyone may ask for health, and is told which service answers', async t => {
  const { call } = await setup(t)
  const { status, body } = await call('GET', '/api/health', { token: null })
  assert.equal(status, 200)
  assert.equal(body.data.service, 'cloudops')
  assert.equal(body.data.status, 'ok')
})

test('health is 503 with a problem when the database does not answer', async t => {
  const { call, ctx } = await setup(t)
  ctx.engine.ping = async () => {
    throw new Error('connection refused to 10.0.0.1')
  }
  const { status, body, headers } = await call('GET', '/api/health', { token: null })
  assert.equal(status, 503)
  assert.equal(body.code, 'unavailable')
  assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/)
  assert.doesNotMatch(JSON.stringify(body), /10\.0\.0\.1/)
})
