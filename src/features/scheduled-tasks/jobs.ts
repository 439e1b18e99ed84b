// The cron of the service, the job behind every task, and the task that deletes what is old.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { handle, type JobHandler, type JobRun, type Task } from '../../kernel/queue/queues.ts'
import { every } from '../../kernel/time.ts'
import {
  beginRun,
  deleteRunsBefore,
  failLostRuns,
  finishRun,
  listTicks,
  lockTask,
  moveTick,
} from './store.ts'
import { dueTick, FIRST, type Trigger, taskJob } from './task.ts'

const POLL_MS = 10_000

/** Until the process is told to stop. */
export function watchSchedule(deps: Deps, tasks: Task[]): void {
  const { log, jobs } = deps
  every(
    { everyMs: POLL_MS, until: jobs.leaving, log, what: 'the poll for due tasks', atOnce: true },
    async () => {
      await jobs.dropSchedules()
      await requestDueRuns(deps, tasks)
    },
  )
}

/**
 * Every worker polls which tasks are due, by the database's clock. Whoever moves a task's next tick on sends the job of
 * the one that is due, in one transaction: several workers make one job of a tick. A tick that came while nobody was
 * there, or during an outage, is made up for by the next poll; of several missed ticks one is. Returns the names of the
 * tasks that were due.
 */
export async function requestDueRuns(deps: Deps, tasks: Task[]): Promise<string[]> {
  const { db, jobs, log } = deps
  const names = tasks.map(({ name }) => name)
  const due: string[] = []
  for (const tick of await listTicks(db, names)) {
    const { fire, next } = dueTick(tick, jobs.tickAfter)
    if (next === tick.next_run_at) continue
    const won = await transaction(db, async tx => {
      if (!(await moveTick(tx, tick, next))) return false
      const payload = { task: tick.name, trigger: 'schedule' as const }
      // One that is queued or running already does the work of this tick, too.
      if (fire) await jobs.send(tx, taskJob(tick), payload, { key: tick.name, ...FIRST })
      return fire
    })
    if (!won) continue
    due.push(tick.name)
    log.info({ task: tick.name, due_at: tick.next_run_at, next_run_at: next }, 'task due')
  }
  return due
}

export const taskHandlers = (deps: Deps, tasks: Task[]): JobHandler[] =>
  tasks.map(task => handle(taskJob(task), ({ trigger }, run) => runTask(deps, task, trigger, run)))

const LONGEST_ERROR = 1_000

/**
 * One run of a task: recorded when it starts and when it ends. A tick that comes while the task is paused is recorded as
 * skipped; an operator's own request runs all the same.
 */
async function runTask(deps: Deps, task: Task, trigger: Trigger, run: JobRun): Promise<void> {
  const { db, clock, metrics } = deps
  const now = () => clock.now().toISOString()
  if ((await begin(deps, task.name, trigger, run.id)) === 'skipped') {
    run.log.info({ task: task.name }, 'the task is paused: tick skipped')
    return
  }
  try {
    await task.run(run)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    await finishRun(db, run.id, 'failed', now(), message.slice(0, LONGEST_ERROR))
    throw error
  }
  await finishRun(db, run.id, 'completed', now(), null)
  metrics.taskLastSuccess.set({ task: task.name }, clock.now().getTime() / 1000)
}

function begin(
  { db, clock }: Deps,
  task: string,
  trigger: Trigger,
  id: string,
): Promise<'running' | 'skipped'> {
  return transaction(db, async tx => {
    const at = clock.now().toISOString()
    const row = await lockTask(tx, task)
    const status = trigger === 'schedule' && row?.paused_at != null ? 'skipped' : 'running'
    await failLostRuns(tx, task, id, at)
    const finished_at = status === 'skipped' ? at : null
    await beginRun(tx, {
      id,
      task,
      trigger,
      status,
      attempts: 1,
      requested_at: at,
      started_at: at,
      finished_at,
    })
    return status
  })
}

/** Something to delete every day. */
export interface CleanUp {
  /** What is deleted, and when it is old enough. */
  what: string
  /** How many were deleted. */
  run(): Promise<number>
}

const KEEP_DAYS = 90

/** Deletes old runs of tasks, and whatever else it is handed. */
export function housekeeping({ db, clock }: Deps, others: CleanUp[]): Task {
  const taskRuns: CleanUp = {
    what: `records of task runs older than ${KEEP_DAYS} days`,
    run: () => deleteRunsBefore(db, new Date(clock.now().getTime() - KEEP_DAYS * 86_400_000).toISOString()),
  }
  const cleanUps = [taskRuns, ...others]
  return {
    name: 'housekeeping',
    description: `Deletes ${cleanUps.map(({ what }) => what).join(', ')}.`,
    queue: 'metering',
    cron: '41 3 * * *',
    async run({ log }) {
      for (const { what, run } of cleanUps) {
        const deleted = await run()
        log.info({ deleted }, `deleted ${what}`)
      }
    },
  }
}
