// The rules of webhooks, without a database: when to try again, which secrets sign, what may be listened to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterAttempt } from '../../src/features/webhooks/after-attempt.ts'
import { EVENT_TYPES, PATTERNS, TEST_EVENT } from '../../src/features/webhooks/event-types.ts'
import {
  newSecret,
  overlapEnd,
  sealSecret,
  signingSecrets,
} from '../../src/features/webhooks/webhook-secret.ts'
import { sealFor } from '../../src/kernel/sealed.ts'

const answered = (status_code: number | null) => ({ status_code })

test('any 2xx is taken, 410 ends it and switches the webhook off, everything else is tried again', () => {
  for (const status of [200, 201, 202, 204, 299])
    assert.deepEqual(afterAttempt(answered(status), 1, 0.5), { status: 'delivered' }, String(status))
  for (const attempts of [1, 10])
    assert.deepEqual(afterAttempt(answered(410), attempts, 0.5), { status: 'failed', gone: true })
  for (const status of [null, 100, 199, 300, 301, 307, 400, 401, 404, 409, 411, 429, 500, 503])
    assert.deepEqual(
      afterAttempt(answered(status), 1, 0.5),
      { status: 'pending', waitMs: 5_000 },
      String(status),
    )
})

test('after each attempt the wait is longer, and after the tenth there is none', () => {
  const waits = Array.from({ length: 11 }, (_, index) => {
    const verdict = afterAttempt(answered(500), index + 1, 0.5)
    return verdict.status === 'pending' ? verdict.waitMs / 1000 : verdict
  })
  const given = { status: 'failed', gone: false }
  const hours = [2, 5, 10, 14, 20, 24].map(hour => hour * 3600)
  assert.deepEqual(waits, [5, 300, 1800, ...hours, given, given])
  assert.deepEqual(afterAttempt(answered(200), 10, 0.5), { status: 'delivered' })
})

test('a tenth more or less keeps what failed together from coming back together', () => {
  const wait = (attempts: number, random: number) => {
    const verdict = afterAttempt(answered(null), attempts, random)
    return verdict.status === 'pending' && verdict.waitMs
  }
  assert.deepEqual([wait(1, 0), wait(1, 1)], [4_500, 5_500])
  assert.deepEqual([wait(9, 0), wait(9, 0.25), wait(9, 1)], [77_760_000, 82_080_000, 95_040_000])
})

test('a secret is 32 random bytes, and after a rotation the old one signs too until its day is over', () => {
  const [one, two] = [newSecret(), newSecret()]
  assert.notEqual(one, two)
  assert.match(one, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const seal = sealFor('test', ['key'])
  const now = new Date('2026-11-15T12:00:00.000Z')
  const until = overlapEnd(now)
  assert.equal(until, '2026-11-16T12:00:00.000Z')
  const first = {
    secret: sealSecret(seal, 'a', one),
    previous_secret: null,
    previous_secret_expires_at: null,
  }
  assert.deepEqual(signingSecrets(seal, 'a', first, now), [one])
  const rotated = {
    secret: sealSecret(seal, 'a', two),
    previous_secret: first.secret,
    previous_secret_expires_at: until,
  }
  assert.deepEqual(signingSecrets(seal, 'a', rotated, new Date(Date.parse(until) - 1)), [two, one])
  assert.deepEqual(signingSecrets(seal, 'a', rotated, new Date(until)), [two])
  assert.throws(() => signingSecrets(seal, 'b', rotated, now), 'a secret moved to another webhook opens')
  assert.ok(!rotated.secret.includes(two))
})

test('one may listen to everything, to a family, or to one type; the test event is nobody’s choice', () => {
  assert.deepEqual(PATTERNS.slice(0, 7), [
    '*',
    'deployment.*',
    'resource.*',
    'drift.*',
    'saga.*',
    'invoice.*',
    'audit.*',
  ])
  assert.deepEqual(PATTERNS.slice(7), [...EVENT_TYPES])
  assert.equal(new Set(PATTERNS).size, PATTERNS.length)
  assert.ok(!PATTERNS.includes(TEST_EVENT))
})
