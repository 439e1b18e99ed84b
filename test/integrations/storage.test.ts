// Places where files are kept: the signature, the addresses, the refusals, and both kinds of place as they are used.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { createSandboxStorage } from '../../sandbox/storage/server.ts'
import { mayPass, readComplaint } from '../../src/integrations/storage/complaint.ts'
import { endpointProblem, objectUrl } from '../../src/integrations/storage/endpoint.ts'
import { fitForDisplay } from '../../src/integrations/storage/errors.ts'
import {
  createStorage,
  type Place,
  StorageError,
  type StorageOptions,
  verified,
} from '../../src/integrations/storage/index.ts'
import { signedHeaders } from '../../src/integrations/storage/signature.ts'
import { undoStack } from '../support/setup.ts'

const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex')
const clock = { now: () => new Date('2026-11-15T12:00:00Z') }
const KEYS = { accessKeyId: 'AKIDTEST', secretAccessKey: 'a-secret-access-key', region: 'nyc3' }

const fileOf = (content: string | Buffer) => {
  const bytes = Buffer.from(content as string)
  // In pieces, as from a disk.
  const open = () =>
    Readable.from([bytes.subarray(0, 3), bytes.subarray(3)].filter(piece => piece.length > 0))
  return { bytes: bytes.length, sha256: sha256(bytes), open }
}

test('requests are signed as the examples of the S3 documentation are', () => {
  // The example credentials that AWS publishes with them.
  const keys = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  }
  const at = new Date('2013-05-24T00:00:00Z')
  const host = 'https://examplebucket.s3.amazonaws.com'
  const get = signedHeaders(
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
    authorization: `${scope},SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41`,
  })
  const put = signedHeaders(
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
    `${scope},SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd`,
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
  const words = (status: number, text: string) => readComplaint(status, text).words
  for (const [code, says] of [
    ['AccessDenied', 'the access key may not do this there'],
    ['AuthorizationHeaderMalformed', 'the region is not the bucket’s'],
    ['InvalidAccessKeyId', 'the access key id is not known there'],
    ['NoSuchBucket', 'there is no such bucket'],
    ['PermanentRedirect', 'the bucket is at another endpoint'],
    ['RequestTimeTooSkewed', 'this machine’s clock and the service’s differ too much'],
    ['SignatureDoesNotMatch', 'the secret access key is not the one of this access key id'],
    ['TemporaryRedirect', 'the bucket is at another endpoint'],
  ] as const)
    assert.equal(words(403, xml(code, 'x')), `${says} (${code})`)
  assert.equal(words(400, xml('Odd', 'so so')), 'the service answered 400 Odd: so so')
  assert.equal(words(400, xml('Odd')), 'the service answered 400 Odd')
  assert.equal(words(502, '<html>'), 'the service answered 502')
  for (const status of [300, 301, 399])
    assert.equal(words(status, ''), `the service answered ${status}: the bucket is at another endpoint`)
  for (const status of [401, 403])
    assert.equal(words(status, ''), `the service answered ${status}: the access key may not do this there`)
  for (const status of [299, 400, 402]) assert.equal(words(status, ''), `the service answered ${status}`)
  assert.deepEqual(
    [xml('NoSuchKey'), '', xml('NoSuchBucket')].map(text => readComplaint(404, text).missing),
    [true, true, false],
  )
  assert.equal(readComplaint(403, xml('NoSuchKey')).missing, false)
  assert.deepEqual(
    [200, 400, 403, 404, 407, 408, 409, 428, 429, 430, 499, 500, 503].filter(mayPass),
    [408, 429, 500, 503],
  )
  assert.equal(fitForDisplay(' a\r\nb top c ', 'top'), 'a b [secret] c')
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
  const nothing = { bytes: 0, sha256: sha256('') }
  assert.equal((await buffer(Readable.from(verified(Readable.from([]), nothing)))).length, 0)
})

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'cloudops-storage-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('a local file is whole or not there, readable by its owner alone, and never outside its folder', async t => {
  const dataDir = folderOf(t)
  const storage = createStorage({ dataDir, production: true, clock })
  const store = storage.open({ kind: 'local', folder: 'raw/a' })
  const fails = (work: Promise<unknown>, fault: string, says: RegExp) =>
    assert.rejects(work, (error: StorageError) => error.fault === fault && says.test(error.message))

  await store.put('x/y.csv', fileOf('hello'))
  await store.put('x/y.csv', fileOf('hello again'))
  const path = join(dataDir, 'storage/raw/a/x/y.csv')
  assert.equal(readFileSync(path, 'utf8'), 'hello again')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(statSync(join(dataDir, 'storage')).mode & 0o777, 0o700)
  assert.equal(String(await buffer(await store.get('x/y.csv'))), 'hello again')

  const wrong = { ...fileOf('hello'), sha256: sha256('other') }
  await fails(store.put('x/y.csv', wrong), 'changed', /SHA-256/)
  const stopped = AbortSignal.abort(new Error('stop'))
  await assert.rejects(store.put('x/y.csv', fileOf('z'), { signal: stopped }))
  assert.deepEqual(readdirSync(join(dataDir, 'storage/raw/a/x')), ['y.csv'], 'nothing is left beside it')
  assert.equal(readFileSync(path, 'utf8'), 'hello again')

  for (const key of ['../b', '/etc/x', '..', '.', ''])
    await fails(store.put(key, fileOf('x')), 'failed', /leads out of the backend’s folder/)
  await fails(store.get('x/none.csv'), 'missing', /^the file is not there$/)
  await store.remove('x/y.csv')
  await store.remove('x/y.csv')
  await fails(store.get('x/y.csv'), 'missing', /not there/)
  writeFileSync(join(dataDir, 'storage/raw/a/file'), '')
  await fails(store.put('file/y.csv', fileOf('x')), 'failed', /a file is where the folder should be \(E/)
  await storage.close()
})

