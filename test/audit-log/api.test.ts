import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { auditSeal, chainEntries } from '../../src/features/audit-log/chain-entries.ts'
import { listLinks } from '../../src/features/audit-log/store.ts'
import { verifyChain } from '../../src/features/audit-log/verify-chain.ts'
import { actAs, auditedTable, currentActor } from '../../src/kernel/audit.ts'
import { newId, timeOfId } from '../../src/kernel/ids.ts'
import { startWorker } from '../../src/worker.ts'
import { haveIngested } from '../support/billing.ts'
import { addon, deployment, plan } from '../support/factories.ts'
import { ended, kindOf, start, step } from '../support/sagas.ts'
import { type Bundle, setup } from '../support/setup.ts'

const base = '/api/v1/admin/audit_log'

interface Entry {
  id: string
  at: string
  actor: string
  actor_role: string | null
  actor_tenant_id: string | null
  request_id: string
  operation: string
  subject_type: string
  subject_id: string
  tenant_id: string | null
  action: string
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
  credential: { kind: string; id: string } | null
  address: string | null
  client_request_id: string | null
  seq: number | null
  hash: string | null
}

const list = async ({ call }: Bundle, query = ''): Promise<Entry[]> => {
  const { status, body, text } = await call('GET', `${base}?${query}`)
  assert.equal(status, 200, text)
  return body.data
}

/** What the newest entries say was done, the oldest of them first. */
const done = async (bundle: Bundle, query = '') =>
  (await list(bundle, query)).reverse().map(({ operation, subject_type, action, before, after }) => ({
    operation,
    subject_type,
    action,
    before,
    after,
  }))

test('what a caller writes is in the log: who, by which request, and what was there before and after', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const plan_code = await plan(bundle)
  const token = await tokens.tenant('acme', { sub: 'bob', jti: 'token-17' })
  const headers = { 'x-request-id': 'request-4711' }
  const made = await call('POST', '/api/v1/deployments', { token, headers, body: { slug: 'shop' } })
  const { id, created_at, ...fields } = made.body.data
  delete fields.updated_at
  const request_id = made.headers.get('x-request-id')
  const [entry] = await list(bundle, `request_id=${request_id}`)
  assert.deepEqual(await list(bundle, 'client_request_id=request-4711'), [entry])
  assert.deepEqual(await list(bundle, 'credential_id=token-17'), [entry])
  const { id: entryId, at, after, ...rest } = entry!
  assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000, at)
  assert.deepEqual({ ...after, created_at: null }, { id, ...fields, created_at: null })
  assert.equal(Date.parse(String(after?.created_at)), Date.parse(created_at))
  assert.deepEqual(rest, {
    actor: 'bob',
    actor_role: 'member',
    actor_tenant_id: 'acme',
    request_id,
    client_request_id: 'request-4711',
    credential: { kind: 'token', id: 'token-17' },
    address: '127.0.0.1',
    operation: 'createDeployment',
    subject_type: 'cloud_deployments',
    subject_id: id,
    tenant_id: 'acme',
    action: 'created',
    before: null,
    seq: null,
    hash: null,
  })
  assert.deepEqual((await call('GET', `${base}/${entryId}`)).body.data, entry)

  await call('PATCH', `/api/v1/deployments/${id}`, { token, body: { display_name: 'The shop' } })
  await call('POST', `/api/v1/deployments/${id}/subscribe`, { token, body: { plan_code } })
  await call('POST', `/api/v1/deployments/${id}/transition`, { body: { state: 'paused' } })
  const seen = await done(bundle, 'limit=5')
  assert.deepEqual(seen[0], {
    operation: 'changeDeployment',
    subject_type: 'cloud_deployments',
    action: 'updated',
    before: { display_name: 'shop' },
    after: { display_name: 'The shop' },
  })
  assert.equal(seen[1]?.operation, 'subscribeDeployment')
  assert.equal(seen[1]?.after?.deployment_id, id)
  assert.deepEqual([seen[2]?.subject_type, seen[2]?.action], ['subscription_terms', 'created'])
  const moved = { operation: 'transitionDeployment', action: 'updated' }
  assert.deepEqual(seen.slice(3), [
    { ...moved, subject_type: 'cloud_deployments', before: { state: 'active' }, after: { state: 'paused' } },
    { ...moved, subject_type: 'subscriptions', before: { status: 'active' }, after: { status: 'paused' } },
  ])
})

