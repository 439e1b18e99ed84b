import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fastify, { type FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { encryptionFor } from '../../src/kernel/crypto.ts'
import { conflict } from '../../src/kernel/errors.ts'
import { installIdempotency } from '../../src/kernel/http/idempotency.ts'
import { sendProblem } from '../../src/kernel/http/problems.ts'
import { needsPostgres } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { type Bundle, type CallOptions, setup } from '../support/setup.ts'

const path = '/api/v1/widgets'

interface Workshop {
  /** Bodies the handler was run with. */
  made: unknown[]
  /** What the handler does after it has begun. */
  work: () => Promise<void> | void
}

/** Routes that make widgets; the first two honour the header. */
function widgets(app: FastifyInstance, workshop: Workshop): void {
  const make = async (request: { body: unknown }) => {
    const number = workshop.made.push(request.body)
    await workshop.work()
    return { data: { number } }
  }
  const body = Type.Unsafe({})
  const schema = { body, response: {} }
  app.post(path, { config: { guard: 'caller' }, schema }, async (request, reply) => {
    const made = await make(request)
    reply.code(201).header('location', `${path}/${made.data.number}`).header('cache-control', 'no-store')
    return made
  })
  app.post(`${path}/none`, { config: { guard: 'caller' } }, async (request, reply) => {
    await make(request)
    reply.code(204)
    return null
  })
  app.put(path, { config: { guard: 'caller' } }, make)
  app.post(`${path}/plain`, { config: { guard: 'caller', storesNothing: true } }, make)
}

async function open(t: TestContext, options = {}) {
  const workshop: Workshop = { made: [], work: () => {} }
  let requests = 0
  const bundle = await setup(t, {
    ...options,
    extend: app => {
      app.addHook('onRequest', async () => void requests++)
      widgets(app, workshop)
    },
  })
  const send = (key: string, options: CallOptions = {}, to = path) =>
    bundle.call('POST', to, { body: { a: 1 }, ...options, headers: { 'idempotency-key': key } })
  return { ...bundle, workshop, send, arrived: () => requests }
}

const rows = async ({ ctx }: Bundle) =>
  (await sql<{ n: number }>`select count(*)::int as n from idempotency_keys`.execute(ctx.db)).rows[0]!.n

/** Lets the kept keys grow older. */
const age = ({ db }: Bundle['ctx'], seconds: number) =>
  sql`update idempotency_keys set started_at = started_at - make_interval(secs => ${seconds})`.execute(db)

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

test('without the header, and on routes that are no POST or write nothing, every request is done', async t => {
  const { call, send, workshop, ...bundle } = await open(t)
  await call('POST', path, { body: {} })
  await call('POST', path, { body: {} })
  await send('k', {}, `${path}/plain`)
  await send('k', {}, `${path}/plain`)
  await call('PUT', path, { body: {}, headers: { 'idempotency-key': 'k' } })
  await call('PUT', path, { body: {}, headers: { 'idempotency-key': 'k' } })
  assert.equal(workshop.made.length, 6)
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

test('a duplicate that comes while the first is at work waits and gets its answer; another request is refused', async t => {
  const { send, workshop, arrived } = await open(t)
  const { closed, open: release } = gate()
  workshop.work = closed
  const first = send('k')
  await eventually('the first is at work', async () => workshop.made.length === 1)
  const second = send('k')
  const other = send('k', { body: { a: 2 } })
  await eventually('the others are there', async () => arrived() === 3)
  release()
  const [one, two] = await Promise.all([first, second])
  assert.equal(two.text, one.text)
  assert.equal(two.headers.get('idempotency-replayed'), 'true')
  assert.equal((await other).body.code, 'idempotency_key_reused')
  assert.equal(workshop.made.length, 1)
})

/** An app whose requests do not wait long for each other. */
async function hurried(t: TestContext) {
  const { ctx } = await setup(t)
  const app = fastify()
  t.after(() => app.close())
  app.setErrorHandler(sendProblem)
  app.decorateRequest('caller', undefined)
  app.addHook('onRequest', async request => {
    const credential = { via: 'token', credentialId: 'jti-1', expiresAt: null, operator: false } as const
    request.caller = {
      sub: 'ada',
      tenantId: 'acme',
      roles: [],
      platformAdmin: false,
      limits: [],
      ...credential,
    }
  })
  installIdempotency(app, { db: ctx.db, encryption: encryptionFor('a test', ['x'.repeat(32)]), waitMs: 30 })
  const workshop: Workshop = { made: [], work: () => {} }
  widgets(app, workshop)
  const send = (body: object = {}) =>
    app.inject({ method: 'POST', url: path, headers: { 'idempotency-key': 'k' }, body })
  return { ctx, workshop, send }
}

// The embedded engine has one connection: there a duplicate waits for that, not for the key.
test('a duplicate that has waited long enough is told 409 and when to ask again', needsPostgres, async t => {
  const { workshop, send } = await hurried(t)
  const { closed, open: release } = gate()
  workshop.work = closed
  // Lets the request leave: inject() begins when it is awaited.
  const answered = send().then(reply => reply.statusCode)
  await eventually('the first is at work', async () => workshop.made.length === 1)
  const second = await send()
  assert.equal(second.statusCode, 409)
  assert.equal(second.json().code, 'idempotency_in_progress')
  assert.equal(second.headers['retry-after'], '1')
  release()
  assert.equal(await answered, 201)
  assert.equal((await send()).headers['idempotency-replayed'], 'true')
})

test(
  'who finds at the end that another has answered undoes what was done and gives that answer',
  needsPostgres,
  async t => {
    const { send, ctx, workshop } = await open(t)
    const first = await send('k')
    const row = await ctx.db.selectFrom('idempotency_keys').selectAll().executeTakeFirstOrThrow()
    for (const end of [() => {}, () => Promise.reject(conflict('widget_taken', 'There is one already.'))]) {
      await ctx.db.deleteFrom('idempotency_keys').execute()
      workshop.work = async () => {
        // As a node of an older release would, which takes no lock.
        await ctx.db.insertInto('idempotency_keys').values(row).execute()
        await end()
      }
      const second = await send('k')
      assert.deepEqual([second.status, second.text], [201, first.text])
      assert.equal(second.headers.get('idempotency-replayed'), 'true')
    }
    assert.equal(workshop.made.length, 3)
  },
)

test('what a process of an older release has begun is waited for, and done anew after a minute', async t => {
  const { ctx, workshop, send } = await hurried(t)
  assert.equal((await send()).statusCode, 201)
  await ctx.db
    .updateTable('idempotency_keys')
    .set({ finished_at: null, status: null, answer: null })
    .execute()
  assert.equal((await send()).json().code, 'idempotency_in_progress')
  assert.equal((await send({ a: 2 })).json().code, 'idempotency_key_reused')
  assert.equal(workshop.made.length, 1)
  await age(ctx, 60)
  const anew = await send()
  assert.deepEqual([anew.json().data.number, anew.headers['idempotency-replayed']], [2, undefined])
  assert.equal((await send()).json().data.number, 2)
})

test('a key lives for 24 hours of the database’s clock, whatever that of the node says', async t => {
  const { send, clock, workshop, ctx } = await open(t)
  await send('k')
  clock.set('2031-01-01T00:00:00Z')
  await age(ctx, 24 * 3_600 - 60)
  assert.equal((await send('k')).headers.get('idempotency-replayed'), 'true')
  clock.set('2021-01-01T00:00:00Z')
  await age(ctx, 60)
  const fresh = await send('k', { body: { a: 2 } })
  assert.equal(fresh.status, 201)
  assert.equal(fresh.headers.get('idempotency-replayed'), null)
  assert.equal((await send('k', { body: { a: 2 } })).headers.get('idempotency-replayed'), 'true')
  assert.equal(workshop.made.length, 2)
})

test('housekeeping forgets keys past their day and keeps the others', async t => {
  const bundle = await open(t, { worker: true })
  const { call, send, ctx } = bundle
  await send('old')
  await age(ctx, 23 * 3_600)
  await send('young')
  await age(ctx, 3_600)
  const run = await call('POST', '/api/v1/admin/scheduled_tasks/housekeeping/run', { body: {} })
  await eventually('housekeeping is done', async () => {
    const { body } = await call('GET', run.headers.get('location')!)
    return body.data.status === 'completed'
  })
  const { rows: left } = await sql<{ key: string }>`
    select key from idempotency_keys where key in ('old', 'young')`.execute(bundle.ctx.db)
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

/** Lets the keys of some answers be refused by the database while the work is done. */
async function whereKeysMust<T>({ db }: Bundle['ctx'], rule: string, work: () => Promise<T>): Promise<T> {
  await sql`alter table idempotency_keys add constraint a_rule check (${sql.raw(rule)})`.execute(db)
  try {
    return await work()
  } finally {
    await sql`alter table idempotency_keys drop constraint a_rule`.execute(db)
  }
}

test('a refusal that cannot be kept is still given, and the failure is logged', async t => {
  const { send, ctx, workshop, logged } = await open(t)
  workshop.work = () => {
    throw conflict('widget_taken', 'There is one already.')
  }
  const refused = await whereKeysMust(ctx, 'status < 400', () => send('k'))
  assert.equal(refused.body.code, 'widget_taken')
  assert.match(logged(), /the answer to an idempotent request could not be kept/)
})

test('what was done is undone when its answer cannot be kept, and nothing is said of it', async t => {
  const { call, ctx } = await setup(t)
  const body = { tenant_id: 'acme', slug: 'shop' }
  const create = () => call('POST', '/api/v1/deployments', { body, headers: { 'idempotency-key': 'k' } })
  const { status, headers } = await whereKeysMust(ctx, 'status >= 400', create)
  assert.deepEqual([status, headers.get('location')], [422, null])
  assert.deepEqual((await call('GET', '/api/v1/deployments')).body.data, [])
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

test('the API’s description names the header on every POST that writes', async t => {
  const { app } = await setup(t)
  const { paths } = app.swagger() as unknown as {
    paths: Record<
      string,
      { post?: { operationId: string; parameters?: { name: string; in: string; required?: boolean }[] } }
    >
  }
  const without: string[] = []
  for (const { post } of Object.values(paths)) {
    if (!post) continue
    const header = post.parameters?.find(({ name }) => name === 'Idempotency-Key')
    if (header) assert.deepEqual([header.in, header.required ?? false], ['header', false])
    else without.push(post.operationId)
  }
  assert.deepEqual(without.sort(), ['backtestCatalog', 'checkStorageBackend', 'startSession'])
})

test('strangers have no keys', async t => {
  let done = 0
  const { call } = await setup(t, {
    extend: app => void app.post('/open', { config: { guard: 'public' } }, async () => ({ data: ++done })),
  })
  const send = () => call('POST', '/open', { token: null, headers: { 'idempotency-key': 'k' } })
  assert.deepEqual([(await send()).status, (await send()).body.data], [200, 2])
})
