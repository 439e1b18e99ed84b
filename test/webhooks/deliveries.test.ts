// The outbox and the sending of webhooks: what is told to whom, and what becomes of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { beginPush, recordReceipt } from '../../src/features/billing/invoice-store.ts'
import type { SagaKind } from '../../src/features/sagas/index.ts'
import { createDeliveryWorker, deliverDue } from '../../src/features/webhooks/delivery-worker.ts'
import { countPending, forgetWebhookEvents } from '../../src/features/webhooks/index.ts'
import { createWebhookSender } from '../../src/integrations/webhooks/index.ts'
import { encryptionFor } from '../../src/kernel/crypto.ts'
import { haveInvoice, ingest } from '../support/billing.ts'
import { csv, row } from '../support/csv.ts'
import { accept, desire, drifts, droplet, loseAll, sweepDrift } from '../support/drift.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { deployment, move } from '../support/factories.ts'
import { ended, kindOf, run, start, step } from '../support/sagas.ts'
import { anotherWorker, type Bundle, setup } from '../support/setup.ts'
import { haveProject, rowOf, see } from '../support/sweep.ts'
import {
  allowPrivate,
  deliveries,
  hooks,
  type Received,
  receiver,
  verified,
  webhook,
} from '../support/webhook-receiver.ts'

const env = allowPrivate
const typesOf = (received: Received[]) => received.map(({ body }) => body.type).sort()

/** Rounds until nothing is due. */
async function deliverAll({ ctx }: Bundle): Promise<void> {
  while ((await deliverDue(ctx)) > 0);
}

async function tested({ call }: Bundle, id: string) {
  const { status, body, text } = await call('POST', `${hooks}/${id}/test`)
  assert.equal(status, 202, text)
  return body.data
}

const shown = async ({ call }: Bundle, id: string, delivery: string) =>
  (await call('GET', `${hooks}/${id}/deliveries/${delivery}`)).body.data

test('a move of a deployment is told in its own transaction, signed, to those who want it and see its tenant', async t => {
  const bundle = await setup(t, { env })
  const { call, ctx, clock } = bundle
  const shop = await deployment(bundle, 'acme')
  await move(bundle, shop.id, 'paused')
  const outbox = () => ctx.db.selectFrom('webhook_events').selectAll().execute()
  assert.deepEqual(await outbox(), [], 'nobody listens, nothing is kept')

  const it = await receiver(t)
  const all = await webhook(bundle, { url: `${it.url}?all` })
  const wanting = [
    await webhook(bundle, { url: it.url, events: ['deployment.*'], tenant_id: 'acme' }),
    await webhook(bundle, { url: it.url, events: ['drift.*', 'deployment.transitioned'] }),
  ]
  const indifferent = [
    await webhook(bundle, { url: it.url, events: ['drift.*', 'resource.*', 'saga.*', 'invoice.*'] }),
    await webhook(bundle, { url: it.url, tenant_id: 'globex' }),
    await webhook(bundle, { url: it.url, enabled: false }),
  ]
  clock.advance(60_000)
  const moved = await call('POST', `/api/v1/deployments/${shop.id}/transition`, {
    body: { state: 'active', reason: 'paid' },
  })
  const { event, ...moving } = moved.body.data
  assert.equal(
    (await call('POST', `/api/v1/deployments/${shop.id}/transition`, { body: { state: 'trial' } })).status,
    422,
  )
  const told = await outbox()
  assert.deepEqual(
    told.map(({ type, tenant_id, occurred_at }) => [type, tenant_id, occurred_at]),
    [['deployment.transitioned', 'acme', clock.now().toISOString()]],
  )
  assert.equal(await deliverDue(ctx), 3)
  assert.equal(await deliverDue(ctx), 0)
  for (const { id } of indifferent) assert.deepEqual(await deliveries(bundle, id), [])
  for (const { id } of [all, ...wanting]) {
    const [delivery, ...more] = await deliveries(bundle, id)
    assert.deepEqual([delivery.status, delivery.attempt_count, more], ['delivered', 1, []])
    assert.equal(delivery.event_id, told[0]!.id)
  }
  const message = it.received[0]!
  const { deployment: shownNow, ...rest } = message.body.data
  assert.deepEqual(
    [message.body.type, message.body.timestamp, message.headers['webhook-id'], rest],
    ['deployment.transitioned', clock.now().toISOString(), told[0]!.id, { tenant_id: 'acme', event }],
  )
  assert.deepEqual(shownNow, (await call('GET', `/api/v1/deployments?slug=${shop.slug}`)).body.data[0])
  assert.equal(shownNow.state, moving.state)
  const signed = [all, ...wanting].map(
    ({ secret }) => it.received.filter(received => verified(received, secret, clock.now())).length,
  )
  assert.deepEqual(signed, [1, 1, 1], 'each by the secret of its own webhook')
  assert.equal(await webhookMetric(bundle, 'delivered'), 3)
})

