import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fastify, { type FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { conflict } from '../../src/kernel/errors.ts'
import { installIdempotency } from '../../src/kernel/http/idempotency.ts'
import { answer } from '../../src/kernel/http/problems.ts'
import { sealFor } from '../../src/kernel/sealed.ts'
import { eventually } from '../support/eventually.ts'
import { type Bundle, type CallOptions, setup } from '../support/setup.ts'

const path = '/api/v1/widgets'

interface Workshop {
  /** Bodies the handler was run with. */
  made: unknown[]
  /** What the handler does after it has begun. */
  work: () => Promise<void> | void
}

/** A route that makes widgets and honours the header. */
function widgets(app: FastifyInstance, workshop: Workshop): void {
  const make = async (request: { body: unknown }) => {
    const number = workshop.made.push(request.body)
    await workshop.work()
    return { data: { number } }
  }
  const body = Type.Unsafe({})
  const schema = { body, response: {} }
  app.post(path, { config: { guard: 'caller', idempotent: true }, schema }, async (request, reply) => {
    const made = await make(request)
    reply.code(201).header('location', `${path}/${made.data.number}`).header('cache-control', 'no-store')
    return made
  })
  app.post(`${path}/none`, { config: { guard: 'caller', idempotent: true } }, async (request, reply) => {
    await make(request)
    return reply.code(204).send(null)
  })
  app.post(`${path}/plain`, { config: { guard: 'caller' } }, make)
}

async function open(t: TestContext, options = {}) {
  const workshop: Workshop = { made: [], work: () => {} }
  const bundle = await setup(t, { ...options, extend: app => widgets(app, workshop) })
  const send = (key: string, options: CallOptions = {}, to = path) =>
    bundle.call('POST', to, { body: { a: 1 }, ...options, headers: { 'idempotency-key': key } })
  return { ...bundle, workshop, send }
}

const rows = async ({ ctx }: Bundle) =>
  (await sql<{ n: number }>`select count(*)::int as n from idempotency_keys`.execute(ctx.db)).rows[0]!.n

/** Work that waits until it is let go. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { closed: () => promise, open: resolve }
}

test('the same request under the same key is answered with the first answer, and done once', async t => {
  const { send, workshop } = await open(t)
  const first = await send('order-1')
  const again = await send('order-1')
  assert.equal(first.status, 201)
  assert.equal(first.headers.get('idempotency-replayed'), null)
  assert.equal(again.status, 201)
  assert.equal(again.text, first.text)
  for (const name of ['location', 'content-type', 'cache-control']) {
    assert.equal(again.headers.get(name), first.headers.get(name), name)
  }
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  assert.notEqual(again.headers.get('x-request-id'), first.headers.get('x-request-id'))
  assert.equal(workshop.made.length, 1)
  const empty = await send('order-2', {}, `${path}/none`)
  const emptyAgain = await send('order-2', {}, `${path}/none`)
  assert.deepEqual([empty.status, emptyAgain.status, emptyAgain.text], [204, 204, ''])
  assert.equal(workshop.made.length, 2)
})

test('the order of members and white space makes no other request', async t => {
  const { send, workshop } = await open(t)
  await send('k', { body: { a: 1, b: { c: [1, 2], d: 2 } } })
  const again = await send('k', { body: { b: { d: 2, c: [1, 2] }, a: 1 } })
  assert.equal(again.status, 201)
  assert.equal(workshop.made.length, 1)
})

test('another body, path or query under the same key is 422 and not done', async t => {
  const { send, workshop } = await open(t)
  await send('k')
  const others: [CallOptions, string][] = [
    [{ body: { a: 2 } }, path],
    [{ body: { a: '1' } }, path],
    [{ body: { a: 1, b: null } }, path],
    [{ body: undefined }, path],
    [{}, `${path}?a=1`],
    [{}, `${path}/none`],
  ]
  for (const [options, to] of others) {
    const refused = await send('k', options, to)
    assert.equal(refused.status, 422, JSON.stringify(options) + to)
    assert.equal(refused.body.code, 'idempotency_key_reused')
    assert.equal(refused.body.errors[0].pointer, 'Idempotency-Key')
  }
  assert.equal(workshop.made.length, 1)
})

test('a key is 1 to 255 printable ASCII characters, else 422', async t => {
  const { send, workshop } = await open(t)
  for (const key of ['', 'x'.repeat(256), 'naïve', 'a\tb']) {
    const refused = await send(key)
    assert.equal(refused.status, 422, key)
    assert.equal(refused.body.code, 'validation_failed')
    assert.deepEqual(refused.body.errors, [
      { pointer: 'Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' },
    ])
  }
  assert.equal(workshop.made.length, 0)
  for (const key of ['x', 'x'.repeat(255), '"quoted, as the draft has it"', "'; drop table api_keys; --"]) {
    assert.equal((await send(key)).status, 201, key)
    assert.equal((await send(key)).headers.get('idempotency-replayed'), 'true', key)
  }
})

test('without the header, and on routes that do not ask for it, every request is done', async t => {
  const { call, send, workshop, ...bundle } = await open(t)
  await call('POST', path, { body: {} })
  await call('POST', path, { body: {} })
  await send('k', {}, `${path}/plain`)
  await send('k', {}, `${path}/plain`)
  assert.equal(workshop.made.length, 4)
  assert.equal(await rows({ ...bundle, call }), 0)
})

test('callers do not share keys: not tenants, not users, not roles, not a user and its API key', async t => {
  const { call, send, tokens, workshop } = await open(t)
  const alice = await tokens.tenant('acme', { sub: 'alice' })
  const made = await call('POST', '/api/v1/users/alice/api_keys', { token: alice, body: {} })
  const callers = [
    alice,
    await tokens.tenant('acme', { sub: 'bob' }),
    await tokens.tenant('other', { sub: 'alice' }),
    await tokens.tenant('acme', { sub: 'alice', role: 'viewer' }),
    await tokens.admin({ sub: 'alice' }),
    made.body.data.api_key,
  ]
  for (const [i, token] of callers.entries()) {
    assert.equal((await send('k', { token })).body.data.number, i + 1)
  }
  const later = await tokens.tenant('acme', { sub: 'alice', jti: 'renewed' })
  assert.equal((await send('k', { token: later })).body.data.number, 1)
  assert.equal(workshop.made.length, callers.length)
})

test('a refusal is an answer too and is given again; what fails validation is not remembered', async t => {
  const { send, workshop } = await open(t)
  workshop.work = () => {
    throw conflict('widget_taken', 'There is one already.')
  }
  const first = await send('k')
  const again = await send('k')
  assert.deepEqual([first.status, again.status], [409, 409])
  assert.equal(again.text, first.text)
  assert.match(again.headers.get('content-type') ?? '', /^application\/problem\+json/)
  assert.equal(workshop.made.length, 1)
  const keys = '/api/v1/users/ada/api_keys'
  assert.equal((await send('v', { body: { nonsense: 1 } }, keys)).status, 422)
  assert.equal((await send('v', { body: { description: 'mended' } }, keys)).status, 201)
})

test('a fault, or a race lost in the database, leaves the key free to be tried again', async t => {
  const bundle = await open(t)
  const { send, workshop } = bundle
  for (const [error, status] of [
    [new Error('the roof is leaking'), 500],
    [Object.assign(new Error('deadlock detected'), { code: '40P01' }), 409],
  ] as const) {
    workshop.work = () => {
      throw error
    }
    assert.equal((await send('k')).status, status)
    assert.equal(await rows(bundle), 0)
  }
  workshop.work = () => {}
  const second = await send('k')
  assert.equal(second.status, 201)
  assert.equal(second.headers.get('idempotency-replayed'), null)
})

test('a duplicate that comes while the first is at work waits and gets its answer', async t => {
  const { send, ctx, workshop } = await open(t)
  const { closed, open: release } = gate()
  workshop.work = closed
  let looks = 0
  const { read } = ctx.engine
  ctx.engine.read = (statement, values) => {
    if (statement.name === 'idempotency_keys_find') looks++
    return read(statement, values)
  }
  const first = send('k')
  await eventually('the first is at work', async () => workshop.made.length === 1)
  const second = send('k')
  await eventually('the second waits', async () => looks >= 3)
  const other = await send('k', { body: { a: 2 } })
  assert.equal(other.body.code, 'idempotency_key_reused', 'another request need not wait to be refused')
  release()
  const [one, two] = await Promise.all([first, second])
  assert.equal(two.text, one.text)
  assert.equal(two.headers.get('idempotency-replayed'), 'true')
  assert.equal(workshop.made.length, 1)
})

test('a duplicate whose patience ends is told 409 and when to ask again', async t => {
  const { ctx } = await setup(t)
  const app = fastify()
  t.after(() => app.close())
  app.setErrorHandler(answer)
  app.decorateRequest('caller', undefined)
  app.addHook('onRequest', async request => {
    const credential = { via: 'token', credentialId: 'jti-1', expiresAt: null } as const
    request.caller = { sub: 'ada', tenantId: 'acme', roles: [], platformAdmin: false, ...credential }
  })
  installIdempotency(app, { ...ctx, seal: sealFor('a test', 'x'.repeat(32)), patienceMs: 30 })
  const workshop: Workshop = { made: [], work: () => {} }
  const { closed, open: release } = gate()
  workshop.work = closed
  widgets(app, workshop)
  const request = { method: 'POST', url: path, headers: { 'idempotency-key': 'k' }, body: {} } as const
  const first = app.inject(request)
  // Lets the request leave: inject() begins when it is awaited.
  const answered = first.then(reply => reply.statusCode)
  await eventually('the first is at work', async () => workshop.made.length === 1)
  const second = await app.inject(request)
  assert.equal(second.statusCode, 409)
  assert.equal(second.json().code, 'idempotency_in_progress')
  assert.equal(second.headers['retry-after'], '1')
  release()
  assert.equal(await answered, 201)
  assert.equal((await app.inject(request)).headers['idempotency-replayed'], 'true')
})

test('a request whose process died is taken over after a minute, and comes too late if it was only slow', async t => {
  const { send, clock, workshop } = await open(t)
  const { closed, open: release } = gate()
  workshop.work = closed
  const slow = send('k')
  await eventually('the first is at work', async () => workshop.made.length === 1)
  workshop.work = () => {}
  clock.advance(60_000)
  const other = await send('k', { body: { a: 2 } })
  assert.equal(other.body.code, 'idempotency_key_reused', 'the key is still the first request’s')
  const second = await send('k')
  assert.equal(second.body.data.number, 2)
  release()
  assert.equal((await slow).body.data.number, 1)
  assert.equal((await send('k')).body.data.number, 2, 'the answer kept is that of the request that took over')
})

test('a key lives for 24 hours, and may then name another request', async t => {
  const { send, clock, workshop } = await open(t)
  await send('k')
  clock.advance(24 * 3_600_000 - 1)
  assert.equal((await send('k')).headers.get('idempotency-replayed'), 'true')
  clock.advance(1)
  const fresh = await send('k', { body: { a: 2 } })
  assert.equal(fresh.status, 201)
  assert.equal(fresh.headers.get('idempotency-replayed'), null)
  assert.equal((await send('k', { body: { a: 2 } })).headers.get('idempotency-replayed'), 'true')
  assert.equal(workshop.made.length, 2)
})

test('housekeeping forgets keys past their day and keeps the others', async t => {
  const bundle = await open(t, { worker: true })
  const { call, send, clock } = bundle
  await send('old')
  clock.advance(23 * 3_600_000)
  await send('young')
  clock.advance(3_600_000)
  const run = await call('POST', '/api/v1/admin/scheduled_tasks/housekeeping/run', { body: {} })
  await eventually('housekeeping is done', async () => {
    const { body } = await call('GET', run.headers.get('location')!)
    return body.data.status === 'completed'
  })
  const { rows: left } = await sql<{ key: string }>`select key from idempotency_keys`.execute(bundle.ctx.db)
  assert.deepEqual(left, [{ key: 'young' }])
  const { body } = await call('GET', '/api/v1/admin/scheduled_tasks/housekeeping')
  assert.match(body.data.description, /task runs older than 90 days, idempotency keys older than 24 hours/)
})

test('kept answers are encrypted, and one that can no longer be read is 409, not a second effect', async t => {
  const { send, ctx, workshop } = await open(t)
  await send('k')
  const row = await ctx.db.selectFrom('idempotency_keys').selectAll().executeTakeFirstOrThrow()
  assert.ok(!JSON.stringify(row).includes('widgets'))
  assert.match(row.request_hash, /^v1\./, 'a bare hash of a body could give a short secret in it away')
  await ctx.db
    .updateTable('idempotency_keys')
    .set({ answer: `${row.answer!.slice(0, -3)}AAA` })
    .execute()
  const again = await send('k')
  assert.equal(again.status, 409)
  assert.equal(again.body.code, 'idempotency_answer_lost')
  await ctx.db
    .updateTable('idempotency_keys')
    .set({ answer: row.answer, request_hash: row.answer! })
    .execute()
  assert.equal((await send('k')).status, 422, 'another request')
  await ctx.db.updateTable('idempotency_keys').set({ request_hash: 'v1.sealed-with-another-key' }).execute()
  assert.equal((await send('k')).body.code, 'idempotency_answer_lost')
  assert.equal(workshop.made.length, 1)
})

test('an answer that cannot be kept is still given, and the failure is logged', async t => {
  const { send, ctx, workshop, logged } = await open(t)
  workshop.work = async () => {
    await sql`alter table idempotency_keys rename to elsewhere`.execute(ctx.db)
  }
  const { status } = await send('k')
  await sql`alter table elsewhere rename to idempotency_keys`.execute(ctx.db)
  assert.equal(status, 201)
  assert.match(logged(), /the answer to an idempotent request could not be kept/)
})

test('making and rotating an API key are done once for each key, and answered alike', async t => {
  const { call, send, tokens } = await open(t)
  const base = '/api/v1/users/alice/api_keys'
  const token = await tokens.tenant('acme', { sub: 'alice' })
  const made = await send('make', { token, body: { description: 'CI' } }, base)
  const madeAgain = await send('make', { token, body: { description: 'CI' } }, base)
  assert.equal(madeAgain.text, made.text)
  assert.equal(madeAgain.headers.get('location'), made.headers.get('location'))
  assert.equal(madeAgain.headers.get('cache-control'), 'no-store')
  const rotate = `${made.headers.get('location')}/rotate`
  const rotated = await send('rotate', { token, body: {} }, rotate)
  const rotatedAgain = await send('rotate', { token, body: {} }, rotate)
  assert.equal(rotated.status, 201)
  assert.equal(rotatedAgain.text, rotated.text)
  assert.equal((await call('GET', base, { token })).body.data.length, 2)
})

test('the API’s description names the header on every route that honours it', async t => {
  const { app } = await setup(t)
  const { paths } = app.swagger() as unknown as {
    paths: Record<string, { post: { parameters: { name: string; in: string; required?: boolean }[] } }>
  }
  for (const route of ['', '/{key_id}/rotate']) {
    const { parameters } = paths[`/api/v1/users/{user_id}/api_keys${route}`]!.post
    const header = parameters.find(({ name }) => name === 'Idempotency-Key')
    assert.equal(header?.in, 'header')
    assert.ok(!header?.required)
  }
})

test('a route for strangers cannot ask for idempotency keys', async t => {
  const { ctx } = await setup(t)
  const app = fastify()
  t.after(() => app.close())
  installIdempotency(app, { ...ctx, seal: sealFor('a test', 'x'.repeat(32)) })
  assert.throws(
    () => app.post('/open', { config: { guard: 'public', idempotent: true } }, async () => ({})),
    /strangers have no idempotency keys/,
  )
})
