// SQL of a step that is completed: result, context and index together, and the next step begun; or the end; or, if the
// run was cancelled, the turn back. One statement for a run's step, or for one step each of many runs.
import type { Statement } from '../../kernel/db/statement.ts'
import { type Hold, PUBLISH_END, PUT_DOWN, type Writes, type Written } from './drive-repository.ts'

export interface CompletedStep {
  index: number
  /** JSON texts. */
  context: string | null
  output: string | null
  last: boolean
  /** Where compensation begins if the run was cancelled meanwhile. */
  undoFrom: number | null
}

// Of as many runs as the arrays name. `free` decides what is written: a run that is another's by now is not in it. Runs
// are found by their ids: statistics may say that few are running when thousands are, so the index by status is hidden.
/** `ending`: some of the runs may end by it, and their ends are published. */
const completing = (name: string, locking: '' | 'skip locked', ending: boolean): Statement => ({
  name,
  text: `with free as (
    select mine.*, r.step_modules[mine.idx + 2] as next, r.cancel_requested and not mine.last as cancelled
    from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::text[], $6::text[], $7::boolean[], $8::int[])
      as mine (id, claim, write, idx, context, output, last, undo_from)
    join saga_runs r on r.id = mine.id and r.claim = mine.claim
    where r.status || '' = 'running' and r.current_step_index = mine.idx
    for update of r ${locking}
  ), run as (
    update saga_runs r set
      context = r.context || coalesce(f.context::jsonb, '{}'), current_step_index = f.idx + 1,
      status = case when f.last then 'completed' when f.cancelled then 'compensating' else r.status end,
      error = case when f.cancelled then jsonb_build_object('step_idx', f.idx + 1, 'step', f.next,
        'reason', 'cancelled by ' || r.cancel_requested_by) end,
      compensating_index = case when f.cancelled then f.undo_from end,
      finished_at = case when f.last then clock_timestamp() end,
      claim = case when f.last or $9::uuid is not null then null else r.claim end,
      last_write = f.write, job_id = coalesce($9, r.job_id), heartbeat_at = clock_timestamp()
    from free f where r.id = f.id
    returning r.*, ${PUT_DOWN}, f.idx, f.next, f.output, coalesce(r.finished_at, clock_timestamp()) as at
  ), done as (
    update saga_step_results s set status = 'completed', output = run.output::jsonb, finished_at = run.at
    from run where s.saga_id = run.id and s.step_idx = run.idx
  ), begun as (
    insert into saga_step_results (saga_id, step_idx, name, status, started_at)
    select id, idx + 1, next, 'running', at from run where status = 'running' and not put_down
  )${ending ? `, ${PUBLISH_END}` : ''}
  select id, status, put_down from run`,
})

const COMPLETE_STEP = completing('saga_complete_step', '', false)
const COMPLETE_LAST_STEP = completing('saga_complete_last_step', '', true)
const COMPLETE_FREE_STEPS = completing('saga_complete_free_steps', 'skip locked', false)
const COMPLETE_FREE_LAST_STEPS = completing('saga_complete_free_last_steps', 'skip locked', true)

const columnsOf = (steps: Completing[]): unknown[] => [
  steps.map(({ hold }) => hold.id),
  steps.map(({ hold }) => hold.claim),
  steps.map(({ hold }) => hold.write),
  steps.map(({ step }) => step.index),
  steps.map(({ step }) => step.context),
  steps.map(({ step }) => step.output),
  steps.map(({ step }) => step.last),
  steps.map(({ step }) => step.undoFrom),
]

export interface Completing {
  hold: Hold
  step: CompletedStep
}

/** Result, context and index together, and the next step begun; or the end; or, if it was cancelled, the turn back. */
export async function completeStep(
  writes: Writes,
  hold: Hold,
  step: CompletedStep,
): Promise<Written | undefined> {
  const statement = step.last ? COMPLETE_LAST_STEP : COMPLETE_STEP
  return (await writes<Written>(statement, [...columnsOf([{ hold, step }]), hold.jobId]))[0]
}

/** The same for one step each of several runs, none of which is put down; those that somebody holds are left out. */
export function completeFreeSteps(
  writes: Writes,
  steps: Completing[],
): Promise<(Written & { id: string })[]> {
  const ending = steps.some(({ step }) => step.last)
  return writes(ending ? COMPLETE_FREE_LAST_STEPS : COMPLETE_FREE_STEPS, [...columnsOf(steps), null])
}
