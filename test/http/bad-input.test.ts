// What traps people set, on every route that takes a body or a path parameter, read from the API's own description, so
// that a route added later is covered without a word here.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { largestBody, resolved, type Schema } from '../../bench/bodies.ts'
import { compileSchemas } from '../../src/kernel/http/validation.ts'
import { onPostgres, onPostgresAlone } from '../support/engine.ts'
import { type Bundle, setup } from '../support/setup.ts'

interface Operation {
  method: string
  path: string
  takesBody: boolean
  /** The schema of what it takes. */
  body: Schema | undefined
  takesParams: boolean
}

interface Described {
  requestBody?: { content: { 'application/json': { schema: Schema } } }
}

interface Description {
  paths?: object
  components: { schemas: Record<string, object> }
}

async function operations({ app }: Bundle): Promise<Operation[]> {
  await app.ready()
  const { paths = {}, components } = app.swagger() as Description
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Described>).map(([method, { requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      takesBody: requestBody !== undefined,
      body: requestBody && resolved(requestBody.content['application/json'].schema, components.schemas),
      takesParams: withUser(path).includes('{'),
    })),
  )
}

/** Users are the issuer's: any text may name one, so only what comes behind it can name nothing. */
const withUser = (path: string) => path.replaceAll('{user_id}', 'ada')
const withIds = (path: string, id: string) => withUser(path).replaceAll(/\{[^}]+\}/g, id)
const someUuid = '01980000-0000-7000-8000-000000000000'

const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

type Bodies = Record<string, string | Uint8Array<ArrayBuffer>>

/** No JSON, or none that is taken: refused by the one reader all routes share, before any of them is asked. */
const unreadable: Bodies = {
  'cut short': '{"a":',
  'a bare word': 'hello',
  'two values': '{}{}',
  'NUL in a value': '{"a":"\\u0000"}',
  'NUL in a key': '{"\\u0000":1}',
  'a raw NUL': '{"a":"\0"}',
  'half a surrogate pair': '{"a":"\\ud800"}',
  'half a surrogate pair in a key': '{"\\udfff":1}',
  'the same key twice': '{"a":1,"a":2}',
  'the same key twice, one escaped': '{"a":1,"\\u0061":2}',
  'a number past 2^53': '{"a":9007199254740993}',
  'a number past all bounds': '{"a":1e999}',
  '100,000 levels deep': deep(100_000),
  '33 levels deep': deep(33),
  'invalid UTF-8': new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]),
  'UTF-16': new Uint8Array(Buffer.from('{"a":1}', 'utf16le')),
}

/** JSON that no route takes. */
const unfit: Bodies = {
  'an unknown field': '{"no_such_field":1}',
  'a field named __proto__': '{"__proto__":{"admin":true}}',
  'a field named constructor': '{"constructor":{"prototype":{}}}',
  'a list': '[]',
  'a number': '12',
  text: '"text"',
  true: 'true',
}

const badIds = [
  '%00',
  'a%00b',
  'not-a-uuid',
  '1',
  '-1',
  '99999999999999999999',
  "'%20or%201=1--",
  '%F0%9F%92%A9',
  '..%2f..%2fetc',
  'a'.repeat(2000),
  '%ff',
  '%25%00',
  `${someUuid}0`,
  'null',
  '{}',
]

test('bad bodies are answered with a 4xx problem on every route that takes one', onPostgresAlone, async t => {
  const bundle = await setup(t)
  const withBody = (await operations(bundle)).filter(operation => operation.takesBody)
  assert.ok(withBody.length > 0)
  for (const [index, { method, path }] of withBody.entries()) {
    const bad =
      index === 0 ? { ...unreadable, ...unfit } : { 'cut short': unreadable['cut short']!, ...unfit }
    for (const [name, raw] of Object.entries(bad)) {
      const headers = { 'content-type': 'application/json' }
      const answer = await bundle.call(method, withIds(path, someUuid), { raw, headers })
      assertRefused(answer, `${method} ${path}, ${name}`)
    }
  }
})

test('bodies too large, of another type, or of the wrong length are 4xx problems', async t => {
  const bundle = await setup(t)
  const path = '/api/v1/admin/scheduled_tasks/housekeeping/pause'
  const large = await bundle.call('POST', path, {
    raw: `{"a":"${'x'.repeat(2 ** 20)}"}`,
    headers: { 'content-type': 'application/json' },
  })
  assert.equal(large.status, 413)
  assert.equal(large.body.code, 'payload_too_large')
  for (const type of [
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/json-seq',
    'nonsense',
  ]) {
    const answer = await bundle.call('POST', path, { raw: '{}', headers: { 'content-type': type } })
    assert.equal(answer.status, 415, type)
    assert.equal(answer.body.code, 'unsupported_media_type')
  }
})

/** A thousand events, and a whole catalog. */
const BULK = ['/api/v1/usage-events', '/api/v1/catalog/backtest']

