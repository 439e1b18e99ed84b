// What becomes of a run whose worker died. The dead worker is played by the test: it takes a run as a worker does, and
// then does nothing more. (A process that is killed for real: test/process/saga-kill.test.ts.)

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { claimRuns, completeStep, turnBack } from '../../src/features/sagas/drive-store.ts'
import { rescueRuns } from '../../src/features/sagas/index.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { aroundStatements } from '../support/inspect-database.ts'
import { ended, gate, type Journal, kindOf, run, show, start, statuses, step } from '../support/sagas.ts'
import { anotherWorker, type Bundle, setup } from '../support/setup.ts'

const names = ['a', 'b', 'c']
const three = (journal: Journal) =>
  kindOf(
    'three',
    names.map(name => step(name, journal)),
  )

/** Takes the run from the queue, as the dead worker had. */
async function takenBy({ ctx }: Bundle, id: string) {
  await sql`update pgboss.job set state = 'active', started_on = now()
    where id = (select job_id from saga_runs where id = ${id})`.execute(ctx.db)
  const claim = randomUUID()
  assert.equal((await claimRuns(ctx.db, [id], [claim], { three: names })).length, 1)
  const hold = { id, claim, jobId: null }
  return {
    complete: (index: number, context: object = {}) =>
      completeStep(
        ctx.db,
        { ...hold, write: randomUUID() },
        { index, context: JSON.stringify(context), output: null, last: false, undoFrom: index },
      ),
    fail: (index: number, undoFrom: number | null) =>
      turnBack(
        ctx.db,
        { ...hold, write: randomUUID() },
        { index, error: { step_idx: index, step: names[index]!, reason: 'it broke' }, undoFrom },
      ),
  }
}

/** As if so much time had passed without a beat. */
const silence = ({ ctx }: Bundle, seconds: number) =>
  sql`update saga_runs set heartbeat_at = heartbeat_at - make_interval(secs => ${seconds}),
    suspected_at = suspected_at - make_interval(secs => ${seconds})`.execute(ctx.db)

/** Two looks, as the rescue needs them to be sure. */
async function looks(bundle: Bundle): Promise<number> {
  const { ctx } = bundle
  await silence(bundle, 9)
  assert.equal(await rescueRuns(ctx, ctx.log), 0, 'the first look only suspects')
  await silence(bundle, 10)
  return rescueRuns(ctx, ctx.log)
}

const jobsOf = async ({ ctx }: Bundle) => {
  const { rows } = await sql<{ state: string }>`
    select state::text from pgboss.job where name in ('provisioning', 'dead_letters') order by created_on, id`.execute(
    ctx.db,
  )
  return rows.map(({ state }) => state)
}

test('a worker that dies in the middle of a step: the step is failed with an unknown outcome, and undone first', async t => {
  const journal: Journal = []
  const kinds = [three(journal)]
  const bundle = await setup(t, { sagaKinds: () => kinds })
  const { id } = await start(bundle, 'three')
  const dead = await takenBy(bundle, id)
  await dead.complete(0, { kept: 'yes' })
  assert.equal(await looks(bundle), 1)
  const found = await show(bundle, id)
  const reason = 'its outcome is unknown: the worker that ran it died'
  assert.deepEqual([found.status, statuses(found)], ['compensating', ['completed', 'failed']])
  assert.deepEqual(found.error, { step_idx: 1, step: 'b', reason })
  assert.equal(found.steps[1]!.error, reason)
  // The dead worker's job is taken back: it will be no dead letter.
  assert.deepEqual(await jobsOf(bundle), ['cancelled', 'created'])

  // It was not dead after all, only slow: what it writes now changes nothing.
  assert.equal(await dead.complete(1), undefined)
  assert.equal(await dead.fail(1, 0), undefined)
  assert.deepEqual(await show(bundle, id), found)

  await anotherWorker(t, bundle)
  const ran = await ended(bundle, id)
  assert.deepEqual([ran.status, statuses(ran)], ['rolled_back', ['compensated', 'failed']])
  assert.deepEqual(journal, ['compensate b', 'compensate a'], 'no step is run again')
  assert.deepEqual(ran.error, { step_idx: 1, step: 'b', reason })
  assert.deepEqual(ran.context, { kept: 'yes' })
  await eventually('its job is done', async () => (await jobsOf(bundle))[1] === 'completed')
  assert.equal((await jobsOf(bundle)).length, 2, 'no dead letter')
})

test('a worker that dies in the middle of a compensation: it goes on where it stood; a second time over one step, and the run is failed', async t => {
  const journal: Journal = []
  const kinds = [three(journal)]
  const bundle = await setup(t, { sagaKinds: () => kinds })
  const { ctx } = bundle
  const runs = [await start(bundle, 'three'), await start(bundle, 'three')]
  for (const { id } of runs) {
    const dead = await takenBy(bundle, id)
    await dead.complete(0)
    await dead.complete(1)
    await dead.fail(2, 1)
    // The second step is compensated; the first was being so when the worker died.
    await sql`update saga_runs set compensating_index = 0 where id = ${id}`.execute(ctx.db)
    await sql`update saga_step_results set status = 'compensated' where saga_id = ${id} and step_idx = 1`.execute(
      ctx.db,
    )
  }
  assert.equal(await looks(bundle), 2)
  const [once, twice] = runs.map(({ id }) => id) as [string, string]
  // Over one of them a second worker dies.
  await takenBy(bundle, twice)
  assert.equal(await looks(bundle), 1)
  const failed = await show(bundle, twice)
  const reason = 'its compensation was interrupted 2 times: look at what it left behind'
  assert.deepEqual([failed.status, failed.error], ['failed', { step_idx: 0, step: 'a', reason }])
  assert.deepEqual(statuses(failed), ['completed', 'compensated', 'failed'])
  assert.equal(failed.steps[0]!.error, reason)

  await anotherWorker(t, bundle)
  const ran = await ended(bundle, once)
  assert.deepEqual([ran.status, statuses(ran)], ['rolled_back', ['compensated', 'compensated', 'failed']])
  assert.deepEqual(journal, ['compensate a'], 'what was compensated is skipped')
  assert.deepEqual(ran.error, { step_idx: 2, step: 'c', reason: 'it broke' })
})