const webhookMetric = async ({ ctx }: Bundle, outcome: string) =>
  (await ctx.metrics.webhookDeliveries.get()).values.find(({ labels }) => labels.outcome === outcome)?.value

test('resources, drift and invoices are told as they are, each kind by its name', async t => {
  const bundle = await setup(t, { env })
  const { ctx, call, clock } = bundle
  const it = await receiver(t)
  const { id } = await webhook(bundle, { url: it.url })
  const acme = await webhook(bundle, { url: it.url, events: ['resource.*'], tenant_id: 'acme' })
  await haveProject(bundle, 'acme', 'acme', [['droplet', '1']])
  const attrs = (memory: number) => ({ provider_id: '1', name: 'web', attrs: { memory } })
  await see(bundle, 'droplet', [attrs(1024), { provider_id: '2' }])
  const resource = await droplet(bundle, attrs(2048))
  await desire(bundle, resource, { memory: 512 })
  await sweepDrift(bundle)
  await sweepDrift(bundle)
  const [open] = await drifts(bundle)
  assert.equal((await accept(bundle, open.id)).status, 200)
  await droplet(bundle, attrs(1))
  await sweepDrift(bundle)
  await droplet(bundle, attrs(2048))
  await sweepDrift(bundle)
  await loseAll(bundle, 'droplet')
  await droplet(bundle, attrs(2048))

  const invoice = await haveInvoice(bundle)
  const bad = () => ingest(bundle, invoice, 'nonsense').catch(() => {})
  await bad()
  await bad()
  await ingest(bundle, invoice, csv([row()]))
  const push = (await beginPush(ctx.db, invoice.id))!
  await recordReceipt(ctx.db, push, { id: 'f-1', action: 'created' }, clock.now().toISOString())

  const told = (await deliveries(bundle, id)).map((each: { event_type: string }) => each.event_type)
  const counted = Object.fromEntries(
    [...new Set<string>(told)].sort().map(type => [type, told.filter((one: string) => one === type).length]),
  )
  assert.deepEqual(counted, {
    'drift.accepted': 1,
    'drift.opened': 2,
    'drift.stale': 1,
    'invoice.ingest_failed': 1,
    'invoice.ingested': 1,
    'invoice.pushed': 1,
    'resource.deleted': 2,
    'resource.discovered': 2,
    'resource.drift_detected': 2,
    'resource.missing': 2,
    'resource.restored': 1,
    'resource.updated': 3,
  })
  // The other droplet, which comes, is missed and goes, is nobody's.
  assert.equal(
    (await deliveries(bundle, acme.id)).length,
    told.filter((type: string) => type.startsWith('resource.')).length - 3,
  )
  await deliverAll(bundle)
  const find = (type: string) => it.received.filter(({ body }) => body.type === type).at(-1)!.body
  const restored = find('resource.restored').data
  const live = (await call('GET', `/api/v1/inventory/${resource}`, { token: await bundle.tokens.admin() }))
    .body.data
  const { events, desired_state, drift, ...item } = live
  assert.deepEqual(restored, { tenant_id: 'acme', resource: item, event: events.at(-1) })
  const apiRow = async (path: string) =>
    (await call('GET', path, { token: await bundle.tokens.admin() })).body.data
  assert.deepEqual(find('drift.accepted').data, {
    tenant_id: 'acme',
    deployment_id: null,
    drift: await apiRow(`/api/v1/drift/${open.id}`),
  })
  const { file, ...pushed } = await apiRow(`/api/v1/billing/invoices/${invoice.id}`)
  assert.deepEqual(find('invoice.pushed').data, { tenant_id: null, invoice: pushed })
  assert.deepEqual([pushed.finance_status, file], ['pushed', null])
  assert.match(find('invoice.ingest_failed').data.invoice.ingest_error, /./)
})

