// A job that is over for everyone to see, but not settled in the queue.
import { sql } from 'kysely'
import type { Bundle } from './setup.ts'

/** From now on the queue's jobs are settled right after another was refused for one of them. */
export function settleAfterRefusal({ ctx }: Pick<Bundle, 'ctx'>): void {
  const { send } = ctx.jobs
  ctx.jobs.send = async (...job) => {
    const sent = await send(...job)
    if (sent === null) setImmediate(() => sql`update pgboss.job set state = 'completed'`.execute(ctx.db))
    return sent
  }
}
