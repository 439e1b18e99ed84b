// SQL of the worker that drives a run. Each boundary between two steps is one statement: one round trip, one commit. Every
// write names the worker's claim: no row means that another worker has the run by now. Every write has an id of its own,
// so that after a lost connection one can find out whether it was made.
import { sql } from 'kysely'
import { runStatement, type Statement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { publishing } from '../webhooks/index.ts'
import { type RunError, type RunStatus, SagaRun } from './saga.ts'
import type { Json } from './step.ts'

/** A write changed no row: another worker has taken the run over. */
export class LostClaimError extends Error {
  constructor() {
    super('saga lost: another worker has taken it over')
  }
}

export interface Claimed {
  id: string
  claim: string
  kind: string
  status: 'running' | 'compensating'
  step_modules: string[]
  current_step_index: number
  compensating_index: number | null
  inputs: Json
  context: Json
  cancel_requested: boolean
  cancel_requested_by: string | null
}

/** One write of the worker that has the run's claim. */
export interface ClaimedWrite {
  id: string
  claim: string
  /** The write's own id. */
  write: string
  /** Puts the run down for this job, if it goes on. */
  jobId: string | null
}

/** What a write has made of the run. */
export interface Written {
  status: RunStatus
  /** The run waits for the job that was named. */
  put_down: boolean
}

/** The names of the steps of each kind, as this process knows them. */
export type KnownSteps = Readonly<Record<string, readonly string[]>>

/** SQL of a row `r`; the known steps are the first parameter, as JSON. */
const KNOWN = `r.step_modules <@ array(select jsonb_array_elements_text($1::jsonb -> r.kind))`

/** SQL of a row `r`: nobody has known its steps for a day, and whoever takes it fails it. */
const GIVEN_UP = `coalesce(r.unknown_since < clock_timestamp() - interval '1 day', false)`

const CLAIM = {
  name: 'saga_claim',
  text: `with free as (
    select r.id, mine.claim, r.claim is not null as again
    from saga_runs r join unnest($2::uuid[], $3::uuid[]) as mine (id, claim) on mine.id = r.id
    where (r.claim is null or r.claim = mine.claim) and r.status in ('pending', 'running', 'compensating')
      and (${KNOWN} or ${GIVEN_UP})
    -- In one order, so that two who come for the same runs do not wait for each other.
    order by r.id for update of r
  ), run as (
    update saga_runs r set claim = free.claim, status = case r.status when 'pending' then 'running' else r.status end,
      heartbeat_at = clock_timestamp(), started_at = coalesce(r.started_at, clock_timestamp()), unknown_since = null
    from free where r.id = free.id
    returning r.*, free.again, clock_timestamp() as at
  ), begun as (
    insert into saga_step_results (saga_id, step_idx, name, status, started_at)
    select id, current_step_index, step_modules[current_step_index + 1], 'running', at
    from run where status = 'running' and not cancel_requested and not again
  )
  select id, claim, kind, status, step_modules, current_step_index, compensating_index, inputs, context,
    cancel_requested, cancel_requested_by from run`,
}

/**
 * Takes the runs that nobody drives and whose steps are known, each under the claim at its place, and begins their next
 * steps. One that was cancelled before begins none. Asked again with the same claims, it also returns what it took before.
 */
export const claimRuns = (
  executor: Executor,
  ids: string[],
  claims: string[],
  known: KnownSteps,
): Promise<Claimed[]> => runStatement(executor, CLAIM, [JSON.stringify(known), ids, claims])

/** Keeps the run from being taken by anyone else until the transaction ends; false when it is someone else's already. */
export async function lockClaim(tx: Executor, id: string, claim: string): Promise<boolean> {
  const { rows } = await sql`select 1 from saga_runs where id = ${id} and claim = ${claim} for share`.execute(
    tx,
  )
  return rows.length > 0
}

/** Names the job that shall bring a worker to the run; false when somebody drives it, or it has ended. */
export async function awaitJob(executor: Executor, id: string, jobId: string): Promise<boolean> {
  const { numAffectedRows } =
    await sql`update saga_runs set job_id = ${jobId}, heartbeat_at = clock_timestamp()
    where id = ${id} and claim is null and finished_at is null`.execute(executor)
  return numAffectedRows === 1n
}

const MARK_UNKNOWN = {
  name: 'saga_mark_unknown',
  text: `update saga_runs r set unknown_since = coalesce(r.unknown_since, clock_timestamp())
    where r.id = any($2::uuid[]) and r.claim is null and r.finished_at is null and not ${KNOWN}
    returning r.id`,
}

/** Of these runs, those that nobody drives wait for a process that knows their steps. */
export async function markUnknown(executor: Executor, ids: string[], known: KnownSteps): Promise<string[]> {
  const rows = await runStatement<{ id: string }>(executor, MARK_UNKNOWN, [JSON.stringify(known), ids])
  return rows.map(({ id }) => id)
}

const LIST_LEFT = {
  name: 'saga_list_left',
  text: `select r.id from saga_runs r
    where r.status in ('pending', 'running', 'compensating') and r.claim is null and r.unknown_since is not null
      and (${KNOWN} or ${GIVEN_UP})
    order by r.id limit $2`,
}

/** Runs that a process left alone because it did not know their steps, and that this one may take. */
export async function listLeft(executor: Executor, known: KnownSteps, limit: number): Promise<string[]> {
  const rows = await runStatement<{ id: string }>(executor, LIST_LEFT, [JSON.stringify(known), limit])
  return rows.map(({ id }) => id)
}

// The first four parameters of every write; the runner's own follow.
const HELD = `id = $1::uuid and claim = $2::uuid`
const WRITTEN = `last_write = $3::uuid, job_id = coalesce($4::uuid, job_id), heartbeat_at = clock_timestamp()`
/** Of a row `r`: what a write has made of the run. */
export const PUT_DOWN = `r.claim is null and r.finished_at is null as put_down`
export const OUTCOME = `r.status, ${PUT_DOWN}`

/** SQL, behind a `run` that returns whole rows: the end of a run is published with the write that ends it. */
export const PUBLISH_END = publishing(`
  select 'saga.' || r.status as type, r.tenant_id, r.finished_at as occurred_at,
    json_build_object('tenant_id', r.tenant_id, 'deployment_id', r.deployment_id, 'saga', ${jsonOf(SagaRun, 'r')}) as data
  from run r where r.finished_at is not null`)

async function make(
  executor: Executor,
  statement: Statement,
  { id, claim, write, jobId }: ClaimedWrite,
  values: unknown[],
): Promise<Written | undefined> {
  return (await runStatement<Written>(executor, statement, [id, claim, write, jobId, ...values]))[0]
}

const TURN_BACK = {
  name: 'saga_turn_back',
  text: `with run as (
    update saga_runs r set status = 'compensating', error = $6::jsonb, compensating_index = $7::int,
      claim = case when $4::uuid is not null then null else claim end, ${WRITTEN}
    where ${HELD} and status = 'running' and current_step_index = $5::int
    returning id, ${OUTCOME}, clock_timestamp() as at
  ), done as (
    update saga_step_results s set status = 'failed', error = $8, finished_at = run.at
    from run where s.saga_id = $1 and s.step_idx = $5
  )
  select status, put_down from run`,
}

export interface FailedStep {
  index: number
  error: RunError
  undoFrom: number | null
}

/** The step has failed: from here on the run goes back. */
export const turnBack = (
  executor: Executor,
  by: ClaimedWrite,
  { index, error, undoFrom }: FailedStep,
): Promise<Written | undefined> =>
  make(executor, TURN_BACK, by, [index, JSON.stringify(error), undoFrom, error.reason])

// A failed step whose own compensation went well stays `failed`: that is what became of it.
const COMPENSATED = {
  name: 'saga_compensated',
  text: `with run as (
    update saga_runs r set compensating_index = $7::int,
      status = case when $7 is null then 'rolled_back' else status end,
      finished_at = case when $7 is null then clock_timestamp() end,
      claim = case when $7 is null or $4::uuid is not null then null else claim end, ${WRITTEN}
    where ${HELD} and status = 'compensating'
    returning r.*, ${PUT_DOWN}, coalesce(finished_at, clock_timestamp()) as at
  ), done as (
    update saga_step_results s set error = coalesce(s.error || '; ' || $6, $6::text, s.error),
      status = case when s.status = 'completed' and $6 is null then 'compensated' else s.status end,
      compensated_at = case when $6 is null then run.at end
    from run where s.saga_id = $1 and s.step_idx = $5::int
  ), ${PUBLISH_END}
  select status, put_down from run`,
}

export interface CompensatedStep {
  /** None: there was nothing to compensate. */
  index: number | null
  /** Why the compensation failed, if it did. */
  error: string | null
  /** The next to compensate; none: the run is rolled back. */
  next: number | null
}

export const recordCompensation = (
  executor: Executor,
  by: ClaimedWrite,
  { index, error, next }: CompensatedStep,
): Promise<Written | undefined> => make(executor, COMPENSATED, by, [index, error, next])

const GIVE_UP = {
  name: 'saga_give_up',
  text: `with run as (
    update saga_runs r set status = 'failed', error = $5::jsonb, claim = null, finished_at = clock_timestamp(), ${WRITTEN}
    where ${HELD}
    returning r.*, ${PUT_DOWN}, finished_at as at
  ), done as (
    update saga_step_results s set status = 'failed', error = $6, finished_at = run.at
    from run where s.saga_id = $1 and s.step_idx = run.current_step_index and s.status = 'running'
  ), ${PUBLISH_END}
  select status, put_down from run`,
}

/** The run cannot be driven to an end. */
export const giveUp = (executor: Executor, by: ClaimedWrite, error: RunError): Promise<Written | undefined> =>
  make(executor, GIVE_UP, by, [JSON.stringify(error), error.reason])

const FIND_WRITE = {
  name: 'saga_find_write',
  text: `select ${OUTCOME} from saga_runs r where id = $1::uuid and last_write = $2::uuid`,
}

/** What the write has made of the run, if it was made. */
export async function findWrite(
  executor: Executor,
  { id, write }: ClaimedWrite,
): Promise<Written | undefined> {
  return (await runStatement<Written>(executor, FIND_WRITE, [id, write]))[0]
}

const BEAT = {
  name: 'saga_beat',
  text: `update saga_runs r set heartbeat_at = clock_timestamp() from unnest($1::uuid[], $2::uuid[]) as mine (id, claim)
    where r.id = mine.id and r.claim = mine.claim returning r.claim`,
}

/** Says for all runs of a process at once that they are driven; returns the claims that still stand. */
export async function beat(executor: Executor, ids: string[], claims: string[]): Promise<string[]> {
  return (await runStatement<{ claim: string }>(executor, BEAT, [ids, claims])).map(row => row.claim)
}

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
  steps.map(({ by }) => by.id),
  steps.map(({ by }) => by.claim),
  steps.map(({ by }) => by.write),
  steps.map(({ step }) => step.index),
  steps.map(({ step }) => step.context),
  steps.map(({ step }) => step.output),
  steps.map(({ step }) => step.last),
  steps.map(({ step }) => step.undoFrom),
]

export interface Completing {
  by: ClaimedWrite
  step: CompletedStep
}

/** Result, context and index together, and the next step begun; or the end; or, if it was cancelled, the turn back. */
export async function completeStep(
  executor: Executor,
  by: ClaimedWrite,
  step: CompletedStep,
): Promise<Written | undefined> {
  const statement = step.last ? COMPLETE_LAST_STEP : COMPLETE_STEP
  return (await runStatement<Written>(executor, statement, [...columnsOf([{ by, step }]), by.jobId]))[0]
}

/** The same for one step each of several runs, none of which is put down; those that somebody has locked are left out. */
export function completeFreeSteps(
  executor: Executor,
  steps: Completing[],
): Promise<(Written & { id: string })[]> {
  const ending = steps.some(({ step }) => step.last)
  return runStatement(executor, ending ? COMPLETE_FREE_LAST_STEPS : COMPLETE_FREE_STEPS, [
    ...columnsOf(steps),
    null,
  ])
}
