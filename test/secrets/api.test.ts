// Secrets over the API: written, replaced, listed and deleted, and nowhere shown.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { createVault } from '../../src/kernel/vault.ts'
import { everything } from '../support/inspect-database.ts'
import { setup } from '../support/setup.ts'

const base = '/api/v1/admin/secrets'

test('a secret is stored, shown without its value, given others version by version, and deleted', async t => {
  const { call, clock, tokens, ctx } = await setup(t)
  const value = ' swörd\tfish 🔑\r\n'
  const body = { name: 'smtp/password', value, description: 'for the mails' }
  const made = await call('POST', base, { body })
  assert.equal(made.status, 201, made.text)
  assert.equal(made.headers.get('location'), `${base}/smtp%2Fpassword`)
  const first = {
    name: 'smtp/password',
    version: 1,
    fingerprint: ctx.vault.fingerprint(value),
    readable: true,
    description: 'for the mails',
    created_at: '2026-11-15T12:00:00.000Z',
    created_by: 'ada',
    updated_at: '2026-11-15T12:00:00.000Z',
    updated_by: 'ada',
  }
  assert.deepEqual(made.body, { data: first })
  const taken = await call('POST', base, { body: { ...body, value: 'other' } })
  assert.deepEqual([taken.status, taken.body.code], [409, 'secret_exists'])

  clock.advance(60_000)
  const token = await tokens.admin({ sub: 'grace' })
  const put = (more: object, path = 'smtp/password') =>
    call('PUT', `${base}/${path}`, { token, body: { value, ...more } })
  const unchanged = await put({})
  assert.deepEqual([unchanged.status, unchanged.body.data], [200, first], 'the same value changes nothing')
  const described = await put({ description: null })
  const touched = { updated_at: '2026-11-15T12:01:00.000Z', updated_by: 'grace' }
  assert.deepEqual(described.body.data, { ...first, ...touched, description: null })
  await put({ description: 'for all mails' })
  const second = await put({ value: 'another' }, 'smtp%2Fpassword')
  assert.equal(second.status, 200)
  const fingerprint = ctx.vault.fingerprint('another')
  const now = { ...first, ...touched, version: 2, fingerprint, description: 'for all mails' }
  assert.deepEqual(second.body.data, now)
  for (const path of ['smtp/password', 'smtp%2Fpassword', 'smtp%2fpassword'])
    assert.deepEqual((await call('GET', `${base}/${path}`)).body.data, now)
  const { sealed } = await ctx.db.selectFrom('secrets').select('sealed').executeTakeFirstOrThrow()
  assert.equal(ctx.vault.decrypt('smtp/password', sealed), 'another')

  const fresh = await put({ value: 'another' }, 'plain')
  assert.deepEqual([fresh.status, fresh.headers.get('location')], [201, `${base}/plain`])
  assert.deepEqual(
    [fresh.body.data.version, fresh.body.data.fingerprint, fresh.body.data.description],
    [1, fingerprint, null],
  )
  assert.equal((await call('DELETE', `${base}/smtp/password`)).status, 204)
  for (const [method, path] of [
    ['GET', 'smtp/password'],
    ['DELETE', 'smtp%2Fpassword'],
    ['DELETE', 'smtp/password'],
    ['GET', 'a/b/c'],
    ['GET', 'a%2Fb/c'],
    ['DELETE', 'No%20Name'],
    ['GET', 'a%00b'],
  ])
    assert.equal((await call(method!, `${base}/${path}`)).status, 404, path)
  assert.equal((await put({})).body.data.version, 1, 'deleted with its history')
})

test('the list is paged by name, bytewise, and stays readable when a secret no longer is', async t => {
  const { call, ctx, logged } = await setup(t)
  const names = ['-', '0', '_', 'a', 'a-b', 'a/b', 'a0', 'a_b', 'provider_token/metering']
  for (const name of names) await call('PUT', `${base}/${name}`, { body: { value: `value-of-${name}` } })
  const sorted = names.toSorted()
  const pages: string[][] = []
  let path: string | null = `${base}?limit=4`
  while (path) {
    const { body, headers } = await call('GET', path)
    pages.push(body.data.map((secret: { name: string }) => secret.name))
    path = headers.get('link')?.match(/<(.+)>/)?.[1] ?? null
  }
  assert.deepEqual(pages, [sorted.slice(0, 4), sorted.slice(4, 8), sorted.slice(8)])

  // As after a change of SECRET_KEY.
  const other = createVault(['another-key-that-is-long-enough-0123'])
  for (const name of ['a', 'provider_token/metering'])
    await ctx.db
      .updateTable('secrets')
      .set({ sealed: other.encrypt(name, `value-of-${name}`) })
      .where('name', '=', name)
      .execute()
  await ctx.providerTokens.refresh()
  await ctx.providerTokens.refresh()
  const { body } = await call('GET', base)
  const unreadable = body.data.filter((secret: { readable: boolean }) => !secret.readable)
  assert.deepEqual(
    unreadable.map((secret: { name: string }) => secret.name),
    ['a', 'provider_token/metering'],
  )
  const said = logged()
    .split('\n')
    .filter(line => line.includes('CANNOT BE READ'))
  assert.equal(said.length, 1, 'once, and only of what the service itself reads')
  assert.match(said[0]!, /"level":50.*"name":"provider_token\/metering"/)
  const again = await call('PUT', `${base}/a`, { body: { value: 'value-of-a' } })
  assert.deepEqual(
    [again.body.data.version, again.body.data.readable],
    [2, true],
    'the same value, sealed anew',
  )
})

