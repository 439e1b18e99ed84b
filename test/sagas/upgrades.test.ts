// Two versions side by side: each takes what it knows, and leaves the rest to the other.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { buildApp } from '../../src/app.ts'
import { billingHandlers } from '../../src/features/billing/index.ts'
import { inventoryHandlers } from '../../src/features/inventory/index.ts'
import { type SagaKind, sagaHandlers } from '../../src/features/sagas/index.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { handle, type JobType } from '../../src/kernel/queue/queues.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { ended, type Journal, kindOf, show, start, statuses, step } from '../support/sagas.ts'
import { anotherNode, anotherWorker, type Bundle, caller, setup } from '../support/setup.ts'

test(
  'a run with a step that this version does not know waits for one that does, and is taken by it',
  onPostgresAlone,
  async t => {
    const journal: Journal = []
    const [a, b] = [step('a', journal), step('b', journal)]
    const kinds = [kindOf('grown', [a])]
    const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
    const known = await start(bundle, 'grown')
    const grown = await start({ ...bundle, ...(await newer(t, bundle, [kindOf('grown', [a, b])])) }, 'grown')
    const other = await start({ ...bundle, ...(await newer(t, bundle, [kindOf('other', [b])])) }, 'other')
    assert.equal((await ended(bundle, known.id)).status, 'completed')
    for (const { id } of [grown, other]) {
      await eventually('it is left alone', async () =>
        bundle.logged().includes(`"saga_id":"${id}","msg":"saga left to`),
      )
      const left = await show(bundle, id)
      assert.deepEqual([left.status, left.steps, left.error], ['pending', [], null])
    }
    assert.deepEqual(journal, ['execute a'])

    await anotherWorker(t, bundle, { kinds: [kindOf('grown', [a, b]), kindOf('other', [b])] })
    for (const { id } of [grown, other]) assert.equal((await ended(bundle, id)).status, 'completed')
    assert.equal((await bundle.call('GET', '/api/v1/admin/dead_letters')).body.data.length, 0)
  },
)

test(
  'a run with a step that nobody has known for a day is failed, and says which',
  onPostgresAlone,
  async t => {
    const journal: Journal = []
    const kinds = [kindOf('old', [step('a', journal), step('b', journal)])]
    const bundle = await setup(t, { sagaKinds: () => kinds })
    const { db } = bundle.ctx
    const { id } = await start(bundle, 'old')
    await db
      .updateTable('saga_runs')
      .set({ step_modules: ['a', 'removed_since'] })
      .execute()
    await anotherWorker(t, bundle)
    await eventually('it is left alone', async () => bundle.logged().includes('knows its steps'))
    await sql`update saga_runs set unknown_since = unknown_since - interval '25 hours'`.execute(db)
    const ran = await ended(bundle, id)
    assert.equal(ran.status, 'failed')
    assert.deepEqual(ran.error, {
      step_idx: 1,
      step: 'removed_since',
      reason: 'no running version of the service has known the step removed_since of old for a day',
    })
    assert.deepEqual([journal, statuses(ran)], [[], ['failed']])
  },
)

const Payload = Type.Object({ n: Type.Integer() })
const future = (name: string, ownQueue?: boolean): JobType<typeof Payload> => ({
  name,
  queue: 'cloud_billing',
  payload: Payload,
  ownQueue,
})

test(
  'a job that this version does not know is put back as if it had not been taken, until one comes that knows it',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { worker: true })
    const { ctx } = bundle
    const attempts: number[] = []
    const type = future('made_of_tomorrow')
    await ctx.jobs.send(ctx.db, type, { n: 1 }, { key: 'a' })
    await eventually('it is put back', async () =>
      bundle.logged().includes('job left to a version that knows it'),
    )
    assert.equal(await ctx.jobs.send(ctx.db, type, { n: 1 }, { key: 'a' }), null, 'it keeps its key')
    assert.deepEqual(await stateOf(bundle, 'made_of_tomorrow'), ['created', 0, 'cloud_billing'])

    // Both would ask for it, and which comes first is chance.
    await ctx.jobs.stop(5_000)
    await sql`update pgboss.job set start_after = now() where state = 'created'`.execute(ctx.db)
    const tomorrow = await anotherNode(t, bundle)
    await tomorrow.jobs.work([handle(type, async (_payload, run) => void attempts.push(run.attempt))])
    await eventually('it has run', async () => attempts.length > 0)
    assert.deepEqual(attempts, [1])
    assert.deepEqual((await bundle.call('GET', '/api/v1/admin/dead_letters')).body.data, [])
  },
)

