// The issuer's keys: which of a document are used, and how far a request for them goes.
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { fetchKeySet, readKeySet } from '../../src/integrations/issuer/key-set.ts'

const bits = (count: number) => {
  const bytes = Buffer.alloc(Math.ceil(count / 8), 0xff)
  if (count % 8) bytes[0] = 0xff >> (8 - (count % 8))
  return bytes.toString('base64url')
}
const rsa = { kty: 'RSA', kid: 'rsa', e: 'AQAB', n: bits(2048) }
const ec = { kty: 'EC', kid: 'ec', crv: 'P-256', x: 'x', y: 'y', alg: 'ES256', use: 'sig' }
const ed = { kty: 'OKP', kid: 'ed', crv: 'Ed25519', x: 'x', key_ops: ['verify'] }

test('public keys of the three algorithms are used, as they are, and others left out with a reason', () => {
  assert.deepEqual(readKeySet(JSON.stringify({ keys: [rsa, ec, ed] })), { keys: [rsa, ec, ed], leftOut: [] })
  const odd: [unknown, string][] = [
    [{ ...rsa, n: bits(2047) }, 'rsa: it has less than 2048 bits'],
    [
      {
        ...rsa,
        n: Buffer.concat([Buffer.alloc(64), Buffer.from(bits(2047), 'base64url')]).toString('base64url'),
      },
      'rsa: it has less than 2048 bits',
    ],
    [{ ...rsa, n: undefined }, 'rsa: it has less than 2048 bits'],
    [{ ...rsa, n: 7 }, 'rsa: it has less than 2048 bits'],
    [{ ...rsa, n: '' }, 'rsa: it has less than 2048 bits'],
    [{ ...rsa, d: 'AQAB' }, 'rsa: it is not public'],
    [{ ...ec, d: 'AQAB' }, 'ec: it is not public'],
    [{ ...rsa, alg: 'PS256' }, 'rsa: it is for another algorithm than RS256'],
    [{ ...rsa, alg: 'HS256' }, 'rsa: it is for another algorithm than RS256'],
    [{ ...ed, alg: 'Ed25519' }, 'ed: it is for another algorithm than EdDSA'],
    [{ ...rsa, use: 'enc' }, 'rsa: it is not for signatures'],
    [{ ...ed, key_ops: ['sign'] }, 'ed: it is not for verifying'],
    [{ ...ed, key_ops: 'verify' }, 'ed: it is not for verifying'],
    [{ ...ec, crv: 'P-384' }, 'ec: it is of no kind that RS256, ES256 or EdDSA use'],
    [{ ...ed, crv: 'X25519' }, 'ed: it is of no kind that RS256, ES256 or EdDSA use'],
    [{ kty: 'oct', kid: 'mac', k: 'c2VjcmV0' }, 'mac: it is not public'],
    [{ kty: 'oct', kid: 'mac' }, 'mac: it is of no kind that RS256, ES256 or EdDSA use'],
    [{ ...rsa, kid: 'two words', use: 'enc' }, 'key 2: it is not for signatures'],
    [null, 'key 2: it is no key'],
    [[rsa], 'key 2: it is no key'],
    ['rsa', 'key 2: it is no key'],
  ]
  for (const [key, reason] of odd)
    assert.deepEqual(
      readKeySet(JSON.stringify({ keys: [ec, key] })),
      { keys: [ec], leftOut: [reason] },
      reason,
    )
  for (const text of ['', 'null', '[]', '{}', '{"keys":{}}', '<html>', '{"keys":null}', '7'])
    assert.equal(readKeySet(text), undefined, text)
})

async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://localhost:${(server.address() as AddressInfo).port}/keys`
}

function source(t: TestContext, options: Parameters<typeof fetchKeySet>[0]) {
  const made = fetchKeySet(options)
  t.after(() => made.close())
  return made
}

test('an answer that is late, large, a redirect, an error or no key set is none, and says why', async t => {
  const refused = async (listener: RequestListener, reason: RegExp, timeoutMs?: number) => {
    const url = await listen(t, listener)
    await assert.rejects(source(t, { url, timeoutMs }).fetch(), ({ message }: Error) => reason.test(message))
  }
  await refused(() => {}, /^no answer within 100 ms$/, 100)
  await refused((_request, reply) => void reply.write('{'), /^no answer within 100 ms$/, 100)
  const cases: [RequestListener, RegExp][] = [
    [(_request, reply) => reply.end(`{"keys":[],"x":"${'x'.repeat(256 * 1024)}"}`), /larger than 256 KiB/],
    [
      (_request, reply) => reply.writeHead(301, { location: '/elsewhere' }).end('{"keys":[]}'),
      /the answer is 301/,
    ],
    [(_request, reply) => reply.writeHead(404).end('{"keys":[]}'), /the answer is 404/],
    [(_request, reply) => reply.writeHead(204).end(), /the answer is 204/],
    [(_request, reply) => reply.end('<html>'), /no JSON Web Key Set/],
    [request => request.socket.destroy(), /^no answer \(\w+\)$/],
  ]
  for (const [listener, reason] of cases) await refused(listener, reason)
})

test('the keys come from the address as it is written, and a name that leads to a link-local one is not called', async t => {
  const asked: string[] = []
  const url = await listen(t, ({ url: path = '' }, reply) => {
    asked.push(path)
    reply.end(JSON.stringify({ keys: [ec] }))
  })
  const { keys } = await source(t, { url: `${url}/?tenant=a` }).fetch()
  assert.deepEqual([keys, asked], [[ec], ['/keys/?tenant=a']])
  const metadata = source(t, {
    url: url.replace('localhost', 'issuer.example.com'),
    resolve: (_name, _options, done) => done(null, [{ address: '169.254.169.254', family: 4 }]),
  })
  await assert.rejects(metadata.fetch(), /link-local/)
})
