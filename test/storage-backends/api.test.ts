// /api/v1/admin/storage_backends as a platform_admin meets it.
import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { checkBackend } from '../../src/features/storage-backends/check-backend.ts'
import { encryptionFor } from '../../src/kernel/crypto.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { base, S3_SECRET, setupPlaces } from '../support/storage.ts'

test('a backend is made, shown, changed and forgotten, and its secret key is never seen again', async t => {
  const { call, ctx, s3, clock, logged } = await setupPlaces(t)
  const headers = { 'idempotency-key': 'a-backend' }
  const made = await call('POST', base, { body: s3, headers })
  assert.equal(made.status, 201, made.text)
  const { id } = made.body.data
  assert.equal(made.headers.get('location'), `${base}/${id}`)
  const { secret_access_key: _, ...told } = s3
  const [now, admin] = [clock.now().toISOString(), made.body.data.created_by]
  const shown = { id, ...told, folder: null, path_style: true, active: false, files: 0 }
  const times = { created_at: now, created_by: admin, updated_at: now }
  assert.deepEqual(made.body.data, { ...shown, ...times })
  assert.deepEqual((await call('POST', base, { body: s3, headers })).body, made.body)
  const local = (await call('POST', base, { body: { name: 'disk', kind: 'local', folder: 'raw/a' } })).body
    .data
  assert.deepEqual(
    [local.folder, local.endpoint, local.path_style, local.access_key_id],
    ['raw/a', null, null, null],
  )

  const first = await call('GET', `${base}?limit=1`)
  assert.deepEqual(first.body.data, [local])
  const second = await call('GET', `${base}?limit=1&cursor=${first.body.next_cursor}`)
  assert.deepEqual(second.body, { data: [made.body.data], next_cursor: null })
  assert.deepEqual((await call('GET', `${base}/${id}`)).body.data, made.body.data)

  clock.advance(1_000)
  const change = { name: 'store', endpoint: 'https://b.example', region: 'ams3', path_style: false }
  const keys = { access_key_id: 'AKID2', secret_access_key: `${S3_SECRET}-2` }
  const changed = await call('PATCH', `${base}/${id}`, { body: { ...change, ...keys } })
  const after = {
    ...shown,
    ...change,
    access_key_id: 'AKID2',
    ...times,
    updated_at: clock.now().toISOString(),
  }
  assert.deepEqual([changed.status, changed.body.data], [200, after])
  const { rows } = await sql<{ all: string }>`
    select string_agg(b::text, ' ') || coalesce((select string_agg(k::text, ' ') from idempotency_keys k), '') as all
    from storage_backends b`.execute(ctx.db)
  for (const text of [made.text, changed.text, rows[0]!.all, logged()]) assert.ok(!text.includes(S3_SECRET))
  const { secret_access_key: sealed } = await ctx.db
    .selectFrom('storage_backends')
    .select('secret_access_key')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  assert.equal(ctx.storageEncryption.decrypt(sealed!, id), `${S3_SECRET}-2`)

  for (const path of [`${base}/${id}`, `${base}/${local.id}`]) {
    assert.equal((await call('DELETE', path)).status, 204)
    assert.equal((await call('DELETE', path)).status, 404)
  }
  const gone = `${base}/${id}`
  assert.equal((await call('GET', gone)).status, 404)
  assert.equal((await call('PATCH', gone, { body: { name: 'x' } })).status, 404)
  for (const verb of ['activate', 'deactivate', 'check'])
    assert.equal((await call('POST', `${gone}/${verb}`)).status, 404)
})

