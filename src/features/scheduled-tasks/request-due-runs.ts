// The cron of the service. Every worker looks every few seconds which tasks are due, by the database's clock. Whoever moves
// a task's next tick on sends the job of the one that is due, in one transaction: several workers make one job of a tick,
// and a tick that nobody was there for, or that met an outage, is made up for by the next look. Of several missed ticks one
// is made up for. Before, pg-boss kept the schedule; what it still has of an older version is taken from it.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { every } from '../../kernel/time.ts'
import { listTicks, moveTick, type Tick } from './repository.ts'
import { FIRST, taskJob } from './task.ts'

const LOOK_MS = 10_000

/** Looks until the process is told to stop. */
export function watchSchedule(deps: Deps, tasks: Task[]): void {
  const { log, jobs } = deps
  every(
    { everyMs: LOOK_MS, until: jobs.leaving, log, what: 'the look at due tasks', atOnce: true },
    async () => {
      await jobs.dropSchedules()
      await requestDueRuns(deps, tasks)
    },
  )
}

/** The names of the tasks that were due. */
export async function requestDueRuns(deps: Deps, tasks: Task[]): Promise<string[]> {
  const { db, jobs, log } = deps
  const due: string[] = []
  for (const tick of await listTicks(
    db,
    tasks.map(({ name }) => name),
  )) {
    const { fire, next } = afterLook(tick, jobs.tickAfter)
    if (next === tick.next_run_at) continue
    const won = await transaction(db, async tx => {
      if (!(await moveTick(tx, tick, next))) return false
      // One that is queued or running already does the work of this tick, too.
      if (fire)
        await jobs.send(
          tx,
          taskJob(tick),
          { task: tick.name, trigger: 'schedule' },
          { key: tick.name, ...FIRST },
        )
      return fire
    })
    if (!won) continue
    due.push(tick.name)
    log.info({ task: tick.name, due_at: tick.next_run_at, next_run_at: next }, 'task due')
  }
  return due
}

/** Whether the tick is due now, and which comes next. Pure. */
export function afterLook(
  { cron, next_run_at, last_tick_at, now }: Pick<Tick, 'cron' | 'next_run_at' | 'last_tick_at' | 'now'>,
  tickAfter: (cron: string, time: string) => string,
): { fire: boolean; next: string } {
  const next = next_run_at ?? tickAfter(cron, last_tick_at ?? now)
  if (Date.parse(next) > Date.parse(now)) return { fire: false, next }
  return { fire: true, next: tickAfter(cron, now) }
}
