// The rules of the places where files are kept: the signature, the addresses, the refusals, the comparison on the way.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { StorageError, verified } from '../../src/integrations/storage/index.ts'
import {
  endpointProblem,
  isRetryable,
  objectUrl,
  readS3Error,
  signedHeaders,
} from '../../src/integrations/storage/s3-store.ts'
import { failureCode } from '../../src/kernel/errors.ts'
import { fitForDisplay } from '../../src/kernel/http-client.ts'

const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex')

test('requests are signed as the examples of the S3 documentation are', async () => {
  // The example credentials that AWS publishes with them.
  const keys = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  }
  const at = new Date('2013-05-24T00:00:00Z')
  const host = 'https://examplebucket.s3.amazonaws.com'
  const get = await signedHeaders(
    {
      method: 'GET',
      url: new URL(`${host}/test.txt`),
      headers: { range: 'bytes=0-9' },
      payload: sha256(''),
      at,
    },
    keys,
  )
  const scope = 'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request'
  assert.deepEqual(get, {
    range: 'bytes=0-9',
    'x-amz-content-sha256': sha256(''),
    'x-amz-date': '20130524T000000Z',
    authorization: `${scope}, SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41`,
  })
  const put = await signedHeaders(
    {
      method: 'PUT',
      url: new URL(`${host}/test%24file.text`),
      headers: { date: ' Fri, 24 May 2013 00:00:00 GMT ', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      payload: sha256('Welcome to Amazon S3.'),
      at,
    },
    keys,
  )
  assert.equal(
    put.authorization,
    `${scope}, SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd`,
  )
})

test('an endpoint is https, or http to this machine outside production, and nothing but an address', () => {
  const problem = (endpoint: string, more = {}) =>
    endpointProblem(endpoint, { pathStyle: true, production: false, ...more })
  for (const good of ['https://s3.example.com', 'https://10.0.0.7:9000/s3', 'https://[fd00::1]']) {
    assert.equal(problem(good), undefined, good)
    assert.equal(problem(good, { production: true }), undefined, good)
  }
  for (const near of [
    'http://localhost:9000',
    'http://127.0.0.1',
    'http://127.1.2.3:1',
    'http://[::1]:9000',
  ]) {
    assert.equal(problem(near), undefined, near)
    assert.equal(problem(near, { production: true }), 'must be an https:// address in production', near)
  }
  for (const far of [
    'http://s3.example.com',
    'http://localhost.example.com',
    'http://notlocalhost',
    'http://169.254.169.254',
    'http://127.0.0.1.example.com',
  ])
    assert.equal(problem(far), 'must be an https:// address, unless it is on this machine', far)
  for (const odd of ['', 's3.example.com', 'ftp://s3.example.com', 'file:///etc/passwd', 'xhttps://a'])
    assert.equal(problem(odd), 'must be an https:// address', odd)
  for (const user of ['https://u@a.example', 'https://:p@a.example'])
    assert.equal(problem(user), 'must not hold a user name or password', user)
  for (const more of ['https://a.example/?x', 'https://a.example/#x'])
    assert.equal(problem(more), 'must not have a query or a fragment', more)
  for (const local of [
    'https://169.254.169.254',
    'https://169.254.0.1:9000/s3',
    'https://2852039166',
    'https://0xa9fea9fe',
    'https://0251.0376.0251.0376',
    'https://0xa9.0376.43518',
    'https://[fe80::1]',
    'https://[febf::1]:9000',
    'https://[::ffff:169.254.169.254]',
    'https://[::ffff:a9fe:a9fe]',
    'https://[::a9fe:a9fe]',
    'https://[64:ff9b::a9fe:a9fe]',
    'https://[2002:a9fe:a9fe::1]',
    'https://[fd00:ec2::254]',
    'https://168.63.129.16',
    'https://100.100.100.200',
  ])
    for (const production of [false, true])
      assert.equal(problem(local, { production }), 'must not point to a link-local address', local)
  for (const neighbour of [
    'https://169.253.255.255',
    'https://169.255.0.0',
    'https://[fec0::1]',
    'https://[fe00::1]',
  ])
    assert.equal(problem(neighbour), undefined, neighbour)
  const inHost = { pathStyle: false }
  assert.equal(problem('https://s3.example.com', inHost), undefined)
  for (const ip of ['https://10.0.0.7', 'https://[fd00::1]'])
    assert.match(problem(ip, inHost) ?? '', /^is an IP address, .* it needs path_style$/, ip)
})

test('an object is addressed in the path or in the host’s name, below the endpoint’s path and the prefix', () => {
  const at = (more: object) =>
    objectUrl(
      { endpoint: 'https://s3.example.com', bucket: 'b', prefix: null, pathStyle: true, ...more },
      'k/l',
    ).href
  assert.equal(at({}), 'https://s3.example.com/b/k/l')
  assert.equal(at({ prefix: 'p/q' }), 'https://s3.example.com/b/p/q/k/l')
  assert.equal(at({ pathStyle: false, prefix: 'p' }), 'https://b.s3.example.com/p/k/l')
  assert.equal(at({ endpoint: 'https://h:9/store/v1//' }), 'https://h:9/store/v1/b/k/l')
  assert.equal(at({ endpoint: 'https://h:9/', pathStyle: false }), 'https://b.h:9/k/l')
})