test('what only reads, changes nothing or fails leaves no entry', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const { id, slug } = await deployment(bundle)
  const plan_code = await plan(bundle)
  const path = `/api/v1/deployments/${id}`
  await call('POST', `${path}/subscribe`, { body: { plan_code } })
  const before = await list(bundle)
  const requests: [number, string, string, object?][] = [
    [200, 'GET', path],
    [200, 'PATCH', path, { display_name: slug }],
    [409, 'POST', '/api/v1/deployments', { tenant_id: 'acme', slug }],
    [422, 'POST', `${path}/transition`, { state: 'archived' }],
    [409, 'POST', `${path}/subscribe`, { plan_code }],
    [200, 'POST', `${path}/change-plan-version`, { plan_code, preview: true }],
    [409, 'POST', '/api/v1/catalog/plans', { code: plan_code, name: 'Again' }],
    [404, 'POST', `/api/v1/admin/dead_letters/${newId()}/retry`],
  ]
  for (const [expected, method, address, body] of requests) {
    const { status, text } = await call(method, address, { body })
    assert.equal(status, expected, text)
  }
  assert.deepEqual(await list(bundle), before)
})

test('a draft that is rewritten and deleted is told item by item, with keys of two parts', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const code = await plan(bundle)
  const path = `/api/v1/catalog/plans/${code}/versions`
  const item = { resource_kind: 'droplet', included_qty: 1, overage_unit: null, overage_price_cents: null }
  const terms = { base_price_cents: 100, currency: 'USD', items: [{ ...item, hard_cap_qty: null }] }
  const { body } = await call('POST', path, { body: terms })
  await call('PUT', `${path}/2`, { body: { ...terms, base_price_cents: 200, items: [] } })
  const [price, gone] = await done(bundle, 'limit=2')
  assert.deepEqual(price?.before, { base_price_cents: 100 })
  assert.deepEqual(gone?.before, { ...item, hard_cap_qty: null, plan_version_id: body.data.id })
  const [dropped] = await list(bundle, 'subject_type=plan_items&limit=1')
  assert.deepEqual([dropped?.action, dropped?.subject_id], ['deleted', `${body.data.id}/droplet`])
})

test('a key’s hash is in no entry, nor is the key', async t => {
  const bundle = await setup(t)
  const { call, ctx } = bundle
  const keys = '/api/v1/users/ada/api_keys'
  const { body } = await call('POST', keys, { body: { description: 'CI' } })
  await call('POST', `${keys}/${body.data.key_id}/rotate`, { body: {} })
  await call('DELETE', `${keys}/${body.data.key_id}`)
  const entries = await list(bundle, 'subject_type=api_keys')
  assert.deepEqual(
    entries.map(({ operation, action }) => `${operation} ${action}`),
    ['revokeApiKey updated', 'rotateApiKey created', 'rotateApiKey updated', 'createApiKey created'],
  )
  // Should a secret ever change by itself, that much is told.
  const ada = {
    ...{ actor: 'ada', actor_role: null, actor_tenant_id: null, request_id: 'r-1', operation: 'none' },
    ...{ client_request_id: null, credential_kind: 'token', credential_id: 'jti-1', address: '127.0.0.1' },
  }
  const table = auditedTable('api_keys', { key: ['id'], silent: ['last_used_at'], secret: ['key_hash'] })
  await actAs(ada, () =>
    table.update(
      ctx.db,
      { id: body.data.key_id },
      { key_hash: 'ab'.repeat(32), last_used_at: '2026-11-15T00:00:00.000Z' },
    ),
  )
  const [changed] = await list(bundle, 'limit=1')
  assert.deepEqual(
    [changed?.before, changed?.after],
    [{ key_hash: '(hidden)' }, { key_hash: '(hidden, changed)' }],
  )
  const told = JSON.stringify(entries)
  assert.ok(!told.includes('key_hash') && !told.includes(body.data.api_key.split('_')[2]), told)
})