test(
  'a worker sends what is due by itself: the end of every saga, whichever it is',
  onPostgresAlone,
  async t => {
    const failing = step('fails', [], { execute: async () => ({ ok: false, reason: 'no' }) })
    let shop = ''
    const ofTheShop = (kind: SagaKind): SagaKind => ({
      ...kind,
      prepare: async (_tx, { key }) => ({ businessKey: String(key), deploymentId: shop, tenantId: 'acme' }),
    })
    const kinds = [
      kindOf('good', [step('a', []), step('b', [])]),
      kindOf('bad', [step('a', []), failing]),
      kindOf('old', [step('a', [])]),
    ].map(ofTheShop)
    const bundle = await setup(t, { env, sagaKinds: () => kinds })
    const { ctx } = bundle
    shop = (await deployment(bundle, 'acme')).id
    const it = await receiver(t)
    const { secret } = await webhook(bundle, { url: it.url, events: ['saga.*'] })
    // Nobody knows its step for a day: such a run is failed.
    const old = await start(bundle, 'old')
    await ctx.db
      .updateTable('saga_runs')
      .set({ step_modules: ['removed_since'] })
      .execute()
    await anotherWorker(t, bundle)
    await eventually('it is left alone', async () => bundle.logged().includes('knows its steps'))
    await sql`update saga_runs set unknown_since = unknown_since - interval '25 hours'`.execute(ctx.db)
    const ends = {
      'saga.failed': await ended(bundle, old.id),
      'saga.completed': await run(bundle, 'good'),
      'saga.rolled_back': await run(bundle, 'bad'),
    }
    await eventually('all three are told', async () => it.received.length >= 3)
    assert.deepEqual(typesOf(it.received), Object.keys(ends).sort())
    for (const received of it.received) {
      const { type, data } = received.body
      const { steps, actor, cancel_requested_by, ...saga } = ends[type as keyof typeof ends]
      assert.equal(type, `saga.${saga.status}`)
      assert.deepEqual(data, { tenant_id: 'acme', deployment_id: shop, saga })
      assert.ok(verified(received, secret, bundle.clock.now()))
    }
  },
)