test(
  'a job that nobody has known for a day is told as a dead letter, and can be retried when somebody does',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { worker: true })
    const { ctx } = bundle
    await ctx.jobs.send(ctx.db, future('made_of_yesterday'), { n: 1 }, { key: 'a' })
    await eventually('it is put back', async () =>
      bundle.logged().includes('job left to a version that knows it'),
    )
    const aged = JSON.stringify({ unknown_since: '2026-01-01T00:00:00Z' })
    const [letter] = await eventually('it is told', async () => {
      // Each time: the worker may still be putting it back.
      await sql`update pgboss.job set output = ${aged}::jsonb, start_after = now()
        where data->>'job' = 'made_of_yesterday' and state < 'active'`.execute(ctx.db)
      const { body } = await bundle.call('GET', '/api/v1/admin/dead_letters')
      return body.data.length > 0 && body.data
    })
    assert.equal(letter.queue, 'cloud_billing')
    assert.equal(
      letter.error,
      'no running version of the service has known a job named made_of_yesterday for a day',
    )
    assert.equal((await bundle.call('POST', `/api/v1/admin/dead_letters/${letter.id}/retry`)).status, 204)
  },
)

test('a type with a queue of its own is run from there, listed under its queue when it fails, and never seen by who does not know it', async t => {
  const bundle = await setup(t, { worker: true })
  const { ctx } = bundle
  const type = { ...future('apart', true), queue: 'provisioning' as const }
  await ctx.jobs.declare([type])
  await transaction(ctx.db, tx => ctx.jobs.send(tx, type, { n: 1 }, { key: 'a' }))
  assert.deepEqual(await stateOf(bundle, 'apart'), ['created', 0, 'provisioning/apart'])
  const knowing = await anotherNode(t, bundle)
  await knowing.jobs.work([handle(type, () => Promise.reject(new Error('no')))])
  const [letter] = await eventually('it has failed for good', async () => {
    const { body } = await bundle.call('GET', '/api/v1/admin/dead_letters')
    return body.data.length > 0 && body.data
  })
  assert.deepEqual([letter.queue, letter.job, letter.attempts], ['provisioning', 'apart', 1])
})

test('what is new since the previous release lies in queues of its own, where that release does not look', async t => {
  const { ctx } = await setup(t)
  const known = new Set([
    'sync_kind',
    'sync_projects',
    'refresh_resource',
    'saga_run',
    'ingest_invoice',
    'push_invoice',
    'rematch_lines',
  ])
  const tasks = new Set([
    ...['balance', 'resource_sync', 'drift_detection', 'finance_push', 'metering', 'billing_history'],
    ...['saga_rescue', 'audit_seal', 'subscription_periods', 'housekeeping'],
  ])
  const handlers = [...inventoryHandlers(ctx), ...sagaHandlers(ctx, ctx.sagaKinds), ...billingHandlers(ctx)]
  for (const { type } of handlers) assert.equal(type.ownQueue ?? false, !known.has(type.name), type.name)
  const { rows } = await sql<{ name: string; own_queue: boolean }>`
    select name, own_queue from scheduled_tasks`.execute(ctx.db)
  for (const { name, own_queue } of rows) assert.equal(own_queue, !tasks.has(name), name)
})

async function stateOf({ ctx }: Bundle, job: string) {
  const { rows } = await sql<{ state: string; retry_count: number; name: string }>`
    select state::text, retry_count, name from pgboss.job where data->>'job' = ${job}`.execute(ctx.db)
  return [rows[0]?.state, rows[0]?.retry_count, rows[0]?.name]
}

/** The API of another version beside the bundle's, with these workflows. */
async function newer(
  t: TestContext,
  { ctx, tokens }: Bundle,
  kinds: SagaKind[],
): Promise<Pick<Bundle, 'call'>> {
  const app = await buildApp({ ...ctx, sagaKinds: kinds })
  t.after(() => app.close())
  return { call: caller(await app.listen({ host: '127.0.0.1', port: 0 }), tokens) }
}
