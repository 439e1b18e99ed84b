// The service tidies up after itself: runs of tasks are kept for 90 days, and what others hand in as long as they say.
import type { Deps } from '../../deps.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { deleteRunsBefore } from './repository.ts'

/** Something to tidy up every day. */
export interface CleanUp {
  /** What is deleted, and when it is old enough. */
  what: string
  /** How many were deleted. */
  run(): Promise<number>
}

const KEEP_DAYS = 90

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