test('what is not taken is tried again, later each time, then given up, and can be replayed under its id', async t => {
  const bundle = await setup(t, { env })
  const { call, ctx, clock } = bundle
  const it = await receiver(t)
  const { id } = await webhook(bundle, { url: it.url })
  const { id: deliveryId, ...queued } = await tested(bundle, id)
  assert.deepEqual(
    [queued.status, queued.attempt_count, queued.next_attempt_at, queued.attempts],
    ['pending', 0, null, []],
  )
  assert.deepEqual(queued.event.data, { tenant_id: null, webhook_id: id })
  const token = await bundle.tokens.admin({ exp: Date.parse('2027-01-01') / 1000 })
  const show = async () => (await call('GET', `${hooks}/${id}/deliveries/${deliveryId}`, { token })).body.data
  it.answer = 500
  let due = clock.now().getTime()
  for (let attempt = 1; attempt <= 10; attempt++) {
    assert.equal(await deliverDue(ctx), 1)
    assert.equal(await deliverDue(ctx), 0, 'not before its time')
    const delivery = await show()
    assert.deepEqual([delivery.attempt_count, delivery.attempts.length], [attempt, attempt])
    if (attempt === 10) break
    assert.equal(delivery.status, 'pending')
    const next = Date.parse(delivery.next_attempt_at)
    assert.ok(next > due, delivery.next_attempt_at)
    due = next
    clock.set(new Date(next - 1).toISOString())
    assert.equal(await deliverDue(ctx), 0)
    clock.set(delivery.next_attempt_at)
  }
  const failed = await show()
  assert.deepEqual(
    [failed.status, failed.finished_at, failed.next_attempt_at],
    ['failed', clock.now().toISOString(), null],
  )
  const { duration_ms, ...attempt } = failed.attempts[9]
  const started_at = clock.now().toISOString()
  assert.deepEqual(attempt, {
    number: 10,
    started_at,
    status_code: 500,
    error: null,
    response_body: 'so be it',
  })
  assert.ok(duration_ms >= 0)
  clock.advance(30 * 86_400_000)
  assert.equal(await deliverDue(ctx), 0)

  it.answer = 204
  const replay = await call('POST', `${hooks}/${id}/deliveries/${deliveryId}/replay`, { token })
  assert.equal(replay.status, 202, replay.text)
  const again = replay.body.data
  assert.equal(replay.headers.get('location'), `${hooks}/${id}/deliveries/${again.id}`)
  assert.deepEqual([again.status, again.event_id, again.event], ['pending', failed.event_id, failed.event])
  assert.equal(await deliverDue(ctx), 1)
  assert.equal(new Set(it.received.map(({ headers }) => headers['webhook-id'])).size, 1)
  assert.equal(new Set(it.received.map(({ text }) => text)).size, 1, 'the same text each time')
  const listed = async (query: string) =>
    (await call('GET', `${hooks}/${id}/deliveries${query}`, { token })).body.data.map(
      (one: { id: string }) => one.id,
    )
  assert.deepEqual(await listed(''), [again.id, deliveryId])
  assert.deepEqual(await listed('?status=delivered'), [again.id])
  assert.deepEqual(await listed('?status=failed'), [deliveryId])
  assert.deepEqual(await listed('?status=pending'), [])
  const first = await call('GET', `${hooks}/${id}/deliveries?limit=1`, { token })
  const rest = await call('GET', `${hooks}/${id}/deliveries?cursor=${first.body.next_cursor}`, { token })
  assert.deepEqual(
    [first, rest].map(({ body }) => body.data[0].id),
    [again.id, deliveryId],
  )
  assert.deepEqual([await webhookMetric(bundle, 'retried'), await webhookMetric(bundle, 'failed')], [9, 1])
})

test('410 switches the webhook off; nothing is sent or asked for until it is on again', async t => {
  const bundle = await setup(t, { env })
  const { call, ctx, clock } = bundle
  const it = await receiver(t)
  const { id } = await webhook(bundle, { url: it.url })
  const path = `${hooks}/${id}`
  it.answer = 500
  const waiting = await tested(bundle, id)
  await deliverDue(ctx)
  it.answer = 410
  const { id: last } = await tested(bundle, id)
  assert.equal(await deliverDue(ctx), 1)
  const delivery = await shown(bundle, id, last)
  assert.deepEqual([delivery.status, delivery.attempt_count], ['failed', 1])
  const off = (await call('GET', path)).body.data
  assert.deepEqual(
    [off.enabled, off.disabled_reason],
    [false, 'The receiver answered 410: it wants nothing any more.'],
  )
  for (const ask of [`${path}/test`, `${path}/deliveries/${last}/replay`]) {
    const { status, body } = await call('POST', ask)
    assert.deepEqual([status, body.code], [409, 'webhook_disabled'])
  }
  clock.advance(10_000)
  assert.equal(await deliverDue(ctx), 0)
  it.answer = 200
  const on = (await call('PATCH', path, { body: { enabled: true } })).body.data
  assert.deepEqual([on.enabled, on.disabled_reason], [true, null])
  assert.equal(await deliverDue(ctx), 1)
  assert.equal((await shown(bundle, id, waiting.id)).status, 'delivered')
})

