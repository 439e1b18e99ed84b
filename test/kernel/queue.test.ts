import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { billingHandlers } from '../../src/features/billing/index.ts'
import { inventoryHandlers } from '../../src/features/inventory/index.ts'
import { sagaHandlers } from '../../src/features/sagas/index.ts'
import { taskHandlers, upsertTasks } from '../../src/features/scheduled-tasks/index.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { unreachedQueue, type WorkerLife } from '../../src/kernel/queue/jobs.ts'
import {
  handle,
  type JobRun,
  type JobType,
  QUEUE_NAMES,
  QUEUES,
  type Task,
} from '../../src/kernel/queue/queues.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { type Bundle, setup } from '../support/setup.ts'

const Payload = Type.Object({ n: Type.Integer() })
const probe = (queue: JobType['queue'] = 'cloud_sync_fast'): JobType<typeof Payload> => ({
  name: 'probe',
  queue,
  payload: Payload,
})

type Gate = PromiseWithResolvers<void>

/** Makes retries follow at once, so that a test need not wait for the backoff. */
const hurry = ({ ctx }: Bundle) =>
  sql`update pgboss.job set start_after = now() - interval '1 hour' where state = 'retry'`.execute(ctx.db)

test('the six queues of the specification exist, others only for a type of job within one, and only provisioning never retries', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{
    name: string
    retry_limit: number
    retry_backoff: boolean
    dead_letter: string
  }>`
    select name, retry_limit, retry_backoff, dead_letter from pgboss.queue where name not like '%pgboss%' and name <> 'dead_letters'`.execute(
    ctx.db,
  )
  assert.deepEqual(rows.map(row => row.name).sort(), [
    'cloud_billing',
    'cloud_billing/task.cost_estimate',
    'cloud_sync_fast',
    'cloud_sync_fast/follow_actions',
    'cloud_sync_fast/task.leak_cleanup',
    'cloud_sync_full',
    'cloud_sync_slow',
    'cloud_sync_slow/task.size_sync',
    'metering',
    'metering/advance_test_clock',
    'metering/look_at_budget',
    'metering/task.budgets',
    'metering/task.findings',
    'metering/task.unusual_days',
    'provisioning',
  ])
  for (const row of rows) {
    assert.equal(row.retry_limit === 0, row.name === 'provisioning', row.name)
    assert.equal(row.retry_backoff, row.name !== 'provisioning', row.name)
    assert.equal(row.dead_letter, 'dead_letters')
  }
})

test('every job goes to the queue that the specification gives it', async t => {
  const { ctx } = await setup(t)
  const handlers = [...inventoryHandlers(ctx), ...sagaHandlers(ctx, ctx.sagaKinds), ...billingHandlers(ctx)]
  const queues = new Map(handlers.map(({ type }) => [type.name, type.queue]))
  for (const [name, queue] of Object.entries({
    sync_kind: 'cloud_sync_full',
    sync_projects: 'cloud_sync_slow',
    refresh_resource: 'cloud_sync_fast',
    follow_actions: 'cloud_sync_fast',
    saga_run: 'provisioning',
    ingest_invoice: 'cloud_billing',
    push_invoice: 'cloud_billing',
  }))
    assert.equal(queues.get(name), queue, name)
})

test('the first send to every queue works inside a transaction', async t => {
  const { ctx } = await setup(t)
  for (const queue of QUEUE_NAMES) {
    const id = await transaction(ctx.db, tx => ctx.jobs.send(tx, probe(queue), { n: 1 }, { key: 'first' }))
    assert.ok(id, queue)
  }
})

test('a job sent in a transaction that rolls back is never run', async t => {
  const bundle = await setup(t, { worker: false })
  const { db, jobs } = bundle.ctx
  await assert.rejects(
    transaction(db, async tx => {
      await jobs.send(tx, probe(), { n: 1 }, { key: 'a' })
      throw new Error('changed my mind')
    }),
  )
  const { rows } = await sql<{
    count: number
  }>`select count(*)::int as count from pgboss.job where name = 'cloud_sync_fast'`.execute(db)
  assert.equal(rows[0]?.count, 0)
})