test('what is asked for without changing a row is in the log as requested', async t => {
  const bundle = await setup(t, { finance: {} })
  const { call } = bundle
  const invoice = await haveIngested(bundle)
  const tasks = '/api/v1/admin/scheduled_tasks/housekeeping'
  for (const path of [
    `/api/v1/billing/invoices/${invoice}/push`,
    `/api/v1/billing/invoices/${invoice}/ingest`,
    `${tasks}/run`,
    `${tasks}/pause`,
    `${tasks}/pause`,
    `${tasks}/resume`,
  ]) {
    const { status, text } = await call('POST', path)
    assert.ok(status < 300, text)
  }
  const entries = (await list(bundle)).reverse()
  assert.deepEqual(
    entries.map(({ operation, subject_type, subject_id, action }) =>
      [operation, subject_type, action, subject_id === invoice].join(' '),
    ),
    [
      'pushInvoice cloud_invoices requested true',
      'ingestInvoice cloud_invoices requested true',
      'runTask task_runs created false',
      'pauseTask scheduled_tasks updated false',
      'resumeTask scheduled_tasks updated false',
    ],
  )
})

test('what a request sets off is done by nobody: neither steps nor the runner’s writes are the caller’s', async t => {
  const seen: unknown[] = []
  const watching = step('watch', [], {
    async execute() {
      seen.push(currentActor())
      return { ok: true, context: {}, output: {} }
    },
  })
  const bundle = await setup(t, { sagaKinds: () => [kindOf('watched', [watching])] })
  const run = await start(bundle, 'watched')
  // As if a request had woken the worker.
  const request = {
    ...{ actor: 'eve', actor_role: null, actor_tenant_id: null, request_id: 'r-1', operation: 'none' },
    ...{ client_request_id: null, credential_kind: 'token', credential_id: 'jti-1', address: '127.0.0.1' },
  }
  await actAs(request, () => startWorker(bundle.ctx))
  await ended(bundle, run.id)
  assert.deepEqual(seen, [undefined])
  const entries = await list(bundle)
  assert.deepEqual(
    entries.map(({ operation, subject_id, action }) => [operation, subject_id, action]),
    [['startSaga', run.id, 'created']],
  )
})

test('the log is filtered by who, what, whose, which request and when, and paged newest first', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const { id } = await deployment(bundle)
  const code = await addon(bundle)
  const token = await tokens.admin({ sub: 'grace' })
  const { headers } = await call('PATCH', `/api/v1/catalog/addons/${code}`, { token, body: { qty: 7 } })
  const all = await list(bundle)
  const names = async (query: string) => (await list(bundle, query)).map(({ operation }) => operation)
  assert.deepEqual(await names(''), ['changeAddon', 'createAddon', 'createDeployment'])
  assert.deepEqual(await names('actor=grace'), ['changeAddon'])
  assert.deepEqual(await names('operation=createAddon'), ['createAddon'])
  assert.deepEqual(await names('subject_type=addons'), ['changeAddon', 'createAddon'])
  assert.deepEqual(await names(`subject_id=${id}`), ['createDeployment'])
  assert.deepEqual(await names('tenant_id=acme'), ['createDeployment'])
  assert.deepEqual(await names(`request_id=${headers.get('x-request-id')}`), ['changeAddon'])
  // A span of time is a span of ids: an entry made while the clock ticked is in the moment that it shows.
  for (const { id, at } of all) assert.equal(Date.parse(at), timeOfId(id))
  const middle = encodeURIComponent(all[1]!.at)
  assert.ok((await names(`since=${middle}`)).includes('createAddon'))
  assert.ok(!(await names(`until=${middle}`)).includes('createAddon'))
  assert.deepEqual(await names('until=1970-01-01T00:00:00Z'), [])
  const first = await call('GET', `${base}?limit=2`)
  const second = await call('GET', `${base}?limit=2&cursor=${first.body.next_cursor}`)
  assert.deepEqual([...first.body.data, ...second.body.data], all)
  assert.equal(second.body.next_cursor, null)
})

