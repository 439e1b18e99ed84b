import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encryptionFor } from '../../src/kernel/crypto.ts'

const { encrypt, decrypt } = encryptionFor('a test', ['a-secret-key-of-some-length-0123456789'])

test('what was sealed opens again in its own place, whatever characters it holds', () => {
  for (const plain of ['', 'x', '{"naïve":"💶"}', 'y'.repeat(100_000)]) {
    assert.equal(decrypt(encrypt(plain, 'row 1'), 'row 1'), plain)
  }
})

test('the same text never looks the same twice, and nothing of it shows', () => {
  const [one, two] = [encrypt('cops_secret', 'row 1'), encrypt('cops_secret', 'row 1')]
  assert.notEqual(one, two)
  assert.ok(!Buffer.from(one.slice(3), 'base64url').includes('cops'))
})

test('a sealed value that was moved, changed, cut or sealed elsewhere does not open', () => {
  const sealed = encrypt('text', 'row 1')
  assert.throws(() => decrypt(sealed, 'row 2'))
  assert.throws(() =>
    encryptionFor('another purpose', ['a-secret-key-of-some-length-0123456789']).decrypt(sealed, 'row 1'),
  )
  assert.throws(() =>
    encryptionFor('a test', ['another-secret-key-0123456789-abcdefgh']).decrypt(sealed, 'row 1'),
  )
  for (let at = 0; at < sealed.length; at += 7) {
    const other = sealed[at] === 'A' ? 'B' : 'A'
    assert.throws(
      () => decrypt(sealed.slice(0, at) + other + sealed.slice(at + 1), 'row 1'),
      `character ${at}`,
    )
  }
  for (const cut of ['', 'v1.', sealed.slice(0, 20), sealed.slice(0, -4)])
    assert.throws(() => decrypt(cut, 'row 1'))
})

test('while a key is rotated the first encrypts, every listed one decrypts, and what is renewed needs the first alone', () => {
  const [older, newer] = ['an-older-key-0123456789-abcdefghijkl', 'a-newer-key-9876543210-mnopqrstuvwx']
  const [before, during, after] = [[older], [newer, older], [newer]].map(keys =>
    encryptionFor('a test', keys),
  )
  const sealed = before!.encrypt('text', 'row 1')
  assert.equal(during!.decrypt(sealed, 'row 1'), 'text')
  assert.throws(() => after!.decrypt(sealed, 'row 1'))
  assert.throws(() => during!.decrypt(sealed, 'row 2'))
  assert.throws(() => during!.reencrypt(sealed, 'row 2'))
  assert.equal(after!.decrypt(during!.encrypt('new text', 'row 1'), 'row 1'), 'new text')

  const renewed = during!.reencrypt(sealed, 'row 1')!
  assert.equal(after!.decrypt(renewed, 'row 1'), 'text')
  assert.equal(during!.reencrypt(renewed, 'row 1'), null, 'already under the first key')
  assert.throws(() => after!.reencrypt(sealed, 'row 1'))
})