test('of jobs with one key at most one is queued or running', async t => {
  const { ctx } = await setup(t)
  const send = (key: string) => ctx.jobs.send(ctx.db, probe(), { n: 1 }, { key })
  assert.ok(await send('a'))
  assert.equal(await send('a'), null)
  assert.ok(await send('b'))
  const many = ['a', 'b', 'c', 'c', 'd'].map(key => ({ payload: { n: 1 }, key }))
  await transaction(ctx.db, tx => ctx.jobs.sendAll(tx, probe(), many))
  const { rows } = await sql<{ key: string }>`
    select singleton_key as key from pgboss.job where name = 'cloud_sync_fast' order by key`.execute(ctx.db)
  assert.deepEqual(
    rows.map(row => row.key),
    ['probe:a', 'probe:b', 'probe:c', 'probe:d'],
  )
})

test('each queue runs as many jobs at a time as it is allowed, and no more', async t => {
  const { ctx } = await setup(t, { worker: false })
  let running = 0
  let most = 0
  let finished = 0
  const gate = Promise.withResolvers<void>()
  const type = probe('cloud_sync_fast')
  const { concurrency } = QUEUES.cloud_sync_fast
  for (let n = 0; n < concurrency + 3; n++) await ctx.jobs.send(ctx.db, type, { n }, { key: String(n) })
  await ctx.jobs.work([
    handle(type, async () => {
      running++
      most = Math.max(most, running)
      if (running === concurrency) gate.resolve()
      await gate.promise
      running--
      finished++
    }),
  ])
  await eventually('all jobs are done', async () => finished === concurrency + 3)
  assert.equal(most, concurrency)
})

test(
  'a failing job is tried again, then kept as a dead letter that an operator can see and retry',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { ctx, call } = bundle
    const attempts: number[] = []
    let mended = false
    const type = probe('metering')
    await ctx.jobs.send(ctx.db, type, { n: 7 }, { key: 'x' })
    await ctx.jobs.work([
      handle(type, async (_payload: unknown, run: JobRun) => {
        attempts.push(run.attempt)
        if (!mended)
          throw Object.assign(new Error('the moon is in the way'), { detail: 'row-value-that-stays-private' })
      }),
    ])
    const letters = await eventually('the dead letter appears', async () => {
      await hurry(bundle)
      const { body } = await call('GET', '/api/v1/admin/dead_letters')
      return body.data.length > 0 && body.data
    })
    assert.deepEqual(attempts, [1, 2, 3, 4])
    assert.equal(letters.length, 1)
    assert.equal(letters[0].queue, 'metering')
    assert.equal(letters[0].job, 'probe')
    assert.deepEqual(letters[0].payload, { n: 7 })
    assert.equal(letters[0].error, 'the moon is in the way')
    assert.equal(letters[0].attempts, 4)
    const { rows } = await sql<{
      text: string
    }>`select output::text || coalesce(source_output::text, '') as text from pgboss.job`.execute(ctx.db)
    assert.ok(rows.every(row => !row.text?.includes('row-value-that-stays-private')))

    mended = true
    assert.equal((await call('POST', `/api/v1/admin/dead_letters/${letters[0].id}/retry`)).status, 204)
    await eventually('it runs once more', async () => attempts.length === 5)
    assert.deepEqual((await call('GET', '/api/v1/admin/dead_letters')).body.data, [])
    assert.equal((await call('POST', `/api/v1/admin/dead_letters/${letters[0].id}/retry`)).status, 404)
  },
)

test(
  'a job that meets trouble of the database again and again is not given up for it',
  onPostgresAlone,
  async t => {
    const { ctx } = await setup(t)
    const type = probe()
    let runs = 0
    await ctx.jobs.work([
      handle(type, async () => {
        if (++runs <= QUEUES.cloud_sync_fast.retryLimit + 1)
          throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
      }),
    ])
    await transaction(ctx.db, tx => ctx.jobs.send(tx, type, { n: 1 }, { key: '1' }))
    await eventually('it is done', async () => {
      await sql`update pgboss.job set start_after = now() where state = 'created'`.execute(ctx.db)
      const { rows } = await sql<{ state: string }>`
      select state from pgboss.job where name = 'cloud_sync_fast'`.execute(ctx.db)
      return rows[0]?.state === 'completed'
    })
    assert.equal(runs, QUEUES.cloud_sync_fast.retryLimit + 2)
  },
)