test('sealed entries form a chain that is verified whole, batch by batch, and the task seals', async t => {
  const bundle = await setup(t)
  const { call, ctx } = bundle
  const verify = async () => (await call('GET', `${base}/verify`)).body.data
  const none = { unkeyed: 0, checkpoints: 0, published: null }
  const nothing = { intact: true, entries: 0, head: null, ...none, broken_at: null, reason: null }
  assert.deepEqual(await verify(), nothing)
  for (let i = 0; i < 5; i++) await deployment(bundle)
  assert.equal(await chainEntries(ctx, { atATime: 2 }), 5)
  assert.equal(await chainEntries(ctx), 0)
  const [newest] = await list(bundle)
  assert.equal(newest?.seq, 5)
  const head = { seq: 5, hash: newest?.hash }
  assert.deepEqual(await verifyChain(ctx, { atATime: 2 }), { ...nothing, entries: 5, head, checkpoints: 3 })
  await deployment(bundle)
  await auditSeal(ctx).run({ log: ctx.log } as never)
  assert.equal((await list(bundle, 'limit=1'))[0]?.seq, 6)
  const after = await verify()
  assert.deepEqual([after.intact, after.entries, after.head.seq], [true, 6, 6])
  // One whose transaction was committed long after newer ones were sealed.
  await sql`
    insert into audit_log select '00000000-0001-7000-8000-000000000000', at, actor, actor_role, actor_tenant_id, request_id,
      operation, subject_type, subject_id, tenant_id, action, before, after from audit_log limit 1`.execute(
    ctx.db,
  )
  assert.equal(await chainEntries(ctx), 0)
  const late = await verify()
  assert.deepEqual([late.intact, late.entries], [true, 7])
})

test('whoever changes, drops or cuts out entries behind the database’s back is found out', async t => {
  const bundle = await setup(t)
  const { ctx } = bundle
  for (let i = 0; i < 4; i++) await deployment(bundle)
  await chainEntries(ctx)
  /** A replica's session fires no triggers. */
  const behind = (...statements: string[]) =>
    ctx.engine.session(session =>
      session.transaction(tx =>
        tx.script(`set local session_replication_role = replica; ${statements.join(';')}`),
      ),
    )
  const verdict = async () => {
    const { intact, entries, broken_at, reason } = await verifyChain(ctx)
    return [intact, entries, broken_at, reason]
  }
  const first = 'select entry_id from audit_seals where seq = 1'
  const second = 'select entry_id from audit_seals where seq = 2'
  const changed = 'the entry or the link before it was changed'
  await behind(`update audit_log set actor = 'eve' where id = (${second})`)
  assert.deepEqual(await verdict(), [false, 1, 2, changed])
  await behind(`update audit_log set actor = 'ada' where id = (${second})`)
  assert.deepEqual(await verdict(), [true, 4, null, null])
  await behind(`delete from audit_log where id = (${second})`)
  assert.deepEqual(await verdict(), [false, 1, 2, 'the entry is missing'])
  await behind('delete from audit_seals where seq = 2')
  assert.deepEqual(await verdict(), [false, 1, 2, 'the link is missing'])
  await behind('update audit_seals set seq = seq - 1 where seq > 2')
  assert.deepEqual(await verdict(), [false, 1, 2, changed])
  // Cut off at the end, the chain is whole: a checkpoint tells, and a head that was noted.
  await behind('delete from audit_seals where seq > 1', `delete from audit_log where id <> (${first})`)
  assert.deepEqual(await verdict(), [false, 1, 4, 'the chain ends before checkpoint 1'])
  await behind('delete from audit_checkpoints')
  assert.deepEqual(await verdict(), [false, 1, 1, 'the checkpoint of the link is missing'])
  const noted = async (head: string) => {
    const { status } = await bundle.call('GET', `${base}/verify?head=${head}`)
    return status
  }
  assert.equal(await noted('4'), 422)
  const fresh = await setup(t)
  await deployment(fresh)
  await chainEntries(fresh.ctx)
  const of = async (head: string) => {
    const { intact, broken_at, reason } = (await fresh.call('GET', `${base}/verify?head=${head}`)).body.data
    return [intact, broken_at, reason]
  }
  const [standing] = await list(fresh)
  assert.deepEqual(await of(`1:${standing?.hash}`), [true, null, null])
  assert.deepEqual(await of(`1:${'0'.repeat(64)}`), [false, 1, 'the link is not the one that was noted'])
  assert.deepEqual(await of(`4:${standing?.hash}`), [false, 4, 'the chain ends before the noted link'])
})

