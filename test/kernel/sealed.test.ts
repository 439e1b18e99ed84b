import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sealFor } from '../../src/kernel/sealed.ts'

const { seal, open } = sealFor('a test', ['a-secret-key-of-some-length-0123456789'])

test('what was sealed opens again in its own place, whatever characters it holds', () => {
  for (const plain of ['', 'x', '{"naïve":"💶"}', 'y'.repeat(100_000)]) {
    assert.equal(open(seal(plain, 'row 1'), 'row 1'), plain)
  }
})

test('the same text never looks the same twice, and nothing of it shows', () => {
  const [one, two] = [seal('cops_secret', 'row 1'), seal('cops_secret', 'row 1')]
  assert.notEqual(one, two)
  assert.ok(!Buffer.from(one.slice(3), 'base64url').includes('cops'))
})

test('a sealed value that was moved, changed, cut or sealed elsewhere does not open', () => {
  const sealed = seal('text', 'row 1')
  assert.throws(() => open(sealed, 'row 2'))
  assert.throws(() =>
    sealFor('another purpose', ['a-secret-key-of-some-length-0123456789']).open(sealed, 'row 1'),
  )
  assert.throws(() => sealFor('a test', ['another-secret-key-0123456789-abcdefgh']).open(sealed, 'row 1'))
  for (let at = 0; at < sealed.length; at += 7) {
    const other = sealed[at] === 'A' ? 'B' : 'A'
    assert.throws(() => open(sealed.slice(0, at) + other + sealed.slice(at + 1), 'row 1'), `character ${at}`)
  }
  for (const cut of ['', 'v1.', sealed.slice(0, 20), sealed.slice(0, -4)])
    assert.throws(() => open(cut, 'row 1'))
})

test('while a key is rotated the first encrypts, every listed one decrypts, and what is renewed needs the first alone', () => {
  const [older, newer] = ['an-older-key-0123456789-abcdefghijkl', 'a-newer-key-9876543210-mnopqrstuvwx']
  const [before, during, after] = [[older], [newer, older], [newer]].map(keys => sealFor('a test', keys))
  const sealed = before!.seal('text', 'row 1')
  assert.equal(during!.open(sealed, 'row 1'), 'text')
  assert.throws(() => after!.open(sealed, 'row 1'))
  assert.throws(() => during!.open(sealed, 'row 2'))
  assert.throws(() => during!.renew(sealed, 'row 2'))
  assert.equal(after!.open(during!.seal('new text', 'row 1'), 'row 1'), 'new text')

  const renewed = during!.renew(sealed, 'row 1')!
  assert.equal(after!.open(renewed, 'row 1'), 'text')
  assert.equal(during!.renew(renewed, 'row 1'), null, 'already under the first key')
  assert.throws(() => after!.renew(sealed, 'row 1'))
})