test('a claim that was lost is taken over when it runs out, and a stopping process lets go of what it has', async t => {
  const bundle = await setup(t, { env })
  const { ctx, clock } = bundle
  const it = await receiver(t)
  const { id } = await webhook(bundle, { url: it.url })
  const { id: delivery } = await tested(bundle, id)
  const stopping = new AbortController()
  const leaving = { ...ctx, jobs: { ...ctx.jobs, ending: stopping.signal } }
  it.answer = () => stopping.abort(new Error('stopping'))
  await deliverDue(leaving)
  const { status, attempt_count, attempts } = await shown(bundle, id, delivery)
  assert.deepEqual([status, attempt_count, attempts], ['pending', 0, []])

  // It dies between the sending and the writing.
  it.answer = 200
  const dying = { ...ctx.webhookSender, send: () => new Promise<never>(() => {}) }
  assert.equal((await createDeliveryWorker({ ...ctx, webhookSender: dying }).takeDue()).length, 1)
  assert.equal((await shown(bundle, id, delivery)).next_attempt_at, null)
  clock.advance(59_999)
  assert.equal(await deliverDue(ctx), 0)
  clock.advance(1)
  const late = Promise.withResolvers<void>()
  const slow = {
    ...ctx.webhookSender,
    send: async () => {
      await late.promise
      return { status_code: 500, error: null, response_body: null, duration_ms: 1 }
    },
  }
  const [outrun] = await createDeliveryWorker({ ...ctx, webhookSender: slow }).takeDue()
  clock.advance(60_000)
  assert.equal(await deliverDue(ctx), 1)
  late.resolve()
  await outrun
  const done = await shown(bundle, id, delivery)
  assert.deepEqual([done.status, done.attempt_count, done.attempts.length], ['delivered', 3, 1])
  assert.match(bundle.logged(), /taken over meanwhile/)
})

test('one slow receiver holds up a few deliveries, not those of others', async t => {
  const bundle = await setup(t, { env })
  const { ctx } = bundle
  const shop = await deployment(bundle)
  const listen = (url: string) => webhook(bundle, { url: `http://127.0.0.1:1/${url}` })
  const slow = await listen('slow')
  await move(bundle, shop.id, 'paused', 'active', 'paused', 'active', 'paused', 'active')
  const quick = await listen('quick')
  await move(bundle, shop.id, 'paused')
  const gate = Promise.withResolvers<void>()
  const urls: string[] = []
  const send = async ({ url }: { url: string }) => {
    urls.push(url)
    await gate.promise
    return { status_code: 200, error: null, response_body: null, duration_ms: 1 }
  }
  const worker = createDeliveryWorker({ ...ctx, webhookSender: { ...ctx.webhookSender, send } })
  const first = await worker.takeDue()
  assert.deepEqual(urls.sort(), [quick.url, slow.url, slow.url, slow.url, slow.url])
  assert.deepEqual(await worker.takeDue(), [], 'there is more, but no room')
  gate.resolve()
  await Promise.all(first)
  for (const left of [3, 0]) {
    const more = await worker.takeDue()
    await Promise.all(more)
    assert.equal(more.length, left)
  }
  for (let more = 3; more <= 11; more++) await listen(`${more}`)
  await move(bundle, shop.id, 'active', 'paused', 'active', 'paused')
  const full = await worker.takeDue()
  assert.equal(full.length, 40, 'and of all no more than forty')
  await Promise.all(full)
  assert.equal((await worker.takeDue()).length, 4)
})