test('bad names and values are refused by their pointers, and only a platform_admin gets in', async t => {
  const { call, tokens, ctx } = await setup(t)
  const pointers = async (method: string, path: string, body: object) => {
    const answer = await call(method, path, { body })
    assert.deepEqual([answer.status, answer.body.code], [422, 'validation_failed'], answer.text)
    return answer.body.errors.map((error: { pointer: string }) => error.pointer)
  }
  for (const name of ['', 'A', 'a/b/c', '/a', 'a/', 'a'.repeat(129), 7, null])
    assert.deepEqual(await pointers('POST', base, { name, value: 'v' }), ['/name'], String(name))
  for (const value of ['', 'v'.repeat(16_385), 7, null])
    for (const [method, path] of [
      ['POST', base],
      ['PUT', `${base}/n`],
    ])
      assert.deepEqual(
        await pointers(method!, path!, { ...(method === 'POST' && { name: 'n' }), value }),
        ['/value'],
        String(value).slice(0, 9),
      )
  assert.deepEqual(await pointers('POST', base, { name: 'n', value: 'v', size: 1 }), ['/size'])
  assert.deepEqual(await pointers('POST', base, { name: 'n' }), ['/value'])
  const halves = `${'a'.repeat(64)}/${'b'.repeat(64)}`
  assert.deepEqual(await pointers('PUT', `${base}/${halves}`, { value: 'v' }), ['/name'])
  for (const path of ['A', 'a%2Fb/c', 'a/b/c', 'a/B', 'a%00b', 'a'.repeat(129)])
    assert.equal((await call('PUT', `${base}/${path}`, { body: { value: 'v' } })).status, 404, path)
  for (const path of ['provider_token/nobody', 'provider_token%2Fnobody'])
    assert.deepEqual(await pointers('PUT', `${base}/${path}`, { value: 'a b' }), ['/name', '/value'])
  const token = { name: 'provider_token/metering', value: 'two words' }
  assert.deepEqual(await pointers('POST', base, token), ['/value'])
  const { length } = await ctx.db.selectFrom('secrets').selectAll().execute()
  assert.equal(length, 0)
  const long = await call('PUT', `${base}/n`, { body: { value: '🔑'.repeat(16_384) } })
  assert.equal(long.status, 201, 'characters are counted, not bytes')

  const paths = [base, `${base}/n`, `${base}/a/n`]
  for (const path of paths) {
    assert.equal((await call('GET', path, { token: null })).status, 401, path)
    assert.equal((await call('GET', path, { token: await tokens.tenant('acme') })).status, 403, path)
  }
  for (const method of ['PUT', 'DELETE'])
    for (const path of paths.slice(1)) {
      const refused = await call(method, path, { token: await tokens.tenant('acme'), body: { value: 'v' } })
      assert.equal(refused.status, 403)
    }
})

test('a value is in no row of any table, in no line of the log and in no answer, nor anything it could be guessed by', async t => {
  const bundle = await setup(t, { env: { LOG_LEVEL: 'trace' } })
  const { call, logged } = bundle
  const headers = { 'idempotency-key': 'store-it-once' }
  // Short on purpose: whoever has a hash of it finds it in no time.
  const value = 'hunter2-needle'
  const body = { name: 'provider_token/cloud_billing', value }
  const answers = [
    await call('POST', base, { headers, body }),
    await call('POST', base, { headers, body }),
    await call('POST', base, { headers, body: { ...body, value: `${value}-other` } }),
    await call('POST', base, { body }),
    await call('PUT', `${base}/${body.name}`, { body: { value: `${value}-next` } }),
    await call('PUT', `${base}/${body.name}`, { body: { value: `${value} with a space` } }),
    await call('PUT', `${base}/${body.name}`, { body: { value: `${value}`.repeat(2_000) } }),
    await call('PUT', `${base}/${body.name}`, { body: { value: [value] } }),
    await call('PUT', `${base}/${body.name}`, {
      raw: `{"value": "${value}`,
      headers: { 'content-type': 'application/json' },
    }),
    await call('GET', base),
    await call('DELETE', `${base}/${body.name}`),
    await call('PUT', `${base}/kept`, { body: { value } }),
  ]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 201, 422, 409, 200, 422, 422, 422, 400, 200, 204, 201],
  )
  assert.equal(answers[1]!.headers.get('idempotency-replayed'), 'true')
  const database = await everything(bundle)
  const request = JSON.stringify(['POST', base, body])
  const needles = [
    value,
    ...(['hex', 'base64', 'base64url'] as const).map(form => Buffer.from(value).toString(form)),
  ]
  for (const text of [value, request]) needles.push(createHash('sha256').update(text).digest('hex'))
  for (const needle of needles) {
    assert.deepEqual(
      [...database].filter(([, text]) => text.includes(needle)),
      [],
    )
    assert.ok(!logged().includes(needle))
    for (const { text } of answers) assert.ok(!text.includes(needle), text)
  }
  assert.match(database.get('public.idempotency_keys')!, /store-it-once/)
  assert.match(database.get('public.secrets')!, / v1\.\S+ .*\bkept\b|\bkept\b.* v1\./)
})
