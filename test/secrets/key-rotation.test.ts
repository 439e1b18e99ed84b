// A rotation of SECRET_KEY from its beginning to its end, seen by those who use what is encrypted under it.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { SANDBOX_TOKEN } from '../../sandbox/provider/server.ts'
import { buildApp } from '../../src/app.ts'
import { type Context, createContext } from '../../src/context.ts'
import { encryptedTables } from '../../src/encrypted-tables.ts'
import { recordBalance } from '../../src/features/billing/index.ts'
import { checkBackend } from '../../src/features/storage-backends/check-backend.ts'
import { deliverDue } from '../../src/features/webhooks/delivery-worker.ts'
import { reencryptTable } from '../../src/kernel/crypto-rotation.ts'
import { lasting } from '../support/lasting.ts'
import type { Bundle } from '../support/setup.ts'
import { type Places, setupPlaces } from '../support/storage.ts'
import { jobPart } from '../support/sweep.ts'
import { allowPrivate, hooks, receiver, verified, webhook } from '../support/webhook-receiver.ts'

const OLD = 'older-key-of-this-test-6f1d0c9a83b2'
const NEW = 'newer-key-of-this-test-b72e5d14f0c8'
const OWN_TOKEN = 'dop_v1_of_cloud_billing'
const secretOf = (name: string) => `/api/v1/admin/secrets/${name}`

const setupOld = (t: TestContext) =>
  setupPlaces(t, {
    keys: false,
    env: { SECRET_KEY: OLD, ...allowPrivate },
    provider: { token: [SANDBOX_TOKEN, OWN_TOKEN] },
  })

/** Another process on the same database, with these keys. */
async function restarted(t: TestContext, { ctx }: Places, SECRET_KEY: string[]) {
  const { engine, clock, log, storage } = ctx
  const config = { ...ctx.config, SECRET_KEY }
  const context = await createContext({ config, worker: false, engine, clock, log, storage })
  const app = await buildApp(context)
  const { after: undo } = lasting(t)
  undo(() => context.providers.close())
  undo(() => context.webhookSender.close())
  undo(() => context.jobs.stop(1_000))
  undo(() => app.close())
  return { context, app, url: await app.listen({ host: '127.0.0.1', port: 0 }) }
}

const reencrypt = async ({ db }: Context, keys: string[]) => {
  const done = []
  for (const table of encryptedTables(keys)) done.push(await reencryptTable(db, table, { atATime: 2 }))
  return Object.fromEntries(done.map(({ table, ...counts }) => [table, counts]))
}