test('an S3-compatible service that checks signature and hash takes, gives and removes files; what may pass is tried again', async t => {
  const undo = undoStack(t)
  const sandbox = createSandboxStorage({ ...KEYS, bucket: 'invoices', clock })
  const { url: endpoint } = await sandbox.listen()
  undo(() => sandbox.close())
  const limits = { attempts: 3, backoffMs: 1, silenceMs: 2_000 }
  const storage = createStorage({ dataDir: '/nowhere', production: false, clock, limits })
  undo(() => storage.close())
  const place: Place = { kind: 's3', endpoint, bucket: 'invoices', prefix: 'raw', pathStyle: true, ...KEYS }
  const store = storage.open(place)
  const fails = (work: Promise<unknown>, says: string | RegExp, fault = 'failed') =>
    assert.rejects(work, (error: unknown) => {
      assert.ok(error instanceof StorageError, String(error))
      assert.match(error.message, typeof says === 'string' ? new RegExp(`^${says}`) : says)
      return error.fault === fault
    })
  const asked = () => sandbox.requests.splice(0).map(({ method, status }) => `${method} ${status}`)

  const large = Buffer.alloc(300_000, 'line\n')
  for (const content of ['hello', '', large]) {
    await store.put('a/b.csv', fileOf(content as string))
    assert.equal(sandbox.objects.get('raw/a/b.csv')!.compare(Buffer.from(content as string)), 0)
  }
  assert.equal((await buffer(await store.get('a/b.csv'))).compare(large), 0)
  await fails(store.get('a/none.csv'), 'the file is not there', 'missing')
  await store.remove('a/b.csv')
  await store.remove('a/b.csv')
  assert.equal(sandbox.objects.size, 0)

  // Tried again, from the start of the file, and only so often.
  asked()
  sandbox.faults.add({ fault: 'server_error', status: 503, times: 2 })
  await store.put('a/b.csv', fileOf('hello'))
  assert.deepEqual(asked(), ['PUT 503', 'PUT 503', 'PUT 200'])
  assert.equal(String(sandbox.objects.get('raw/a/b.csv')), 'hello')
  sandbox.faults.add({ fault: 'server_error', times: 3 })
  await fails(store.get('a/b.csv'), 'the service answered 500 InternalError: simulated$')
  assert.deepEqual(asked(), ['GET 500', 'GET 500', 'GET 500'])
  sandbox.faults.add({ fault: 'redirect' })
  await fails(store.get('a/b.csv'), 'the bucket is at another endpoint')
  sandbox.faults.add({ fault: 'cut', method: 'GET' })
  await assert.rejects(buffer(await store.get('a/b.csv')))
  asked()

  // What will not pass is not.
  await fails(
    store.put('a/b.csv', { ...fileOf('hello'), sha256: sha256('other') }),
    /XAmzContentSHA256Mismatch/,
  )
  await fails(storage.open({ ...place, bucket: 'other' }).put('k', fileOf('x')), 'there is no such bucket')
  await fails(storage.open({ ...place, region: 'ams3' }).get('k'), 'the region is not')
  await fails(storage.open({ ...place, accessKeyId: 'other' }).get('k'), 'the access key id')
  await fails(storage.open({ ...place, secretAccessKey: 'other' }).get('k'), 'the secret access key')
  assert.deepEqual(asked(), ['PUT 400', 'PUT 404', 'GET 400', 'GET 403', 'GET 403'])
  const other = (more: Partial<StorageOptions>) => {
    const made = createStorage({ dataDir: '/nowhere', production: false, clock, limits, ...more })
    undo(() => made.close())
    return made
  }
  const late = other({ clock: { now: () => new Date('2026-11-15T12:16:00Z') } })
  await fails(late.open(place).get('k'), 'this machine’s clock')
  sandbox.faults.add({ fault: 'stall', method: 'PUT' })
  const hasty = other({ limits: { attempts: 1, requestMs: 40 } })
  await fails(
    hasty.open(place).put('k', fileOf('x')),
    /^the service did not answer \(no answer within 40 ms\)$/,
  )

  const stop = new AbortController()
  sandbox.faults.add({ fault: 'stall', method: 'GET' })
  const waiting = store.get('a/b.csv', { signal: stop.signal })
  stop.abort(new Error('told to stop'))
  await assert.rejects(waiting, /told to stop/)
  await sandbox.close()
  await fails(store.get('a/b.csv'), /^the service did not answer \(ECONNREFUSED\)$/)
  const production = other({ production: true })
  assert.throws(() => production.open(place), /its endpoint must be an https:\/\/ address in production/)
  assert.equal(production.endpointProblem('https://a.example', true), undefined)
})
