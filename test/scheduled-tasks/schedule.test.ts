// The cron of the service: what is due is asked for once, what was missed is made up for. Time is what the rows say.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { requestDueRuns, taskHandlers, upsertTasks } from '../../src/features/scheduled-tasks/index.ts'
import { dueTick } from '../../src/features/scheduled-tasks/task.ts'
import type { Task } from '../../src/kernel/queue/queues.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { type Bundle, setup } from '../support/setup.ts'

const base = '/api/v1/admin/scheduled_tasks'

function monthly(ran: string[], name = 'monthly'): Task {
  const run = async () => void ran.push(name)
  return { name, description: 'A task.', queue: 'metering', cron: '5 0 1 * *', run }
}

/** The tick that is due next, as the row says. */
const dueAt = ({ ctx }: Bundle, time: string, name = 'monthly') =>
  sql`update scheduled_tasks set next_run_at = ${time} where name = ${name}`.execute(ctx.db)

const ticksOf = async ({ call }: Bundle, name = 'monthly') =>
  (await call('GET', `${base}/${name}/runs`)).body.data.map(
    (run: { trigger: string; status: string }) => `${run.trigger} ${run.status}`,
  )

async function withTasks(bundle: Bundle, ...tasks: Task[]): Promise<void> {
  const { ctx } = bundle
  await upsertTasks(ctx.db, tasks)
  await ctx.jobs.work(taskHandlers(ctx, tasks))
}

async function withMonthly(t: TestContext) {
  const ran: string[] = []
  const task = monthly(ran)
  const bundle = await setup(t)
  await withTasks(bundle, task)
  return { bundle, task, ran }
}

test(
  'a tick missed months ago is made up for once, whoever looks and however often',
  onPostgresAlone,
  async t => {
    const { bundle, task, ran } = await withMonthly(t)
    await dueAt(bundle, '2026-01-01T00:05:00Z')
    const looks = await Promise.all([1, 2, 3, 4, 5].map(() => requestDueRuns(bundle.ctx, [task])))
    assert.deepEqual(looks.flat(), ['monthly'])
    await eventually('it has run', async () => (await ticksOf(bundle))[0] === 'schedule completed')
    assert.deepEqual(await requestDueRuns(bundle.ctx, [task]), [])
    assert.deepEqual([ran, await ticksOf(bundle)], [['monthly'], ['schedule completed']])
    const { rows } = await sql<{ coming: boolean }>`
    select next_run_at > clock_timestamp() as coming from scheduled_tasks where name = 'monthly'`.execute(
      bundle.ctx.db,
    )
    assert.equal(rows[0]!.coming, true)
  },
)

test(
  'a task that this version schedules for the first time makes up for the tick after the latest one, and none if it never ran',
  onPostgresAlone,
  async t => {
    const ran: string[] = []
    const [known, fresh] = [monthly(ran, 'known'), monthly(ran, 'fresh')]
    const bundle = await setup(t)
    await withTasks(bundle, known, fresh)
    await sql`insert into task_runs (id, task, trigger, status, requested_at)
    values (gen_random_uuid(), 'known', 'schedule', 'completed', '2026-01-01T00:05:00Z')`.execute(
      bundle.ctx.db,
    )
    assert.deepEqual(await requestDueRuns(bundle.ctx, [known, fresh]), ['known'])
    await eventually('it has run', async () => ran.length === 1)
    assert.deepEqual(await requestDueRuns(bundle.ctx, [known, fresh]), [])
  },
)

test(
  'a paused task is not made up for: its tick is recorded as skipped, and nothing is left for its resumption',
  onPostgresAlone,
  async t => {
    const { bundle, task, ran } = await withMonthly(t)
    assert.equal((await bundle.call('POST', `${base}/monthly/pause`)).status, 200)
    await dueAt(bundle, '2026-01-01T00:05:00Z')
    await requestDueRuns(bundle.ctx, [task])
    await eventually('it is skipped', async () => (await ticksOf(bundle))[0] === 'schedule skipped')
    assert.equal((await bundle.call('POST', `${base}/monthly/resume`)).status, 200)
    assert.deepEqual(await requestDueRuns(bundle.ctx, [task]), [])
    assert.deepEqual([ran, await ticksOf(bundle)], [[], ['schedule skipped']])
  },
)

test('a tick does not wait behind the other jobs of its queue', async t => {
  const ran: string[] = []
  const [first, urgent] = [monthly(ran, 'first'), monthly(ran, 'urgent')]
  const bundle = await setup(t)
  const { ctx } = bundle
  await upsertTasks(ctx.db, [first, urgent])
  for (let n = 0; n < 20; n++)
    await ctx.jobs.send(
      ctx.db,
      { ...taskHandlers(ctx, [first])[0]!.type },
      { task: 'first', trigger: 'manual' },
      { key: String(n) },
    )
  await dueAt(bundle, '2026-01-01T00:05:00Z', 'urgent')
  await requestDueRuns(ctx, [urgent])
  await ctx.jobs.work(taskHandlers(ctx, [first, urgent]))
  await eventually('both kinds have run', async () => ran.length > 1)
  assert.equal(ran[0], 'urgent')
})

test('a worker of a test has no cron, and what pg-boss kept as the schedule of an older version is taken from it', async t => {
  const bundle = await setup(t, { worker: true })
  const { ctx } = bundle
  const { rows } = await sql<{ ticks: number }>`
    select count(next_run_at)::int as ticks from scheduled_tasks`.execute(ctx.db)
  assert.deepEqual(rows, [{ ticks: 0 }])
  await sql`insert into pgboss.schedule (name, key, cron, timezone) values ('metering', 'metering', '* * * * *', 'UTC')`.execute(
    ctx.db,
  )
  await ctx.jobs.dropSchedules()
  assert.deepEqual((await sql`select name from pgboss.schedule`.execute(ctx.db)).rows, [])
})

test('a look fires a tick at its time and not before, and says which comes next', () => {
  const tickAfter = (cron: string, time: string) => `${cron} after ${time}`
  const [before, at, after] = ['2026-05-01T00:04:59Z', '2026-05-01T00:05:00Z', '2026-05-01T00:05:01Z']
  const look = (now: string, next_run_at: string | null, last_tick_at: string | null = null) =>
    dueTick({ cron: 'c', next_run_at, last_tick_at, now }, tickAfter)
  assert.deepEqual(look(before, at), { fire: false, next: at })
  assert.deepEqual(look(at, at), { fire: true, next: `c after ${at}` })
  assert.deepEqual(look(after, at), { fire: true, next: `c after ${after}` })
  const ticks = (_cron: string, time: string) => (time < at ? at : '2026-06-01T00:05:00Z')
  const first = (now: string, last: string | null) =>
    dueTick({ cron: 'c', next_run_at: null, last_tick_at: last, now }, ticks)
  assert.deepEqual(first(before, null), { fire: false, next: at })
  assert.deepEqual(first(after, before), { fire: true, next: '2026-06-01T00:05:00Z' })
})
