// The rules of webhooks, without a database: when to try again, which secrets sign, what may be listened to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterAttempt } from '../../src/features/webhooks/delivery-worker.ts'
import {
  dataFor,
  EVENT_TYPES,
  PATTERNS,
  TENANT_PATTERNS,
  TEST_EVENT,
} from '../../src/features/webhooks/events.ts'
import { newSecret, overlapEnd, signingSecrets } from '../../src/features/webhooks/webhook.ts'
import { encryptionFor } from '../../src/kernel/crypto.ts'

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
  const encryption = encryptionFor('test', ['key'])
  const now = new Date('2026-11-15T12:00:00.000Z')
  const until = overlapEnd(now)
  assert.equal(until, '2026-11-16T12:00:00.000Z')
  const first = {
    secret: encryption.encrypt(one, 'a'),
    previous_secret: null,
    previous_secret_expires_at: null,
  }
  assert.deepEqual(signingSecrets(encryption, 'a', first, now), [one])
  const rotated = {
    secret: encryption.encrypt(two, 'a'),
    previous_secret: first.secret,
    previous_secret_expires_at: until,
  }
  assert.deepEqual(signingSecrets(encryption, 'a', rotated, new Date(Date.parse(until) - 1)), [two, one])
  assert.deepEqual(signingSecrets(encryption, 'a', rotated, new Date(until)), [two])
  assert.throws(
    () => signingSecrets(encryption, 'b', rotated, now),
    'a secret moved to another webhook opens',
  )
  assert.ok(!rotated.secret.includes(two))
})

test('one may listen to everything, to a family, or to one type; the test event is nobody’s choice', () => {
  assert.deepEqual(PATTERNS.slice(0, 11), [
    '*',
    'deployment.*',
    'resource.*',
    'drift.*',
    'saga.*',
    'statement.*',
    'budget.*',
    'cost.*',
    'finding.*',
    'invoice.*',
    'audit.*',
  ])
  assert.deepEqual(PATTERNS.slice(11), [...EVENT_TYPES])
  assert.equal(new Set(PATTERNS).size, PATTERNS.length)
  assert.ok(!PATTERNS.includes(TEST_EVENT))
})

test('a tenant can listen to every family but invoices and the audit log', () => {
  assert.deepEqual(
    PATTERNS.filter(pattern => !TENANT_PATTERNS.includes(pattern)),
    [
      'invoice.*',
      'audit.*',
      'invoice.ingested',
      'invoice.ingest_failed',
      'invoice.pushed',
      'audit.checkpoint',
    ],
  )
})

test('who hears of one tenant is told neither what was before a resource came nor why a saga failed', () => {
  const resource = (kind: string, changes: object | null) =>
    JSON.stringify({ tenant_id: 'acme', resource: { id: '1' }, event: { kind, changes } })
  const change = { before: 'theirs', after: 'ours' }
  const came = resource('updated', {
    tenant_id: change,
    name: change,
    deployment_id: { before: 'theirs', after: null },
  })
  const told = { before: null, after: 'ours' }
  assert.equal(
    dataFor('acme', 'resource.updated', came),
    resource('updated', { tenant_id: told, name: told }),
  )
  assert.equal(
    dataFor('acme', 'resource.restored', resource('restored', { tenant_id: change })),
    resource('restored', { tenant_id: told }),
  )
  const saga = (error: object | null, context = {}) =>
    JSON.stringify({ tenant_id: 'acme', saga: { id: '1', context, error } })
  const failed = { step_idx: 1, step: 'b' }
  assert.equal(
    dataFor('acme', 'saga.failed', saga({ ...failed, reason: 'the account is full' }, { droplet_id: 4711 })),
    saga({ ...failed, reason: 'The operator of the platform can see why.' }),
  )
  const untouched: [string | null, string, string][] = [
    [null, 'resource.updated', came],
    [null, 'saga.failed', saga({ ...failed, reason: 'x' })],
    ['acme', 'saga.completed', saga(null)],
    ['acme', 'resource.updated', resource('updated', { name: change })],
    ['acme', 'resource.drift_detected', resource('drift_detected', { tenant_id: change })],
    ['acme', 'resource.discovered', resource('discovered', null)],
    ['acme', 'webhook.test', '{ "tenant_id": "acme" }'],
  ]
  for (const [hearsOf, type, data] of untouched) assert.equal(dataFor(hearsOf, type, data), data)
})
