// The rules of secrets, without a database: names, what fits them, and how values are sealed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isSecretName,
  isTokenSecret,
  problemsOf,
  queueOf,
  tokenSecret,
} from '../../src/features/secrets/secret.ts'
import { QUEUE_NAMES } from '../../src/kernel/queue/queues.ts'
import { createVault } from '../../src/kernel/vault.ts'

test('a name is one or two parts of small letters, digits, _ and -, up to 128 characters', () => {
  const good = ['a', '0', '_', '-', 'smtp-password', 'a/b', 'provider_token/x', 'a'.repeat(128)]
  good.push(`${'a'.repeat(64)}/${'b'.repeat(63)}`)
  for (const name of good) assert.equal(isSecretName(name), true, name)
  const bad = ['', '/', 'a/', '/a', 'a//b', 'a/b/c', 'A', 'a b', 'a.b', 'ä', 'a\n', '\na', 'a/b\n', 'a\0']
  bad.push('a'.repeat(129), `${'a'.repeat(64)}/${'b'.repeat(64)}`, '../a', 'a%2fb')
  for (const name of bad) assert.equal(isSecretName(name), false, JSON.stringify(name))
})

test('each of the six queues has a name for its provider token, and no other name means one', () => {
  assert.equal(tokenSecret('cloud_billing'), 'provider_token/cloud_billing')
  assert.deepEqual(
    QUEUE_NAMES.map(queue => [queueOf(`provider_token/${queue}`), isTokenSecret(`provider_token/${queue}`)]),
    QUEUE_NAMES.map(queue => [queue, true]),
  )
  assert.equal(QUEUE_NAMES.length, 6)
  for (const name of ['cloud_billing', 'provider_token', 'other/cloud_billing', 'my_provider_token/metering'])
    assert.deepEqual([queueOf(name), isTokenSecret(name)], [undefined, false], name)
  assert.deepEqual([queueOf('provider_token/x'), isTokenSecret('provider_token/x')], [undefined, true])
})

test('a complaint says what is wrong with name and value, and never the value', () => {
  const name = {
    pointer: '/name',
    message:
      'must be one or two parts of a-z, 0-9, _ and -, with a / between them, and at most 128 characters',
  }
  const queue = {
    pointer: '/name',
    message:
      'must name a queue after provider_token/: provisioning, cloud_sync_fast, cloud_sync_full, cloud_sync_slow, cloud_billing, metering',
  }
  const token = {
    pointer: '/value',
    message: 'must be printable ASCII without spaces, for a provider token travels in a header',
  }
  assert.deepEqual(problemsOf('smtp', ' any thing\n ü '), [])
  assert.deepEqual(problemsOf('Smtp', 'a b'), [name])
  assert.deepEqual(problemsOf('provider_token/x/y', 'a b'), [name])
  assert.deepEqual(problemsOf('provider_token/metering', '!dop_v1_~'), [])
  assert.deepEqual(problemsOf('provider_token/x', 'fine'), [queue])
  assert.deepEqual(problemsOf('provider_token/x', 'not fine'), [queue, token])
  for (const value of ['', ' a', 'a ', 'a b', 'a\n', 'a\r\nb', 'ä', '\x7f', '\x1f'])
    assert.deepEqual(problemsOf('provider_token/metering', value), [token], JSON.stringify(value))
})

test('a value opens under its own name and key alone; its fingerprint is keyed, short and the same for the same value', () => {
  const [one, other] = [createVault(['k'.repeat(32)]), createVault(['l'.repeat(32)])]
  const value = ' päss\twörd 🔑\n'
  const sealed = one.encrypt('smtp', value)
  assert.equal(one.decrypt('smtp', sealed), value)
  assert.notEqual(one.encrypt('smtp', value), sealed, 'never twice the same')
  assert.ok(!Buffer.from(sealed.slice(3), 'base64url').includes('wörd'))
  assert.deepEqual(
    [
      one.decrypt('smtp2', sealed),
      other.decrypt('smtp', sealed),
      one.decrypt('smtp', `${sealed.slice(0, -2)}AA`),
    ],
    [null, null, null],
  )
  assert.equal(one.decrypt('smtp', 'not sealed'), null)

  assert.match(one.fingerprint(value), /^[0-9a-f]{16}$/)
  assert.equal(one.fingerprint(value), createVault(['k'.repeat(32)]).fingerprint(value))
  assert.notEqual(one.fingerprint(value), other.fingerprint(value))
  assert.notEqual(one.fingerprint(value), one.fingerprint(value.trim()))
  // Written down: a fingerprint that changed with a version of the service would look like a new value.
  assert.equal(one.fingerprint('swordfish'), 'e890cafc9242d8f5')
})
