import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actAs, actAsNobody, actingText } from '../../src/kernel/acting.ts'

const bob = {
  actor: 'bob',
  role: 'member',
  tenant_id: 'acme',
  request_id: 'r-1',
  client_request_id: 'theirs-1',
  credential_kind: 'token',
  credential_id: 'jti-1',
  address: '127.0.0.1',
  operation: 'createPlan',
}

test('whoever acts does so in everything that is called and awaited, and nobody does elsewhere', async () => {
  const seen = await actAs(bob, async () => {
    await new Promise(resolve => setImmediate(resolve))
    return [actingText(), actAsNobody(actingText), await actAsNobody(async () => actingText()), actingText()]
  })
  assert.deepEqual(seen, [JSON.stringify(bob), '', '', JSON.stringify(bob)])
  assert.equal(actingText(), '')
})

test('what the database would refuse in a role is written as a replacement character', () => {
  const text = actAs({ ...bob, role: 'a\0b\ud800', tenant_id: null }, actingText)
  assert.deepEqual(JSON.parse(text), { ...bob, role: 'a\ufffdb\ufffd', tenant_id: null })
})