test('a provisioning job that fails is not tried again', async t => {
  const bundle = await setup(t)
  const { ctx, call } = bundle
  let runs = 0
  const type = probe('provisioning')
  await ctx.jobs.send(ctx.db, type, { n: 1 }, { key: 'x' })
  await ctx.jobs.work([
    handle(type, async () => {
      runs++
      throw new Error('no')
    }),
  ])
  await eventually(
    'the dead letter appears',
    async () => (await call('GET', '/api/v1/admin/dead_letters')).body.data.length === 1,
  )
  assert.equal(runs, 1)
})

test('jobs of a batch are settled each for itself: one that fails takes no other with it', async t => {
  const { ctx, call } = await setup(t)
  const type = probe('provisioning')
  const ran: number[] = []
  for (let n = 1; n <= 5; n++) await ctx.jobs.send(ctx.db, type, { n }, { key: String(n) })
  await ctx.jobs.work([
    handle(type, async ({ n }) => {
      ran.push(n)
      if (n === 3) throw new Error('three is out of order')
    }),
  ])
  const states = await eventually('all are settled', async () => {
    const { rows } = await sql<{ state: string }>`
      select state::text from pgboss.job where name = 'provisioning' order by (data->'payload'->>'n')::int`.execute(
      ctx.db,
    )
    return (
      rows.every(({ state }) => state === 'completed' || state === 'failed') && rows.map(({ state }) => state)
    )
  })
  assert.deepEqual(states, ['completed', 'completed', 'failed', 'completed', 'completed'])
  assert.deepEqual(ran.sort(), [1, 2, 3, 4, 5])
  const letters = (await call('GET', '/api/v1/admin/dead_letters')).body.data
  assert.deepEqual(
    letters.map((letter: { payload: object; error: string }) => [letter.payload, letter.error]),
    [[{ n: 3 }, 'three is out of order']],
  )
})

test('a job that is put back belongs to who takes it next: who gave it back does not settle it any more', async t => {
  const { ctx, call, logged } = await setup(t)
  const slow = probe('provisioning')
  const other = { ...slow, name: 'of_another_version' }
  await transaction(ctx.db, async tx => {
    for (const type of [slow, other]) await ctx.jobs.send(tx, type, { n: 1 }, { key: 'x' })
  })
  const [held, taken, ends] = [0, 1, 2].map(() => Promise.withResolvers<void>()) as [Gate, Gate, Gate]
  await ctx.jobs.work([handle(slow, () => held.promise)])
  await eventually('it is put back', async () => logged().includes('job left to a version that knows it'))
  await sql`update pgboss.job set start_after = now() where state = 'created'`.execute(ctx.db)
  await ctx.jobs.work([
    handle(other, async () => {
      taken.resolve()
      await ends.promise
      throw new Error('no')
    }),
  ])
  await taken.promise
  held.resolve()
  const stateOf = async ({ name }: JobType) => {
    const { rows } = await sql<{ state: string }>`
      select state::text from pgboss.job where name = 'provisioning' and data->>'job' = ${name}`.execute(
      ctx.db,
    )
    return rows[0]?.state
  }
  await eventually('the rest of its batch is settled', async () => (await stateOf(slow)) === 'completed')
  assert.equal(await stateOf(other), 'active')
  ends.resolve()
  const [letter] = await eventually('its failure is told', async () => {
    const { body } = await call('GET', '/api/v1/admin/dead_letters')
    return body.data.length > 0 && body.data
  })
  assert.deepEqual([letter.job, letter.error, letter.attempts], ['of_another_version', 'no', 1])
})

test('a queue that stops waits for work in the background, and tells it when the grace is nearly over', async t => {
  const { ctx } = await setup(t)
  const done: string[] = []
  const go = Promise.withResolvers<void>()
  ctx.jobs.background(go.promise.then(() => void done.push('quick')))
  ctx.jobs.background(
    new Promise<void>(resolve => {
      ctx.jobs.ending.addEventListener('abort', () => {
        done.push('told')
        resolve()
      })
    }),
  )
  const stopped = ctx.jobs.stop(400)
  assert.equal(ctx.jobs.leaving.aborted, true)
  assert.equal(ctx.jobs.ending.aborted, false)
  go.resolve()
  await stopped
  assert.deepEqual(done, ['quick', 'told'])
})