test('a run whose job is gone before anyone took it is sent again, and runs from its first step', async t => {
  const journal: Journal = []
  const kinds = [three(journal)]
  const bundle = await setup(t, { sagaKinds: () => kinds })
  const { ctx } = bundle
  const [queued, taken, gone] = [
    await start(bundle, 'three'),
    await start(bundle, 'three'),
    await start(bundle, 'three'),
  ]
  const job = (id: string, change: ReturnType<typeof sql>) =>
    sql`update pgboss.job set ${change} where id = (select job_id from saga_runs where id = ${id})`.execute(
      ctx.db,
    )
  // A worker has just taken the second one's; the third one's died with its worker a while ago.
  await job(taken.id, sql`state = 'active', started_on = now()`)
  await job(gone.id, sql`state = 'active', started_on = now() - interval '1 minute'`)
  await silence(bundle, 60)
  assert.equal(await rescueRuns(ctx, ctx.log), 1)
  assert.match(bundle.logged(), new RegExp(`${gone.id}.*saga sent again: its job was gone`))
  await anotherWorker(t, bundle)
  for (const { id } of [queued, gone]) assert.equal((await ended(bundle, id)).status, 'completed')
  assert.equal((await show(bundle, taken.id)).status, 'pending')
  assert.equal(journal.length, 6)
})

test(
  'after an outage, when every heartbeat is old, the living are heard before anyone is thought dead',
  onPostgresAlone,
  async t => {
    const journal: Journal = []
    const held = gate()
    const kinds = [
      kindOf('held', [
        step('a', journal, {
          execute: async () => {
            await held.pass()
            return { ok: true }
          },
        }),
      ]),
    ]
    const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
    const { ctx } = bundle
    const { id } = await start(bundle, 'held')
    await held.reached
    await silence(bundle, 60)
    assert.equal(await rescueRuns(ctx, ctx.log), 0)
    const beats = async () => {
      const { rows } = await sql<{ alive: boolean }>`
      select heartbeat_at > suspected_at as alive from saga_runs where id = ${id}`.execute(ctx.db)
      return rows[0]!.alive === true
    }
    await eventually('the living worker beats', beats)
    await sql`update saga_runs set suspected_at = suspected_at - interval '10 seconds'`.execute(ctx.db)
    assert.equal(await rescueRuns(ctx, ctx.log), 0)
    held.open()
    assert.equal((await ended(bundle, id)).status, 'completed')
  },
)

test(
  'a runner that finds its run taken over ends the step in hand and stays silent',
  onPostgresAlone,
  async t => {
    const journal: Journal = []
    const held = gate()
    const told = Promise.withResolvers<string>()
    const kinds = [
      kindOf('held', [
        step('a', journal, {
          execute: async ({ signal }) => {
            signal.addEventListener('abort', () => told.resolve((signal.reason as Error).message))
            await held.pass()
            return { ok: true }
          },
        }),
        step('b', journal),
      ]),
    ]
    const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
    const { id } = await start(bundle, 'held')
    await held.reached
    await sql`update saga_runs set claim = ${randomUUID()} where id = ${id}`.execute(bundle.ctx.db)
    assert.match(await told.promise, /another worker has taken it over/)
    await eventually('it says so', async () => /"msg":"saga (lost|left)/.test(bundle.logged()))
    held.open()
    const still = await show(bundle, id)
    assert.deepEqual([still.status, statuses(still), journal], ['running', ['running'], ['execute a']])
  },
)

test('a connection that breaks during a write, before or after the database has made it, neither loses a step nor runs one twice', async t => {
  const journal: Journal = []
  const kinds = [
    three(journal),
    kindOf('failing', [
      step('a', journal),
      step('b', journal, { execute: async () => ({ ok: false, reason: 'no' }) }),
    ]),
  ]
  const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
  const broken = new Set<string>()
  const away = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  // Every write breaks twice: first on its way there, then on its way back.
  aroundStatements(t, bundle.ctx.db, async ({ name, values }, send) => {
    const write = values[2]
    if (!/^saga_(complete|turn|comp)/.test(name)) return send()
    if (!broken.has(`there ${write}`)) {
      broken.add(`there ${write}`)
      throw away()
    }
    const written = await send()
    if (broken.has(`back ${write}`)) return written
    broken.add(`back ${write}`)
    throw away()
  })
  const completed = await run(bundle, 'three')
  assert.deepEqual([completed.status, journal], ['completed', ['execute a', 'execute b', 'execute c']])
  assert.deepEqual(completed.context, { a: true, b: true, c: true })
  journal.length = 0
  const undone = await run(bundle, 'failing')
  assert.deepEqual([undone.status, journal], ['rolled_back', ['execute a', 'execute b', 'compensate a']])
  assert.ok(broken.size >= 12)
})

test('saga_rescue is a task that operators see and can run', async t => {
  const bundle = await setup(t, { worker: true })
  const task = '/api/v1/admin/scheduled_tasks/saga_rescue'
  assert.equal((await bundle.call('GET', task)).body.data.cron, '* * * * *')
  const { body } = await bundle.call('POST', `${task}/run`)
  await eventually('it has run', async () => {
    const { data } = (await bundle.call('GET', `${task}/runs/${body.data.id}`)).body
    return data.status === 'completed'
  })
})
