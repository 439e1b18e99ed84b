// Places where files are kept, both kinds, as they are used. Their rules are in storage-rules.test.ts.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { createSandboxStorage } from '../../sandbox/storage/server.ts'
import {
  createStorage,
  StorageError,
  type StorageLocation,
  type StorageOptions,
} from '../../src/integrations/storage/index.ts'
import { lasting } from '../support/lasting.ts'

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
  const { after: undo } = lasting(t)
  const sandbox = createSandboxStorage({ ...KEYS, bucket: 'invoices', clock })
  const { url: endpoint } = await sandbox.listen()
  undo(() => sandbox.close())
  const limits = { attempts: 3, backoffMs: 1, silenceMs: 2_000 }
  const storage = createStorage({ dataDir: '/nowhere', production: false, clock, limits })
  undo(() => storage.close())
  const place: StorageLocation = {
    kind: 's3',
    endpoint,
    bucket: 'invoices',
    prefix: 'raw',
    pathStyle: true,
    ...KEYS,
  }
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
  await fails(late.open(place).get('k'), 'the database’s clock')
  sandbox.faults.add({ fault: 'stall', method: 'PUT' })
  const hasty = other({ limits: { attempts: 1, requestMs: 40 } })
  const unreachable = (work: Promise<unknown>, reason: RegExp) =>
    assert.rejects(work, (error: unknown) => {
      assert.ok(error instanceof StorageError, String(error))
      assert.match(error.reason ?? '', reason)
      assert.equal(error.message, 'no S3-compatible service answers at its endpoint')
      return error.fault === 'unreachable'
    })
  await unreachable(hasty.open(place).put('k', fileOf('x')), /^no answer within 40 ms$/)

  const stop = new AbortController()
  sandbox.faults.add({ fault: 'stall', method: 'GET' })
  const waiting = store.get('a/b.csv', { signal: stop.signal })
  stop.abort(new Error('told to stop'))
  await assert.rejects(waiting, /told to stop/)
  await sandbox.close()
  await unreachable(store.get('a/b.csv'), /^ECONNREFUSED$/)
  const production = other({ production: true })
  assert.throws(() => production.open(place), /its endpoint must be an https:\/\/ address in production/)
  assert.equal(production.endpointProblem('https://a.example', true), undefined)
})

test('a name that resolves to a link-local address is not connected to, even if it did not a moment ago', async t => {
  const { after: undo } = lasting(t)
  const sandbox = createSandboxStorage({ ...KEYS, bucket: 'invoices', clock })
  const { port } = new URL((await sandbox.listen()).url)
  undo(() => sandbox.close())
  let address = '127.0.0.1'
  const storage = createStorage({
    dataDir: '/nowhere',
    production: false,
    clock,
    limits: { attempts: 2, backoffMs: 1 },
    resolve: (_name, _options, done) => done(null, [{ address, family: address.includes(':') ? 6 : 4 }]),
  })
  undo(() => storage.close())
  const place = { kind: 's3', bucket: 'invoices', prefix: null, pathStyle: true, ...KEYS } as const
  const store = storage.open({ ...place, endpoint: `http://localhost:${port}` })
  await store.put('k', fileOf('x'))
  // A kept connection leads to an address that was looked at; a new one is looked at again.
  await sandbox.close()
  for (address of ['169.254.169.254', 'fe80::1%eth0', '::ffff:169.254.169.254', 'fd00:ec2::254'])
    await assert.rejects(
      store.put('k', fileOf('x')),
      /^StorageError: its endpoint must not point to a link-local address$/,
    )
})