test('a job whose payload does not fit fails without running', async t => {
  const bundle = await setup(t)
  const { ctx, call } = bundle
  let runs = 0
  const type = probe('provisioning')
  await ctx.jobs.send(ctx.db, type, { n: 'one' } as never, { key: 'y' })
  await ctx.jobs.work([handle(type, async () => void runs++)])
  const letters = await eventually('it is a dead letter', async () => {
    const { body } = await call('GET', '/api/v1/admin/dead_letters')
    return body.data.length === 1 && body.data
  })
  assert.deepEqual(letters.map((letter: { error: string }) => letter.error).sort(), [
    'the payload does not fit the job',
  ])
  assert.equal(runs, 0)
})

test('dead letters are paged, each once', async t => {
  const { ctx, call } = await setup(t)
  const type = probe('provisioning')
  for (let n = 0; n < 5; n++) await ctx.jobs.send(ctx.db, type, { n }, { key: String(n) })
  await ctx.jobs.work([handle(type, () => Promise.reject(new Error('no')))])
  await eventually(
    'all five are dead',
    async () => (await call('GET', '/api/v1/admin/dead_letters')).body.data.length === 5,
  )
  const seen: number[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body } = await call('GET', `/api/v1/admin/dead_letters?limit=2${cursor && `&cursor=${cursor}`}`)
    seen.push(...body.data.map((letter: { payload: { n: number } }) => letter.payload.n))
    cursor = body.next_cursor
  }
  assert.deepEqual(seen.toSorted(), [0, 1, 2, 3, 4])
})

test(
  'a task that throws is recorded as failed with its reason, and again as completed when a retry succeeds',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { ctx, call } = bundle
    let broken = true
    const task: Task = {
      name: 'fragile',
      description: 'Fails until it is mended.',
      queue: 'cloud_sync_slow',
      cron: '0 0 1 1 *',
      run: async () => {
        if (broken) throw new Error('not yet')
      },
    }
    await upsertTasks(ctx.db, [task])
    await ctx.jobs.work(taskHandlers(ctx, [task]))
    const path =
      (await call('POST', '/api/v1/admin/scheduled_tasks/fragile/run')).headers.get('location') ?? ''
    const failed = await eventually('it fails', async () => {
      const { body } = await call('GET', path)
      return body.data.status === 'failed' && body.data
    })
    assert.equal(failed.error, 'not yet')
    broken = false
    const completed = await eventually('the retry succeeds', async () => {
      await hurry(bundle)
      const { body } = await call('GET', path)
      return body.data.status === 'completed' && body.data
    })
    assert.equal(completed.attempts, 2)
    assert.equal(completed.error, null)
  },
)

test('a queue is unreached when none of its free workers has fetched in time', () => {
  const worker = (life: Partial<WorkerLife>): WorkerLife => ({
    name: 'metering',
    count: 0,
    createdOn: 10,
    lastFetchedOn: null,
    lastJobStartedOn: null,
    lastJobEndedOn: null,
    lastErrorOn: null,
    ...life,
  })
  const unreached = (since: number, ...lives: Partial<WorkerLife>[]) =>
    unreachedQueue(lives.map(worker), since)
  assert.equal(unreached(10, {}), undefined)
  assert.equal(unreached(11, {}), 'metering')
  assert.equal(unreached(20, { lastFetchedOn: 20 }), undefined)
  assert.equal(unreached(21, { lastFetchedOn: 20 }), 'metering')
  assert.equal(unreached(21, { lastFetchedOn: 20 }, { lastFetchedOn: 21 }), undefined)
  assert.equal(unreached(21, { lastFetchedOn: 20, lastJobEndedOn: 30 }), undefined)
  // One that works does not fetch; one whose job could not be settled does.
  const working = { count: 1, lastFetchedOn: 20, lastJobStartedOn: 20 }
  assert.equal(unreached(100, working), undefined)
  assert.equal(unreached(100, { ...working, lastErrorOn: 19 }), undefined)
  assert.equal(unreached(100, { ...working, lastErrorOn: 20 }), 'metering')
  assert.equal(unreached(100, working, { name: 'cloud_billing', lastFetchedOn: 99 }), 'cloud_billing')
  assert.equal(unreached(100), undefined)
})
