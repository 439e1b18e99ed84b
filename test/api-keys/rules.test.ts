// The pure rules of API keys: format, rights and lifetimes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  covers,
  expiryAfterGrace,
  expiryFrom,
  keysWithin,
  mayActIn,
  mayMakeKeys,
  ownerOf,
  rightsFor,
  sameLifetime,
} from '../../src/features/api-keys/api-key.ts'
import { actsAs, hashKey, isActive, isHashOf, newKey, prefixOf } from '../../src/features/api-keys/verify.ts'
import type { Caller } from '../../src/kernel/http/caller.ts'

const now = new Date('2026-11-15T12:00:00.000Z')

test('a key reads cops_<8>_<43>_<6> in base62, is found by its prefix and stored as a SHA-256', () => {
  for (let i = 0; i < 1_000; i++) {
    const { raw, prefix, hash } = newKey()
    assert.match(raw, /^cops_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/)
    assert.equal(prefixOf(raw), prefix)
    assert.equal(raw.slice(5, 13), prefix)
    assert.match(hash, /^[0-9a-f]{64}$/)
    assert.ok(isHashOf(hash, raw))
  }
})

test('every character of base62 is as likely as any other', () => {
  const counts = new Map<string, number>()
  const keys = 4_000
  for (let i = 0; i < keys; i++) {
    for (const char of newKey().raw.slice(14, 57)) counts.set(char, (counts.get(char) ?? 0) + 1)
  }
  assert.equal(counts.size, 62)
  const expected = (keys * 43) / 62
  let chiSquared = 0
  for (const count of counts.values()) chiSquared += (count - expected) ** 2 / expected
  // 61 degrees of freedom: beyond 150 once in 10^8 runs. A modulo of a byte would give about 1,900.
  assert.ok(chiSquared < 150, `chi-squared ${chiSquared}`)
})

test('no key with one changed character, of any class and in any place, passes the checksum', () => {
  const { raw } = newKey()
  const changed = fc.tuple(fc.nat(raw.length - 1), fc.constantFrom(...'0189AMZamz_-. ~é\0'))
  fc.assert(
    fc.property(changed, ([at, char]) => {
      fc.pre(raw[at] !== char)
      assert.equal(prefixOf(raw.slice(0, at) + char + raw.slice(at + 1)), null)
    }),
    { numRuns: 5_000 },
  )
})

test('a hash fits its own key alone, and a damaged hash fits none', () => {
  const [one, two] = [newKey(), newKey()]
  assert.ok(!isHashOf(one.hash, two.raw))
  assert.ok(!isHashOf('', one.raw))
  assert.ok(!isHashOf(hashKey(one.raw).slice(2), one.raw))
})

test('a key is active until the very moment it expires, and never when revoked', () => {
  assert.ok(isActive({ expires_at: null, revoked_at: null }, now))
  assert.ok(isActive({ expires_at: '2026-11-15T12:00:00.001Z', revoked_at: null }, now))
  assert.ok(!isActive({ expires_at: '2026-11-15T12:00:00.000Z', revoked_at: null }, now))
  assert.ok(!isActive({ expires_at: null, revoked_at: '2026-11-15T12:00:00.000Z' }, now))
})

test('an expiry is a time in the future, brought to UTC', () => {
  assert.equal(expiryFrom('2026-11-15T14:00:00+01:00', now), '2026-11-15T13:00:00.000Z')
  for (const bad of [
    '2026-11-15T12:00:00Z',
    '2026-11-15T13:00:00+01:00',
    '1999-01-01T00:00:00Z',
    '2026-12-31T23:59:60Z',
    '9999-12-31T23:59:59-12:00',
    'soon',
  ]) {
    assert.equal(expiryFrom(bad, now), null, bad)
  }
})

test('a grace never lengthens a life, and a successor lives as long as the old key was to', () => {
  const key = (expires_at: string | null) => ({
    created_at: '2026-11-01T00:00:00.000Z',
    expires_at,
    revoked_at: null,
  })
  assert.equal(expiryAfterGrace(key(null), 0, now), now.toISOString())
  assert.equal(expiryAfterGrace(key(null), 3600, now), '2026-11-15T13:00:00.000Z')
  assert.equal(expiryAfterGrace(key('2026-11-15T12:30:00.000Z'), 3600, now), '2026-11-15T12:30:00.000Z')
  assert.equal(sameLifetime(key(null), now), null)
  assert.equal(sameLifetime(key('2026-11-20T00:00:00.000Z'), now), '2026-12-04T12:00:00.000Z')
})

const caller = (sub: string, tenantId: string | null, ...roles: string[]): Caller => ({
  sub,
  tenantId,
  roles,
  platformAdmin: roles.includes('platform_admin'),
  via: 'token',
  credentialId: 'jti-1',
  expiresAt: '2026-11-15T13:00:00.000Z',
  issuedAt: '2026-11-15T12:00:00.000Z',
  operator: false,
  limits: [],
})

