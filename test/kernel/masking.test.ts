import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientRequestId, maskedPath, withoutCredentials } from '../../src/kernel/log.ts'

const id = '0198a2b4-5c6d-7e8f-9a0b-1c2d3e4f5a6b'

test('of a path ids, short words and what the route itself says are shown, and nothing else', () => {
  const rows: [string, string | undefined, string][] = [
    [`/api/v1/deployments/${id}`, '/api/v1/deployments/:id', `/api/v1/deployments/${id}`],
    [
      '/api/v1/catalog/plans/starter/versions',
      '/api/v1/catalog/plans/:code/versions',
      '/api/v1/catalog/plans/starter/versions',
    ],
    [
      '/api/v1/users/alice%40example.com/api_keys',
      '/api/v1/users/:user_id/api_keys',
      '/api/v1/users/[masked]/api_keys',
    ],
    ['/api/v1/nowhere?token=abc', undefined, '/api/v1/nowhere'],
    ['/api/v1/nowhere#abc', undefined, '/api/v1/nowhere'],
    [`/${'a'.repeat(24)}/${'a'.repeat(25)}`, undefined, `/${'a'.repeat(24)}/[masked]`],
    ['/abcdefg12345678/abcdefgh12345678', undefined, '/abcdefg12345678/[masked]'],
    ['/1234567890123456/', undefined, '/1234567890123456/'],
    ['/cops_ABCDEFGH', undefined, '/[masked]'],
    ['/%63ops_ABCDEFGH', undefined, '/[masked]'],
    ['/%2563ops_ABCDEFGH', undefined, '/[masked]'],
    ['/%zz', undefined, '/[masked]'],
    ['/:id', '/:id', '/[masked]'],
    ['/a'.repeat(200), undefined, '/a'.repeat(31)],
  ]
  for (const [url, pattern, shown] of rows) assert.equal(maskedPath(url, pattern), shown, url)
})

test('credentials are known by their form wherever they stand in a text', () => {
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'
  for (const secret of [
    jwt,
    'eyJzdWIiOiJhZGEifQ',
    'cops_ABCDEFGH_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg_3pnr24',
    'inv_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'dop_v1_0a0a0a0a0a0a0a0a',
    'AKIAIOSFODNN7EXAMPLE',
  ])
    assert.equal(withoutCredentials(`it says "${secret}" there`), 'it says "[masked]" there', secret)
  assert.equal(withoutCredentials('postgres://ada:horse@db/x'), 'postgres://ada:[masked]@db/x')
  for (const harmless of ['a request by ada', id, 'inv_short', 'skipped', 'https://example.com:8080/a@b', ''])
    assert.equal(withoutCredentials(harmless), harmless)
})

test('a caller’s own request id is kept as it is, unless it is no plain text or too long', () => {
  for (const kept of [
    'r',
    'request-4711',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    'x'.repeat(128),
  ])
    assert.equal(clientRequestId(kept), kept)
  for (const other of [undefined, '', 'x'.repeat(129), 'é', ['a', 'b']])
    assert.equal(clientRequestId(other), null)
  assert.equal(clientRequestId('cops_ABCDEFGH_0123456789'), '[masked]')
})
