import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgresAlone } from '../support/engine.ts'
import { everything } from '../support/inspect-database.ts'
import { setup } from '../support/setup.ts'

const base = '/api/v1/users/alice/api_keys'

test('the raw key is in no row of any table and in no line of the log', onPostgresAlone, async t => {
  const bundle = await setup(t)
  const { call, tokens, logged } = bundle
  const token = await tokens.tenant('acme', { sub: 'alice' })
  const headers = { 'idempotency-key': 'make-it-once' }
  const made = await call('POST', base, { token, headers, body: { description: 'needle in a haystack' } })
  const again = await call('POST', base, { token, headers, body: { description: 'needle in a haystack' } })
  assert.equal(again.body.data.api_key, made.body.data.api_key)
  const { key_id } = made.body.data
  const rotated = await call('POST', `${base}/${key_id}/rotate`, {
    token,
    headers: { 'idempotency-key': 'rotate-it-once' },
    body: { grace_seconds: 60 },
  })
  const keys: string[] = [made, rotated].map(({ body }) => body.data.api_key)
  for (const key of keys) {
    assert.equal((await call('GET', '/api/v1/session', { token: key })).status, 200)
    assert.equal((await call('POST', base, { token: key, body: { surprise: 1 } })).status, 422)
    assert.equal((await call('GET', '/api/v1/session', { token: `${key}0` })).status, 401)
    await call('GET', base, { token: key })
  }
  await call('DELETE', `${base}/${key_id}`, { token, body: { reason: 'done' } })

  const database = await everything(bundle)
  const tablesWith = (needle: string) =>
    [...database].filter(([, text]) => text.includes(needle)).map(([name]) => name)
  const described = tablesWith('needle in a haystack').sort()
  assert.deepEqual(described, ['public.api_keys', 'public.audit_log'], 'answers are kept encrypted')
  assert.deepEqual(tablesWith('rotate-it-once'), ['public.idempotency_keys'])
  for (const key of keys) {
    const secret = Buffer.from(key.slice(14, 57))
    for (const needle of [`${secret}`, secret.toString('base64').slice(0, 40), secret.toString('hex')]) {
      assert.deepEqual(tablesWith(needle), [])
      assert.ok(!logged().includes(needle))
    }
  }
  assert.match(logged(), /"path":"\/api\/v1\/users\/alice\/api_keys"/)
})