test('whatever key a caller can make or rotate, it may do no more than the caller', () => {
  const name = fc.constantFrom('u1', 'u2')
  const tenant = fc.constantFrom('t1', 't2', null)
  const roles = fc.subarray(['member', 'billing', 'platform_admin'])
  fc.assert(
    fc.property(name, tenant, roles, name, (sub, tenantId, held, userId) => {
      const maker = caller(sub, tenantId, ...held)
      fc.pre(maker.platformAdmin || (tenantId !== null && sub === userId))
      const rights = rightsFor(maker, userId, undefined)
      if (rights === null) return assert.ok(sub !== userId && tenantId === null)
      assert.ok(covers(maker, rights))
      assert.ok(!rights.roles.includes('platform_admin') || sub === userId)
      assert.ok(rights.tenant_id !== null || rights.roles.includes('platform_admin'))
    }),
  )
  const demoted = caller('u1', 't1', 'member')
  assert.ok(covers(demoted, { tenant_id: 't1', roles: ['member'] }))
  assert.ok(!covers(demoted, { tenant_id: 't1', roles: ['member', 'billing'] }))
  assert.ok(!covers(demoted, { tenant_id: 't2', roles: [] }))
  assert.ok(!covers(demoted, { tenant_id: null, roles: ['platform_admin'] }))
})

test('one manages one’s own keys, a platform_admin everyone’s; a tenant is one’s own; and no key makes keys', () => {
  const [user, admin] = [caller('u1', 't1', 'member'), caller('root', null, 'platform_admin')]
  assert.deepEqual(keysWithin(user, 'u1'), { userId: 'u1', allTenants: false, tenantId: 't1' })
  assert.equal(keysWithin(user, 'u2'), null)
  assert.deepEqual(keysWithin(admin, 'u2'), { userId: 'u2', allTenants: true })
  const operator = { ...caller('u1', 'platform', 'support'), operator: true }
  assert.deepEqual(keysWithin(operator, 'u1'), { userId: 'u1', allTenants: false, tenantId: 'platform' })
  assert.equal(keysWithin(operator, 'u2'), null)
  assert.equal(keysWithin(caller('u1', null), 'u1'), null)
  assert.deepEqual([mayActIn(user, 't1'), mayActIn(user, 't2'), mayActIn(admin, 't2')], [true, false, true])
  assert.deepEqual([mayMakeKeys(user), mayMakeKeys({ ...user, via: 'api_key' })], [true, false])
  assert.deepEqual(rightsFor(user, 'u1', undefined), { tenant_id: 't1', roles: ['member'] })
  assert.deepEqual(rightsFor(admin, 'u2', 't2'), { tenant_id: 't2', roles: [] })
})

test('a key is its user’s at home, and knows the token that it was made with; of another user’s token nothing', () => {
  const rights = { tenant_id: 't2', roles: ['platform_admin'] }
  const admin = caller('root', null, 'platform_admin')
  assert.deepEqual(ownerOf(admin, 'root', rights, 'platform'), {
    owner_tenant: 'platform',
    owner_roles: ['platform_admin'],
    owner_token_at: '2026-11-15T12:00:00.000Z',
  })
  const unknown = { owner_tenant: 't2', owner_roles: null, owner_token_at: null }
  assert.deepEqual(ownerOf(admin, 'u1', { tenant_id: 't2', roles: [] }, 'platform'), unknown)
  const { issuedAt, ...undated } = caller('u1', 't1', 'member')
  assert.equal(ownerOf(undated, 'u1', rights, 'platform').owner_token_at, null)
})

test('a key acts with what it was given beside what its owner has; when that is no platform_admin any more, as its owner', () => {
  const given = { tenant_id: 't2', roles: ['platform_admin'], owner_tenant: 'platform' }
  const asAdmin = { tenantId: 't2', roles: ['platform_admin'], platformAdmin: true }
  const unknown = { ownerRoles: undefined, ownerTenant: undefined }
  assert.deepEqual(actsAs({ ...given, owner_roles: null, owner_tenant: null }), { ...asAdmin, ...unknown })
  assert.deepEqual(actsAs({ ...given, owner_roles: ['x', 'platform_admin'] }), {
    ...asAdmin,
    ownerRoles: ['x', 'platform_admin'],
    ownerTenant: 'platform',
  })
  assert.deepEqual(actsAs({ ...given, owner_roles: ['viewer'] }), {
    tenantId: 'platform',
    roles: ['viewer'],
    platformAdmin: false,
  })
  const member = { tenant_id: 't1', roles: ['a', 'b'], owner_tenant: 't1' }
  for (const owner_roles of [['a'], ['platform_admin'], []])
    assert.deepEqual(actsAs({ ...member, owner_roles }), {
      tenantId: 't1',
      roles: ['a', 'b'],
      platformAdmin: false,
      ownerRoles: owner_roles,
      ownerTenant: 't1',
    })
})

test('the checksum is the CRC-32 in base62, and a key with anything before or behind it is none', () => {
  const key = 'cops_ABCDEFGH_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg_3pnr24'
  assert.equal(prefixOf(key), 'ABCDEFGH')
  for (const other of [`x${key}`, `${key}x`, `${key}\n`]) assert.equal(prefixOf(other), null)
  assert.equal(expiryFrom('9999-12-31T23:59:59.999Z', now), '9999-12-31T23:59:59.999Z')
})