test('a tenant with many slow receivers gets a few places, and what others wait for goes before its next', async t => {
  const bundle = await setup(t, { env })
  const { ctx } = bundle
  const [slow, quick] = [await deployment(bundle, 'slow'), await deployment(bundle, 'quick')]
  const listen = async (tenant_id: string) => {
    const url = `http://127.0.0.1:1/${tenant_id}`
    const body = { url, events: ['deployment.*'], tenant_id }
    const made = await bundle.call('POST', '/api/v1/webhooks', { body })
    assert.equal(made.status, 201, made.text)
  }
  for (let hook = 0; hook < 10; hook++) await listen('slow')
  await listen('quick')
  const platform = await webhook(bundle, { url: 'http://127.0.0.1:1/platform' })
  await move(bundle, slow.id, 'paused', 'active', 'paused', 'active', 'paused')
  await move(bundle, quick.id, 'paused', 'active')
  let gate = Promise.withResolvers<void>()
  let urls: string[] = []
  const send = async ({ url }: { url: string }) => {
    urls.push(url)
    await gate.promise
    return { status_code: 200, error: null, response_body: null, duration_ms: 1 }
  }
  const worker = createDeliveryWorker({ ...ctx, webhookSender: { ...ctx.webhookSender, send } })
  const count = () =>
    ['slow', 'quick', 'platform'].map(name => urls.filter(url => url.endsWith(`/${name}`)).length)
  const first = await worker.takeDue()
  assert.deepEqual([count(), platform.tenant_id], [[6, 2, 4], null])
  await move(bundle, quick.id, 'paused')
  urls = []
  const second = await worker.takeDue()
  assert.deepEqual(count(), [0, 1, 0], 'the slow ones are still under way')
  gate.resolve()
  await Promise.all([...first, ...second])
  gate = Promise.withResolvers()
  gate.resolve()
  urls = []
  for (let taken = 1; taken > 0; ) {
    const more = await worker.takeDue()
    await Promise.all(more)
    taken = more.length
  }
  assert.deepEqual(count(), [44, 0, 4])
})

test('a tenant’s webhook is told of its own times alone: no other’s, no invoice, nothing from before, no operator’s words', async t => {
  const failing = step('fails', [], {
    execute: async () => ({ ok: false, reason: 'the account 4711 is full' }),
  })
  const kind: SagaKind = {
    ...kindOf('bad', [failing]),
    prepare: async (_tx, { key }) => ({
      businessKey: String(key),
      deploymentId: null,
      tenantId: String(key),
    }),
  }
  const bundle = await setup(t, { env, sagaKinds: () => [kind], worker: true })
  const { call, ctx, clock } = bundle
  const it = await receiver(t)
  await haveProject(bundle, 'theirs', 'acme', [['droplet', '1']])
  const own = async (tenant_id: string) => {
    const body = { url: `${it.url}?${tenant_id}`, events: ['*'], tenant_id }
    return (await call('POST', '/api/v1/webhooks', { body })).body.data.id as string
  }
  const [acme, globex] = [await own('acme'), await own('globex')]
  const platform = await webhook(bundle, { url: it.url })
  const told = async (id: string, at = '/api/v1/webhooks') => {
    const { body } = await call('GET', `${at}/${id}/deliveries`)
    return body.data.map((each: { event_type: string }) => each.event_type).reverse()
  }
  const attrs = (memory: number) => [{ provider_id: '1', name: 'acme-web', attrs: { memory } }]
  await see(bundle, 'droplet', attrs(1024))
  const { id: resource } = await rowOf(bundle, 'droplet', '1')
  await desire(bundle, resource, { memory: 512 })
  await sweepDrift(bundle)
  const mine = ['resource.discovered', 'drift.opened', 'resource.drift_detected']
  assert.deepEqual((await told(acme)).sort(), mine.sort())

  clock.advance(60_000)
  const { id: project } = await ctx.db.selectFrom('cloud_projects').select('id').executeTakeFirstOrThrow()
  await call('PATCH', `/api/v1/projects/${project}`, { body: { tenant_id: 'globex' } })
  clock.advance(60_000)
  // What acme wanted of it drifts further, and no more: neither is globex's.
  await see(bundle, 'droplet', attrs(2048))
  await sweepDrift(bundle)
  await see(bundle, 'droplet', attrs(512))
  await sweepDrift(bundle)
  assert.deepEqual((await told(acme)).sort(), mine)
  assert.deepEqual(await told(globex), ['resource.updated', 'resource.updated', 'resource.updated'])

  const bad = await run(bundle, 'bad', { key: 'globex' })
  await ingest(bundle, await haveInvoice(bundle), csv([row()]))
  await eventually('the end of the saga is told', async () => (await told(globex)).length === 4)
  await eventually('everything is sent', async () => (await countPending(ctx.db)) === 0)
  assert.ok((await told(platform.id, hooks)).includes('invoice.ingested'))

  const sentTo = (tenant: string) => it.received.filter(({ url }) => url.endsWith(`?${tenant}`))
  const [handover] = sentTo('globex').toSorted((a, b) => (a.body.timestamp < b.body.timestamp ? -1 : 1))
  const { changes } = handover!.body.data.event
  assert.deepEqual(changes.tenant_id, { before: null, after: 'globex' })
  assert.ok(Object.values<{ before: unknown }>(changes).every(({ before }) => before === null))
  for (const { text } of sentTo('globex')) assert.doesNotMatch(text, /"acme"|4711/)
  for (const { text } of sentTo('acme')) assert.doesNotMatch(text, /globex/)
  const saga = sentTo('globex').find(({ body }) => body.type === 'saga.rolled_back')!.body.data.saga
  assert.deepEqual(saga.error, { ...bad.error, reason: 'The operator of the platform can see why.' })
  const platforms = it.received.filter(({ url }) => !url.includes('?'))
  assert.ok(platforms.some(({ text }) => text.includes('4711')))

  // The log of deliveries shows what was sent, and a replay sends it once more.
  const at = `/api/v1/webhooks/${globex}/deliveries`
  const { body: log } = await call('GET', at)
  const [last, ...earlier] = log.data
  const shownLast = (await call('GET', `${at}/${last.id}`)).body.data
  assert.deepEqual(shownLast.event.data.saga, saga)
  const shownFirst = (await call('GET', `${at}/${earlier.at(-1).id}`)).body.data
  assert.deepEqual(shownFirst.event, handover!.body)
})

