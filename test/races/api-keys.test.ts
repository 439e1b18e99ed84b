// API keys that are used, revoked and rotated at the same time. On PostgreSQL alone: PGlite runs one statement at a time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsPostgres } from '../support/engine.ts'
import { setup } from '../support/setup.ts'

const ROUNDS = 200
const base = '/api/v1/users/alice/api_keys'
const env = { RATE_LIMIT_PER_MINUTE: '0' }

test(
  'a key that is revoked while it is used is good or refused, and refused ever after',
  needsPostgres,
  async t => {
    const { call, tokens } = await setup(t, { env })
    const token = await tokens.tenant('acme', { sub: 'alice' })
    for (let round = 1; round <= ROUNDS; round++) {
      const { key_id, api_key } = (await call('POST', base, { token })).body.data
      const use = () => call('GET', '/api/v1/session', { token: api_key })
      const revoke = async () => {
        const { status } = await call('DELETE', `${base}/${key_id}`, { token })
        // Asked after the answer to the revocation, while the uses before it are still under way.
        return [status, (await use()).status]
      }
      const [uses, ...revocations] = await Promise.all([
        Promise.all(Array.from({ length: 6 }, use)),
        revoke(),
        revoke(),
      ])
      assert.deepEqual(revocations, [
        [204, 401],
        [204, 401],
      ])
      for (const { status } of uses) assert.ok(status === 200 || status === 401, String(status))
      const { body } = await call('GET', `${base}/${key_id}`, { token })
      assert.equal(body.data.is_active, false, 'noting its use brought no key back')
    }
  },
)

test('of two tokens at once the one with the later iat decides what a key may', needsPostgres, async t => {
  const { call, clock, tokens } = await setup(t, { env })
  await call('POST', '/api/v1/admin/roles', { body: { name: 'idle', permissions: [] } })
  const { api_key } = (await call('POST', base, { token: await tokens.tenant('acme', { sub: 'alice' }) }))
    .body.data
  for (let round = 1; round <= ROUNDS; round++) {
    clock.advance(5_000)
    const now = Math.floor(clock.now().getTime() / 1000)
    const exp = now + 60
    const use = async (role: string, iat: number) =>
      call('GET', '/api/v1/session', {
        token: await tokens.tenant('acme', { sub: 'alice', role, iat, exp }),
      })
    const later = round % 2 === 0 ? ['member', 'idle'] : ['idle', 'member']
    const both = [use(later[0]!, now - 1), use(later[1]!, now)]
    await Promise.all(round % 3 === 0 ? both.reverse() : both)
    const { status } = await call('GET', '/api/v1/inventory', { token: api_key })
    assert.equal(status, round % 2 === 0 ? 403 : 200, `round ${round}`)
  }
})

test(
  'of two rotations at once one makes the new key, and the other is told which',
  needsPostgres,
  async t => {
    const { call, tokens } = await setup(t, { env })
    const token = await tokens.tenant('acme', { sub: 'alice' })
    for (let round = 1; round <= ROUNDS; round++) {
      const { key_id } = (await call('POST', base, { token })).body.data
      const body = { grace_seconds: round % 2 === 0 ? 3600 : 0 }
      const rotate = () => call('POST', `${base}/${key_id}/rotate`, { token, body })
      const [won, lost] = (await Promise.all([rotate(), rotate()])).sort((a, b) => a.status - b.status)
      assert.deepEqual([won!.status, lost!.status], [201, 409], `${won!.text} ${lost!.text}`)
      assert.equal(lost!.body.code, 'already_rotated')
      assert.equal(lost!.body.replaced_by, won!.body.data.key_id)
    }
  },
)

test(
  'a rotation and a revocation at once leave the old key dead, and a new one only if the rotation won',
  needsPostgres,
  async t => {
    const { call, tokens } = await setup(t, { env })
    const token = await tokens.tenant('acme', { sub: 'alice' })
    for (let round = 1; round <= ROUNDS; round++) {
      const { key_id, api_key } = (await call('POST', base, { token })).body.data
      const [rotated, revoked] = await Promise.all([
        call('POST', `${base}/${key_id}/rotate`, { token, body: { grace_seconds: 3600 } }),
        call('DELETE', `${base}/${key_id}`, { token }),
      ])
      assert.equal(revoked.status, 204)
      assert.equal((await call('GET', '/api/v1/session', { token: api_key })).status, 401)
      if (rotated.status !== 201) assert.equal(rotated.body.code, 'key_not_active', rotated.text)
    }
  },
)