test(
  'every operation takes the largest body its schema allows, and none that is much larger',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const send = (method: string, path: string, raw: string) =>
      bundle.call(method, withIds(path, someUuid), { raw, headers: { 'content-type': 'application/json' } })
    const blanks = (kib: number) => `{}${' '.repeat(kib * 1024)}`
    for (const { method, path, body } of await operations(bundle)) {
      if (!body) continue
      const large = largestBody(body)
      const taken = await send(method, path, large)
      assert.notEqual(taken.status, 413, `${method} ${path}, ${large.length} bytes`)
      assert.ok(taken.status < 500, `${method} ${path}: ${taken.text}`)
      const most = BULK.includes(path) ? 512 : large.length < 10_000 ? 16 : 128
      const refused = await send(method, path, blanks(most))
      assert.equal(refused.status, 413, `${method} ${path}, which needs ${large.length} bytes`)
      assert.equal(refused.body.code, 'payload_too_large')
      assert.match(refused.body.detail, /^The body is larger than \d+ KiB/)
    }
  },
)

test('a long list of wrong members is refused for its length alone', async t => {
  const { call } = await setup(t)
  const addons = Array(8_000).fill(1)
  const { status, body } = await call('POST', `/api/v1/deployments/${someUuid}/subscribe`, {
    body: { plan_code: 'x', addons },
  })
  assert.equal(status, 422)
  assert.deepEqual(body.errors, [{ pointer: '/addons', message: 'must NOT have more than 50 items' }])
})

test('malformed JSON is `malformed_body`, an unknown field is `validation_failed` and named', async t => {
  const { call } = await setup(t)
  const headers = { 'content-type': 'application/json' }
  const path = '/api/v1/admin/scheduled_tasks/housekeeping/pause'
  const malformed = await call('POST', path, { raw: '{"a":', headers })
  assert.equal(malformed.status, 400)
  assert.equal(malformed.body.code, 'malformed_body')
  const unknown = await call('POST', path, { body: { 'surprise/~': 1 } })
  assert.equal(unknown.status, 422)
  assert.equal(unknown.body.code, 'validation_failed')
  assert.ok(
    unknown.body.errors.some((error: { pointer: string }) => error.pointer === '/surprise~1~0'),
    unknown.text,
  )
})

test('a path parameter that names nothing is a 404 problem on every route that takes one', async t => {
  const bundle = await setup(t)
  const withParams = (await operations(bundle)).filter(operation => operation.takesParams)
  assert.ok(withParams.length > 0)
  const ids = [...badIds, someUuid]
  for (const [index, { method, path, takesBody }] of withParams.entries()) {
    // Every route with every id on PostgreSQL; on the embedded engine, for the sake of time, with a quarter of them in turn.
    for (const id of onPostgres ? ids : ids.filter((_, nth) => (nth + index) % 4 === 0)) {
      const body = takesBody ? {} : undefined
      const answer = await bundle.call(method, withIds(path, id), { body })
      // A name that could exist is looked up after the body was judged, and some bodies have required fields.
      if (takesBody && answer.status === 422 && /^[a-z0-9-]{1,64}$/.test(id)) continue
      assert.equal(answer.status, 404, `${method} ${path} with ${id}: ${answer.text}`)
      assert.equal(answer.body.code, 'not_found')
    }
  }
})

test('unknown or unreadable query parameters are 422 and named', async t => {
  const { call } = await setup(t)
  const bad = [
    'limit=0',
    'limit=501',
    'limit=abc',
    'limit=1.5',
    'limit=',
    'limit=-1',
    'limit=1e3',
    'limit=1&limit=2',
    'cursor=zzz',
    'cursor=',
    'cursor=%00',
    'lmit=5',
    'limit=99999999999999999999',
    'cursor=W10',
  ]
  for (const query of bad) {
    const answer = await call('GET', `/api/v1/admin/scheduled_tasks?${query}`)
    assertRefused(answer, query)
    assert.equal(answer.status, 422, `${query}: ${answer.text}`)
    assert.equal(answer.body.code, 'validation_failed')
    assert.match(answer.body.errors[0].pointer, /^\?(limit|cursor|lmit)/, query)
  }
})

test('bytes that are no HTTP request get a problem and nothing else', async t => {
  const { url } = await setup(t)
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'))
    let text = ''
    socket.on('data', chunk => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
  assert.match(answer, /^HTTP\/1\.1 400 /)
  assert.match(answer, /application\/problem\+json/)
})

test('headers that are too large get a 431 problem', async t => {
  const { call } = await setup(t)
  const { status, body } = await call('GET', '/api/v1/session', {
    headers: { 'x-large': 'x'.repeat(20_000) },
  })
  assert.equal(status, 431)
  assert.equal(body.status, 431)
})

function assertRefused(answer: Awaited<ReturnType<Bundle['call']>>, what: string): void {
  assert.ok(answer.status >= 400 && answer.status < 500, `${what}: ${answer.status} ${answer.text}`)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/, what)
  assert.equal(answer.body.status, answer.status, what)
  assert.doesNotMatch(answer.text, /select |insert |relation|syntax error|node_modules|at .+\.ts:/i, what)
}

test('every schema of the API compiles, also those of which no request was made', async t => {
  await setup(t)
  await assert.doesNotReject(compileSchemas())
})