test('what would not work, clashes, or leads out of its place is refused, field by field', async t => {
  const { call, s3, have, tokens } = await setupPlaces(t)
  const id = await have(s3, false)
  const disk = await have({ name: 'disk', kind: 'local', folder: 'a' }, false)
  const refused = async (method: string, path: string, body: object) => {
    const answer = await call(method, path, { body })
    assert.equal(answer.status, 422, answer.text)
    return answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)
  }
  const local = { name: 'x', kind: 'local' }
  assert.deepEqual(await refused('POST', base, { ...local, folder: '../../etc' }), ['/folder'])
  assert.deepEqual(await refused('POST', base, { ...local, folder: '/etc', bucket: 'b1b' }), [
    '/folder',
    '/bucket',
  ])
  assert.deepEqual(await refused('POST', base, { ...s3, name: 'x', endpoint: 'http://s3.example.com' }), [
    '/endpoint',
  ])
  for (const endpoint of ['https://169.254.169.254', 'https://0xa9fea9fe/', 'https://[::ffff:a9fe:a9fe]'])
    assert.deepEqual(await refused('POST', base, { ...s3, name: 'x', endpoint }), ['/endpoint'])
  assert.deepEqual(await refused('PATCH', `${base}/${id}`, { endpoint: 'https://[fe80::1]' }), ['/endpoint'])
  assert.deepEqual(await refused('POST', base, { ...s3, name: ' ', kind: 'ftp', host: 'h' }), [
    '/host',
    '/name',
    '/kind',
  ])
  assert.deepEqual(await refused('PATCH', `${base}/${id}`, { bucket: 'other' }), ['/bucket'])
  assert.deepEqual(await refused('PATCH', `${base}/${id}`, { access_key_id: 'AKID2' }), [
    '/secret_access_key',
  ])
  assert.deepEqual(await refused('PATCH', `${base}/${id}`, { endpoint: 'ftp://x', region: 'X' }), [
    '/endpoint',
    '/region',
  ])
  assert.deepEqual(await refused('PATCH', `${base}/${id}`, { path_style: false }), ['/endpoint'])
  assert.deepEqual(await refused('PATCH', `${base}/${disk}`, { region: 'nyc3' }), ['/region'])
  for (const [method, path] of [
    ['POST', base],
    ['PATCH', `${base}/${disk}`],
  ] as const) {
    const body = method === 'POST' ? s3 : { name: 'bucket' }
    const taken = await call(method, path, { body })
    assert.deepEqual([taken.status, taken.body.code], [409, 'name_taken'])
  }
  const token = await tokens.tenant('acme')
  for (const [method, path] of [
    ['GET', base],
    ['POST', base],
    ['GET', `${base}/${id}`],
    ['POST', `${base}/${id}/check`],
  ] as const)
    assert.equal((await call(method, path, { token })).status, 403)
})

test('one backend is active at a time, or none', async t => {
  const { call, s3, have } = await setupPlaces(t)
  const one = await have(s3)
  const two = await have({ name: 'disk', kind: 'local', folder: 'a' }, false)
  const active = async () => {
    const { body } = await call('GET', base)
    return body.data.flatMap((row: { active: boolean; id: string }) => (row.active ? [row.id] : []))
  }
  assert.deepEqual(await active(), [one])
  for (const [id, verb, expected] of [
    [two, 'activate', [two]],
    [two, 'activate', [two]],
    [one, 'deactivate', [two]],
    [one, 'activate', [one]],
    [one, 'deactivate', []],
    [one, 'deactivate', []],
  ] as const) {
    assert.equal((await call('POST', `${base}/${id}/${verb}`)).status, 200)
    assert.deepEqual(await active(), expected)
  }
})