test('the log and its chain cannot be changed, and are for a platform_admin alone', async t => {
  const bundle = await setup(t)
  const { call, ctx, tokens } = bundle
  await deployment(bundle)
  await chainEntries(ctx)
  for (const statement of [
    'update audit_log set actor = null',
    'delete from audit_log',
    'truncate audit_log cascade',
    "update audit_seals set hash = repeat('0', 64)",
    'delete from audit_seals',
    'truncate audit_seals',
  ])
    await assert.rejects(sql.raw(statement).execute(ctx.db), /append-only/, statement)
  const token = await tokens.tenant('acme')
  for (const path of ['', '/verify', `/${newId()}`])
    assert.equal((await call('GET', base + path, { token })).status, 403, path)
  assert.equal((await call('GET', `${base}/${newId()}`)).status, 404)
})

test('the text that hashes are made of is frozen, byte for byte, with and without a credential', async t => {
  const { ctx } = await setup(t)
  const entry = {
    id: '01a1e201-2f87-7c21-9735-06028c38cf13',
    at: '2026-11-15T12:00:00.120Z',
    actor: 'ada',
    actor_role: null,
    actor_tenant_id: 'acme',
    request_id: 'r-1',
    operation: 'updateThing',
    subject_type: 'things',
    subject_id: 'a/b',
    tenant_id: null,
    action: 'updated' as const,
    before: { n: 1, list: [1, 2] },
    after: { n: 2.5, text: 'ä "quoted"' },
  }
  const origin = { credential_kind: 'token' as const, credential_id: 'c-1', address: '::1' }
  const second = { ...entry, id: '01a1e201-2f87-7c21-9735-06028c38cf14', before: null, ...origin }
  for (const row of [entry, second])
    await ctx.db
      .insertInto('audit_log')
      .values(row as never)
      .execute()
  await chainEntries(ctx, { thorough: true })
  const links = await listLinks(ctx.db, 0, 10, 10)
  const first = (id: string, before: string) =>
    `{"id" : "01a1e201-2f87-7c21-9735-06028c38cf${id}", "at" : "2026-11-15T12:00:00.120Z", "actor" : "ada", ` +
    '"actor_role" : null, "actor_tenant_id" : "acme", "request_id" : "r-1", "operation" : "updateThing", ' +
    '"subject_type" : "things", "subject_id" : "a/b", "tenant_id" : null, "action" : "updated", ' +
    `"before" : ${before}, "after" : {"n": 2.5, "text": "ä \\"quoted\\""}`
  assert.deepEqual(
    links.map(({ text }) => text),
    [
      `${first('13', '{"n": 1, "list": [1, 2]}')}}`,
      `${first('14', 'null')},"credential" : {"kind" : "token", "id" : "c-1"}, "address" : "::1", "client_request_id" : null}`,
    ],
  )
})