/** Everything that is encrypted, used the way it is meant to be. */
async function uses(bundle: Bundle, context: Context, url: string, made: Awaited<ReturnType<typeof stored>>) {
  const { sandbox, clock, tokens } = bundle
  sandbox.requests.splice(0)
  await recordBalance(context).run({ ...jobPart(), id: 'run', attempt: 1 })
  const token = sandbox.requests.splice(0).map(request => request.token)

  made.hook.received.splice(0)
  await fetch(`${url}${hooks}/${made.webhook.id}/test`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await tokens.admin()}` },
  })
  await deliverDue(context)
  const signed = made.hook.received.map(message => [
    verified(message, made.webhook.secret, clock.now()),
    verified(message, made.newSecret, clock.now()),
  ])
  const bucket = await checkBackend(context, made.backendId)
  const replayed = await made.keyed(url)
  const session = await fetch(`${url}/api/v1/session`, { headers: { cookie: made.cookie } })
  return { token, signed, bucket: bucket.ok, replayed, session: session.status }
}

const ALL = { token: [OWN_TOKEN], signed: [[true, true]], bucket: true, replayed: [201, 'true', true] }

/** Values under the key that the bundle has. */
async function stored(t: TestContext, bundle: Places) {
  const { call, tokens, url, s3, have } = bundle
  const body = { value: OWN_TOKEN }
  assert.equal((await call('PUT', secretOf('provider_token/cloud_billing'), { body })).status, 201)
  for (const name of ['smtp', 'pager', 'chat'])
    assert.equal((await call('PUT', secretOf(name), { body: { value: `${name} value` } })).status, 201)
  const hook = await receiver(t)
  const made = await webhook(bundle, { url: hook.url })
  // Two secrets sign for a day after a rotation.
  const rotated = await call('POST', `${hooks}/${made.id}/rotate-secret`)
  assert.equal(rotated.status, 200, rotated.text)
  const backendId = await have(s3)
  const token = await tokens.admin()
  const keyed = async (at: string) => {
    const answer = await fetch(`${at}/api/v1/users/carl/api_keys`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': 'the-one-key',
      },
      body: JSON.stringify({ description: 'ci', tenant_id: 'acme' }),
    })
    const text = await answer.text()
    return [answer.status, answer.headers.get('idempotency-replayed'), text === first] as unknown[]
  }
  let first = ''
  const answer = await call('POST', '/api/v1/users/carl/api_keys', {
    token,
    headers: { 'idempotency-key': 'the-one-key' },
    body: { description: 'ci', tenant_id: 'acme' },
  })
  assert.equal(answer.status, 201, answer.text)
  first = answer.text
  const session = await fetch(`${url}/api/v1/session`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  const cookie = session.headers.getSetCookie()[0]!.split(';')[0]!
  return { webhook: made, newSecret: rotated.body.data.secret, hook, backendId, keyed, cookie }
}

test('SECRET_KEY is rotated without anything lost: new,old, then reencrypt, then new alone', async t => {
  const bundle = await setupOld(t)
  const made = await stored(t, bundle)

  const during = await restarted(t, bundle, [NEW, OLD])
  assert.deepEqual(await uses(bundle, during.context, during.url, made), { ...ALL, session: 200 })
  const newCookie = await fetch(`${during.url}/api/v1/session`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await bundle.tokens.admin()}` },
  }).then(answer => answer.headers.getSetCookie()[0]!.split(';')[0]!)

  const done = await reencrypt(during.context, [NEW, OLD])
  const none = { current: 0, unreadable: 0, left: 0 }
  assert.deepEqual(done.secrets, { ...none, renewed: 4 })
  assert.deepEqual(done.webhooks, { ...none, renewed: 2 })
  assert.deepEqual(done.storage_backends, { ...none, renewed: 1 })
  assert.deepEqual(done.sessions, { ...none, renewed: 1, current: 1 })
  assert.deepEqual(done.idempotency_keys, { ...none, renewed: 2 })
  const again = await reencrypt(during.context, [NEW, OLD])
  assert.deepEqual(
    Object.values(again).map(({ renewed, current }) => [renewed, current]),
    [
      [0, 4],
      [0, 2],
      [0, 1],
      [0, 2],
      [0, 2],
    ],
  )

  const after = await restarted(t, bundle, [NEW])
  const { session, ...rest } = await uses(bundle, after.context, after.url, made)
  assert.deepEqual(rest, ALL)
  assert.equal(session, 401, 'a cookie that the old key signed ends with that key')
  const kept = await fetch(`${after.url}/api/v1/session`, { headers: { cookie: newCookie } })
  assert.equal(kept.status, 200)
  const listed = await fetch(`${after.url}/api/v1/admin/secrets`, {
    headers: { authorization: `Bearer ${await bundle.tokens.admin()}` },
  }).then(
    answer => answer.json() as Promise<{ data: { name: string; readable: boolean; fingerprint: string }[] }>,
  )
  for (const { name, readable, fingerprint } of listed.data) {
    assert.equal(readable, true, name)
    const value = name.startsWith('provider_token/') ? OWN_TOKEN : `${name} value`
    assert.equal(fingerprint, after.context.vault.fingerprint(value), name)
  }
})

test('every column that holds encrypted values is known to reencrypt', async t => {
  const bundle = await setupOld(t)
  await stored(t, bundle)
  const { rows: columns } = await sql<{ table: string; column: string }>`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = 'public' and data_type in ('text', 'jsonb', 'json', 'bytea', 'character varying')`.execute(
    bundle.ctx.db,
  )
  const known = new Set(
    encryptedTables([OLD]).flatMap(({ table, columns }) => columns.map(column => `${table}.${column}`)),
  )
  const found: string[] = []
  for (const { table, column } of columns) {
    const { rows } = await sql<{ some: boolean }>`
      select exists (select from ${sql.table(table)} where ${sql.ref(column)}::text ~ 'v1\.[A-Za-z0-9_-]{59,}') as some`.execute(
      bundle.ctx.db,
    )
    if (rows[0]?.some) found.push(`${table}.${column}`)
  }
  assert.deepEqual(found.sort(), [...known].sort())
})

test('values of a key that is not listed are counted, and left as they are', async t => {
  const bundle = await setupOld(t)
  await stored(t, bundle)
  const before = await bundle.ctx.db.selectFrom('secrets').selectAll().orderBy('name').execute()
  const done = await reencrypt(bundle.ctx, [NEW])
  assert.deepEqual(
    Object.values(done).map(({ renewed, unreadable }) => [renewed, unreadable]),
    [
      [0, 4],
      [0, 2],
      [0, 1],
      [0, 1],
      [0, 2],
    ],
  )
  assert.deepEqual(await bundle.ctx.db.selectFrom('secrets').selectAll().orderBy('name').execute(), before)
})
