// SQL of the rescue: runs that nobody drives any more, found and marked.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { PUBLISH_END } from './drive-repository.ts'
import type { RescuePlan, Stranded } from './rescue-plan.ts'
import { sagaJob } from './saga-job.ts'

export interface Patience {
  /** No beat for so long: its worker is suspected. */
  silentMs: number
  /** And none for so long after that: it is dead. Longer than the time between two beats. */
  suspectMs: number
  /** A run that waits for its job is left alone for so long. */
  waitingMs: number
}

const MOST_AT_ONCE = 100

const ago = (ms: number) => sql`clock_timestamp() - make_interval(secs => ${ms / 1000})`

/** Locked until the transaction ends; those that another rescuer holds are left out. */
export async function lockStranded(tx: Executor, { suspectMs, waitingMs }: Patience): Promise<Stranded[]> {
  const { rows } = await sql<Stranded>`
    select r.id, r.kind, r.status, r.claim is not null as driven, r.current_step_index, r.compensating_index, r.job_id,
      r.cancel_requested_by, coalesce(s.name, r.step_modules[r.current_step_index + 1]) as step,
      s.status as step_status, s.compensation_interruptions as interruptions
    from saga_runs r
    left join saga_step_results s on s.saga_id = r.id and s.step_idx =
      case r.status when 'compensating' then r.compensating_index else r.current_step_index end
    where r.status in ('pending', 'running', 'compensating') and case
      when r.claim is not null then r.heartbeat_at < r.suspected_at and r.suspected_at < ${ago(suspectMs)}
      -- A worker claims the run right after it has taken the job, or leaves it to a version that looks for it.
      else r.unknown_since is null and r.heartbeat_at < ${ago(waitingMs)} and not exists (
        select from pgboss.job j where j.name = ${sagaJob.queue} and j.id = r.job_id
          and (j.state < 'active' or j.state = 'active' and j.started_on > ${ago(waitingMs)}))
      end
    order by r.id limit ${MOST_AT_ONCE}
    for update of r skip locked`.execute(tx)
  return rows
}

/** The next look tells the dead from those who could not be heard: these beat as soon as they can. */
export async function suspectSilent(tx: Executor, { silentMs }: Patience): Promise<number> {
  const { rows } = await sql`
    update saga_runs set suspected_at = clock_timestamp() where id in (
      select id from saga_runs where status in ('running', 'compensating') and claim is not null
        and heartbeat_at < ${ago(silentMs)} and (suspected_at is null or suspected_at < heartbeat_at)
      for update skip locked)
    returning id`.execute(tx)
  return rows.length
}

/** Takes the run from whoever had it. Only of one that is locked. */
export async function markRescued(
  tx: Executor,
  run: Stranded,
  plan: RescuePlan,
  jobId: string,
): Promise<void> {
  const under = sql`claim = null, suspected_at = null, job_id = ${jobId}, heartbeat_at = clock_timestamp()`
  const where = sql`where id = ${run.id}`
  const step = (index: number | null) => sql`where saga_id = ${run.id} and step_idx = ${index}`
  switch (plan.do) {
    case 'send_again':
      await sql`update saga_runs set ${under} ${where}`.execute(tx)
      return
    case 'compensate_on':
      await sql`update saga_runs set ${under} ${where}`.execute(tx)
      await sql`update saga_step_results set compensation_interruptions = compensation_interruptions + 1
        ${step(run.compensating_index)}`.execute(tx)
      return
    case 'turn_back':
      await sql`update saga_runs set ${under}, status = 'compensating', compensating_index = ${plan.from},
        error = ${JSON.stringify(plan.error)} ${where}`.execute(tx)
      if (!plan.failStep) return
      await sql`update saga_step_results set status = 'failed', error = ${plan.error.reason},
        finished_at = clock_timestamp() ${step(run.current_step_index)}`.execute(tx)
      return
    case 'give_up':
      await sql`with run as (
          update saga_runs set status = 'failed', claim = null, finished_at = clock_timestamp(),
            error = ${JSON.stringify(plan.error)} ${where} returning *
        ), ${sql.raw(PUBLISH_END)} select`.execute(tx)
      await sql`update saga_step_results set compensation_interruptions = compensation_interruptions + 1,
        error = ${plan.error.reason} ${step(run.compensating_index)}`.execute(tx)
  }
}
