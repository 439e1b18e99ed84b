import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actAs, actAsNobody, currentActor } from '../../src/kernel/audit.ts'

const bob = {
  actor: 'bob',
  actor_role: 'member',
  actor_tenant_id: 'acme',
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
    return [
      currentActor(),
      actAsNobody(currentActor),
      await actAsNobody(async () => currentActor()),
      currentActor(),
    ]
  })
  assert.deepEqual(seen, [bob, undefined, undefined, bob])
  assert.equal(currentActor(), undefined)
})

test('what the database would refuse in a role is written as a replacement character', () => {
  const seen = actAs({ ...bob, actor_role: 'a\0b\ud800', actor_tenant_id: null }, currentActor)
  assert.deepEqual(seen, { ...bob, actor_role: 'a\ufffdb\ufffd', actor_tenant_id: null })
})