test(
  'a check writes, reads and removes a file now, and says in plain words what fails',
  onPostgresAlone,
  async t => {
    const { call, ctx, s3, have, bucket, dataDir, logged } = await setupPlaces(t)
    const disk = await have({ name: 'disk', kind: 'local', folder: 'raw/a' }, false)
    const store = await have(s3, false)
    const check = async (id: string) => {
      const { status, body } = await call('POST', `${base}/${id}/check`)
      assert.equal(status, 200)
      return body.data
    }
    const fine = { ok: true, error: null }
    assert.deepEqual(await check(disk), fine)
    assert.deepEqual(readdirSync(join(dataDir, 'storage/raw/a/check')), [])
    assert.deepEqual(await check(store), fine)
    assert.deepEqual(
      bucket.requests.map(({ method, status }) => [method, status]),
      [
        ['PUT', 200],
        ['GET', 200],
        ['DELETE', 204],
      ],
    )
    assert.match(bucket.requests[0]!.path, /^\/invoices\/raw\/check\/[0-9a-f-]{36}\.txt$/)
    assert.equal(bucket.objects.size, 0)

    const fails = async (id: string, error: string | RegExp) => {
      const found = await check(id)
      assert.equal(found.ok, false)
      assert.match(found.error, typeof error === 'string' ? new RegExp(`^${error}$`) : error)
    }
    bucket.faults.add({ fault: 'server_error', status: 503, method: 'PUT', times: 3 })
    await fails(store, 'a file could not be written: the service answered 503 InternalError: simulated')
    bucket.faults.add({ fault: 'stall', method: 'GET' })
    assert.deepEqual(await checkBackend(ctx, store, 2_000), {
      ok: false,
      error: 'the file could not be read back: it took longer than 2000 ms',
    })
    bucket.faults.add({ fault: 'wrong_bytes', method: 'GET' })
    await fails(
      store,
      'the file could not be read back: the file is not the one .*: its SHA-256 is another one',
    )
    bucket.faults.add({ fault: 'cut', method: 'GET' })
    await fails(store, /^the file could not be read back: /)
    bucket.faults.add({ fault: 'server_error', status: 403, method: 'DELETE' })
    await fails(store, 'the file could not be removed: the service answered 403 InternalError: simulated')
    const keys = { access_key_id: 'AKIDTEST', secret_access_key: 'not-the-key' }
    await call('PATCH', `${base}/${store}`, { body: keys })
    await fails(
      store,
      /^a file could not be written: the secret access key is not the one of this access key id/,
    )
    ctx.storageEncryption = encryptionFor('storage backends', ['another-secret-key-0123456789-abcdef'])
    await fails(
      store,
      'it cannot be used: its secret access key was sealed under another SECRET_KEY: set it again',
    )
    writeFileSync(join(dataDir, 'storage/file'), '')
    const blocked = await have({ name: 'blocked', kind: 'local', folder: 'file/below' }, false)
    await fails(blocked, /^a file could not be written: a file is where the folder should be/)
    assert.ok(!logged().includes('not-the-key'))
  },
)

test(
  'a check tells no more of an address without such a service than that, whatever is there',
  onPostgresAlone,
  async t => {
    const { ctx, s3, have, logged } = await setupPlaces(t)
    const listening = async (server: Server) => {
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      const sockets = new Set<Socket>()
      server.on('connection', socket => sockets.add(socket.on('error', () => {})))
      t.after(() => {
        server.close()
        for (const socket of sockets) socket.destroy()
      })
      return (server.address() as AddressInfo).port
    }
    const web = (status: number, headers = {}, body = '') =>
      listening(
        createServer((request, response) => {
          request.resume()
          response.writeHead(status, { connection: 'close', ...headers }).end(body)
        }),
      )
    const sockets = (greet: (socket: Socket) => void) => listening(createTcpServer(greet))
    const closed = await sockets(() => {})
    const places: Record<string, string> = {
      'a closed port': 'http://127.0.0.1:1',
      'a port that says nothing': `http://127.0.0.1:${closed}`,
      'a port that hangs up': `http://127.0.0.1:${await sockets(socket => socket.destroy())}`,
      'a port that speaks otherwise': `http://127.0.0.1:${await sockets(socket => socket.end('220 mail ready\r\n'))}`,
      'a port without TLS': `https://127.0.0.1:${await web(200)}`,
      'a name of nobody': 'https://nobody.invalid',
      'a web page': `http://127.0.0.1:${await web(200, { 'content-type': 'text/html' }, '<html>')}`,
      'a web server that refuses': `http://127.0.0.1:${await web(404)}`,
      'a web server that fails': `http://127.0.0.1:${await web(502, {}, '<html><Code></Code>')}`,
      'a web server that asks who it is': `http://127.0.0.1:${await web(401, { 'www-authenticate': 'Basic' })}`,
      'a web server that redirects': `http://127.0.0.1:${await web(302, { location: 'http://127.0.0.1:1/' })}`,
    }
    const answers = await Promise.all(
      Object.entries(places).map(async ([name, endpoint]) => {
        const id = await have({ ...s3, name, endpoint }, false)
        const began = performance.now()
        const answer = await checkBackend(ctx, id, 2_000)
        assert.ok(performance.now() - began >= 1_999, `${name}: not told by its time either`)
        return [name, answer] as const
      }),
    )
    const error = 'a file could not be written: no S3-compatible service answers at its endpoint'
    for (const [name, answer] of answers) assert.deepEqual(answer, { ok: false, error }, name)
    assert.match(
      logged(),
      /ECONNREFUSED.*a storage backend cannot be reached/,
      'operators read why in the log',
    )
  },
)