test('a secret that can no longer be read, and a receiver that is private now, are said in the attempt', async t => {
  const bundle = await setup(t, { env })
  const { ctx } = bundle
  const it = await receiver(t)
  const { id } = await webhook(bundle, { url: it.url })
  const { id: delivery } = await tested(bundle, id)
  await deliverDue({ ...ctx, webhookEncryption: encryptionFor('webhook secrets', ['another key']) })
  bundle.clock.advance(10_000)
  await deliverDue({ ...ctx, webhookSender: createWebhookSender({ allowPrivate: false }) })
  const { attempts } = await shown(bundle, id, delivery)
  assert.match(attempts[0].error, /SECRET_KEY has changed/)
  assert.equal(attempts[1].error, 'the address must be an https:// address')
  assert.equal(it.received.length, 0)
})

test('housekeeping forgets events after 30 days, but not those that are still to be sent', async t => {
  const bundle = await setup(t, { env })
  const { ctx, clock } = bundle
  const it = await receiver(t)
  const [kept, off] = [await webhook(bundle, { url: it.url }), await webhook(bundle, { url: it.url })]
  await tested(bundle, kept.id)
  await deliverDue(ctx)
  const pending = await tested(bundle, kept.id)
  await tested(bundle, off.id)
  await bundle.call('PATCH', `${hooks}/${off.id}`, { body: { enabled: false } })
  const forget = forgetWebhookEvents(ctx)
  assert.equal(forget.what, 'webhook events older than 30 days')
  clock.advance(30 * 86_400_000)
  assert.equal(await forget.run(), 0)
  clock.advance(1)
  assert.equal(await forget.run(), 2)
  const left = await ctx.db.selectFrom('webhook_deliveries').select('id').execute()
  assert.deepEqual(left, [{ id: pending.id }])
})
