// Webhooks that are sent, deleted and switched off by several at once. On PostgreSQL alone: PGlite runs one statement at a
// time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDeliveryWorker } from '../../src/features/webhooks/delivery-worker.ts'
import { deleteWebhook } from '../../src/features/webhooks/store.ts'
import { within } from '../../src/kernel/time.ts'
import { needsPostgres } from '../support/engine.ts'
import { deployment, move } from '../support/factories.ts'
import { setup } from '../support/setup.ts'
import { allowPrivate, hooks, receiver, webhook } from '../support/webhook-receiver.ts'

const env = { ...allowPrivate, RATE_LIMIT_PER_MINUTE: '0' }

test(
  'of many who take a tenant’s last places at once no more get one than there are',
  needsPostgres,
  async t => {
    const { call, tokens } = await setup(t, { env })
    const token = await tokens.tenant('acme')
    const body = { url: 'http://127.0.0.1:1/', events: ['*'] }
    const statuses = await Promise.all(
      Array.from(
        { length: 25 },
        async () => (await call('POST', '/api/v1/webhooks', { token, body })).status,
      ),
    )
    assert.equal(statuses.filter(status => status === 201).length, 10)
    assert.equal(statuses.filter(status => status === 409).length, 15)
  },
)

test(
  'several workers send what is due once each, and no one more of a webhook than its share',
  needsPostgres,
  async t => {
    const bundle = await setup(t, { env })
    const { ctx } = bundle
    const it = await receiver(t)
    const made = await Promise.all([1, 2, 3].map(() => webhook(bundle, { url: it.url })))
    const shop = await deployment(bundle)
    for (let round = 0; round < 15; round++) await move(bundle, shop.id, 'paused', 'active')
    const work = async () => {
      const worker = createDeliveryWorker(ctx)
      for (let idle = 0; idle < 3; ) {
        const sent = await worker.takeDue()
        idle = sent.length === 0 ? idle + 1 : 0
        await Promise.all(sent)
      }
    }
    await Promise.all(Array.from({ length: 5 }, work))
    const rows = await ctx.db.selectFrom('webhook_deliveries').selectAll().execute()
    assert.equal(rows.length, 30 * made.length)
    for (const { status, attempts } of rows) assert.deepEqual([status, attempts], ['delivered', 1])
    assert.equal(it.received.length, rows.length)
  },
)

test(
  'nothing that happens fails over a webhook that is deleted or switched off beside it',
  needsPostgres,
  async t => {
    const bundle = await setup(t, { env })
    const { call, ctx } = bundle
    const shops = await Promise.all(Array.from({ length: 4 }, () => deployment(bundle)))
    for (let round = 0; round < 20; round++) {
      const made = await Promise.all([1, 2].map(() => webhook(bundle, { url: 'http://127.0.0.1:1/' })))
      const statuses = await Promise.all([
        ...shops.map(shop => move(bundle, shop.id, round % 2 === 0 ? 'paused' : 'active').then(() => 200)),
        call('PATCH', `${hooks}/${made[0]!.id}`, { body: { enabled: false } }).then(({ status }) => status),
        ...made.map(({ id }) => call('DELETE', `${hooks}/${id}`).then(({ status }) => status)),
      ])
      assert.deepEqual(statuses.slice(0, 4), [200, 200, 200, 200])
      assert.deepEqual(statuses.slice(5), [204, 204])
    }
    const left = await ctx.db.selectFrom('webhook_deliveries').select('id').execute()
    assert.deepEqual(left, [])
  },
)

test(
  'what happens while a webhook is being deleted neither waits for that nor tells it',
  needsPostgres,
  async t => {
    const bundle = await setup(t, { env })
    const { ctx } = bundle
    const shop = await deployment(bundle)
    const [going, staying] = await Promise.all(
      [1, 2].map(() => webhook(bundle, { url: 'http://127.0.0.1:1/' })),
    )
    await ctx.db.transaction().execute(async tx => {
      await deleteWebhook(tx, 'platform', going.id)
      await within(5_000, 'it waits for the webhook', move(bundle, shop.id, 'paused'))
    })
    const told = await ctx.db.selectFrom('webhook_deliveries').select('webhook_id').execute()
    assert.deepEqual(told, [{ webhook_id: staying.id }])
  },
)