test('a refusal says what to mend, and whether another try may help', () => {
  const xml = (code: string, message = '') =>
    `<Error><Code>${code}</Code><Message>${message}</Message></Error>`
  const words = (status: number, text: string) => readS3Error(status, text)?.words
  for (const [code, says] of [
    ['AccessDenied', 'the access key may not do this there'],
    ['AuthorizationHeaderMalformed', 'the region is not the bucket’s'],
    ['InvalidAccessKeyId', 'the access key id is not known there'],
    ['NoSuchBucket', 'there is no such bucket'],
    ['PermanentRedirect', 'the bucket is at another endpoint'],
    [
      'RequestTimeTooSkewed',
      'the database’s clock, which this service goes by, and the storage service’s differ too much',
    ],
    ['SignatureDoesNotMatch', 'the secret access key is not the one of this access key id'],
    ['TemporaryRedirect', 'the bucket is at another endpoint'],
  ] as const)
    assert.equal(words(403, xml(code, 'x')), `${says} (${code})`)
  assert.equal(words(400, xml('Odd', 'so so')), 'the service answered 400 Odd: so so')
  assert.equal(words(400, xml('Odd')), 'the service answered 400 Odd')
  assert.equal(words(400, xml('c'.repeat(1_000))), `the service answered 400 ${'c'.repeat(1_000)}`)
  for (const other of [xml('c'.repeat(1_001)), '<html>', '', '{"Code":"NoSuchKey"}'])
    for (const status of [301, 401, 404, 502])
      assert.equal(readS3Error(status, other), undefined, 'no such service speaks like that')
  assert.deepEqual(
    ['NoSuchKey', 'Odd', 'NoSuchBucket'].map(code => readS3Error(404, xml(code))?.missing),
    [true, true, false],
  )
  assert.equal(readS3Error(403, xml('NoSuchKey'))?.missing, false)
  assert.deepEqual(
    [200, 400, 403, 404, 407, 408, 409, 428, 429, 430, 499, 500, 503].filter(isRetryable),
    [408, 429, 500, 503],
  )
  assert.equal(fitForDisplay(' a\r\nb top c ', 'top', '[secret]'), 'a b [secret] c')
  assert.equal(fitForDisplay('x'.repeat(300), 'y'), 'x'.repeat(300))
  assert.equal(fitForDisplay('x'.repeat(301), 'y'), `${'x'.repeat(300)}…`)
})

test('of bytes that are not what they should be, the last are never handed on', async () => {
  const expected = { bytes: 6, sha256: sha256('abcdef') }
  const read = async (...pieces: string[]) => {
    let got = ''
    const work = (async () => {
      for await (const piece of verified(Readable.from(pieces.map(piece => Buffer.from(piece))), expected))
        got += Buffer.from(piece).toString()
    })()
    const error = await work.catch((error: unknown) => error)
    return [got, error === undefined ? undefined : [(error as StorageError).fault, (error as Error).message]]
  }
  const says = (how: string) => ['changed', `the file is not the one that was kept: ${how}`]
  assert.deepEqual(await read('abc', 'def'), ['abcdef', undefined])
  assert.deepEqual(await read('abcdef'), ['abcdef', undefined])
  assert.deepEqual(await read('abc', 'deX'), ['abc', says('its SHA-256 is another one')])
  assert.deepEqual(await read('abc', 'de'), ['abc', says('it ends after 5 of 6 bytes')])
  assert.deepEqual(await read('abc', 'defg'), ['', says('it is longer than 6 bytes')])
  const broken = Readable.from(
    (async function* () {
      yield Buffer.from('abc')
      throw Object.assign(new Error('/a/path'), { code: 'EIO' })
    })(),
  )
  await assert.rejects(
    buffer(Readable.from(verified(broken, expected))),
    /^StorageError: the file breaks off \(EIO\)$/,
  )
  assert.equal(new StorageError('x').fault, 'failed')
  const nothing = { bytes: 0, sha256: sha256('') }
  assert.equal((await buffer(Readable.from(verified(Readable.from([]), nothing)))).length, 0)
})

test('a failure is called by its code, wherever in the chain of causes it is, and else by its name', () => {
  const coded = Object.assign(new Error('x'), { code: 'EPIPE' })
  assert.equal(failureCode(coded), 'EPIPE')
  assert.equal(failureCode(new Error('x', { cause: new Error('y', { cause: coded }) })), 'EPIPE')
  let deep: Error = coded
  for (let n = 0; n < 4; n++) deep = new TypeError('x', { cause: deep })
  assert.equal(failureCode(deep), 'EPIPE')
  assert.equal(failureCode(new TypeError('x', { cause: deep })), 'TypeError')
  assert.equal(failureCode(new DOMException('x', 'TimeoutError')), 'TimeoutError')
  assert.equal(failureCode('x'), 'unknown')
})
