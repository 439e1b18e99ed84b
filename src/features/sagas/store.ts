// SQL of runs as they are started, cancelled, listed and shown, and as they are rescued when nobody drives them any more.
// The database makes the JSON.

import { sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { REASON_FOR_TENANTS } from '../webhooks/index.ts'
import { PUBLISH_END } from './drive-store.ts'
import type { RescuePlan, Stranded } from './rescue-plan.ts'
import { type RunStatus, SagaRun, type SagaRunRow, SagaRunWithSteps, SagaStep } from './saga.ts'

/** A run as the caller may see it: to a tenant neither the reasons nor what the steps wrote is shown. */
const HIDDEN_FROM_TENANTS = {
  context: `'{}'::jsonb`,
  error: `r.error || '{"reason": "${REASON_FOR_TENANTS}"}'`,
}
const runFields = ({ allTenants }: Scope) => (allTenants ? {} : HIDDEN_FROM_TENANTS)

const stepJson = ({ allTenants }: Scope) =>
  jsonOf(
    SagaStep,
    's',
    allTenants
      ? {}
      : { output: 'null', error: `case when s.error is not null then '${REASON_FOR_TENANTS}' end` },
  )

const withSteps = (scope: Scope, steps: boolean) =>
  `${jsonOf(SagaRunWithSteps, 'r', {
    ...runFields(scope),
    actor: scope.allTenants ? 'r.actor' : 'null',
    cancel_requested_by: scope.allTenants ? 'r.cancel_requested_by' : 'null',
    steps: !steps
      ? `'[]'::json`
      : `(select coalesce(json_agg(${stepJson(scope)} order by s.step_idx), '[]')
      from saga_step_results s where s.saga_id = r.id)`,
  })}::text`

export interface NewRun {
  id: string
  kind: string
  stepModules: string[]
  /** JSON text. */
  inputs: string
  businessKey: string
  deploymentId: string | null
  tenantId: string | null
  actor: string
  jobId: string
}

const RUNS = auditedTable('saga_runs', {
  key: ['id'],
  silent: ['job_id', 'claim', 'last_write', 'heartbeat_at', 'suspected_at'],
})

const INSERT_RUN = {
  name: 'insert_saga_run',
  text: `insert into saga_runs
      (id, kind, status, step_modules, inputs, business_key, deployment_id, tenant_id, actor, job_id, heartbeat_at, created_at)
    values ($1, $2, 'pending', $3, $4, $5, $6, $7, $8, $9, clock_timestamp(), clock_timestamp())
    on conflict (kind, business_key) where status in ('pending', 'running', 'compensating') do nothing
    returning *`,
}

/** False when a run of the kind is under way with that key. */
export async function insertRun(tx: Executor, run: NewRun): Promise<boolean> {
  const { id, kind, stepModules, inputs, businessKey, deploymentId, tenantId, actor, jobId } = run
  const values = [id, kind, stepModules, inputs, businessKey, deploymentId, tenantId, actor, jobId]
  const rows = await runStatement<SagaRunRow>(tx, INSERT_RUN, values)
  for (const row of rows) RUNS.recordChange(tx, null, row)
  return rows.length > 0
}

export async function findUnderWay(
  tx: Executor,
  kind: string,
  businessKey: string,
): Promise<string | undefined> {
  const row = await tx
    .selectFrom('saga_runs')
    .select('id')
    .where('kind', '=', kind)
    .where('business_key', '=', businessKey)
    .where('status', 'in', ['pending', 'running', 'compensating'])
    .executeTakeFirst()
  return row?.id
}

/** The run with its steps, or with none of them, as JSON text. */
export async function showRun(
  executor: Executor,
  scope: Scope,
  id: string,
  steps = true,
): Promise<string | undefined> {
  const { rows } = await sql<{ json: string }>`
    select ${sql.raw(withSteps(scope, steps))} as json from saga_runs r
    where r.id = ${id} ${scope.allTenants ? sql`` : sql`and r.tenant_id = ${scope.tenantId}`}`.execute(
    executor,
  )
  return rows[0]?.json
}

export async function runExists(executor: Executor, scope: Scope, id: string): Promise<boolean> {
  const row = await executor
    .selectFrom('saga_runs')
    .select('id')
    .where('id', '=', id)
    .$if(!scope.allTenants, query => query.where('tenant_id', '=', (scope as { tenantId: string }).tenantId))
    .executeTakeFirst()
  return row !== undefined
}

/** In order; of a run that the caller may see. */
export const listSteps = (
  executor: Executor,
  scope: Scope,
  id: string,
  from: number,
  limit: number,
  after: Key | null,
): Promise<{ step_idx: number; json: string }[]> =>
  listPage(executor, {
    name: scope.allTenants ? 'saga_steps' : 'saga_steps_of_tenant',
    select: `select s.step_idx, ${stepJson(scope)}::text as json from saga_step_results s`,
    filters: { saga: ['s.saga_id = ?', id], from: ['s.step_idx >= ?', from] },
    orderBy: ['s.step_idx'],
    after,
    limit,
  })

/** Only a run that may still turn back is asked to. */
export async function requestCancel(executor: Executor, id: string, by: string): Promise<boolean> {
  const cancelled = await RUNS.update(
    executor,
    query => query.where('id', '=', id).where('status', 'in', ['pending', 'running']),
    { cancel_requested: true, cancel_requested_by: sql`coalesce(cancel_requested_by, ${by})` },
  )
  return cancelled.length > 0
}

export async function statusOf(executor: Executor, id: string): Promise<RunStatus | undefined> {
  const row = await executor.selectFrom('saga_runs').select('status').where('id', '=', id).executeTakeFirst()
  return row?.status
}

export interface RunFilter {
  status?: RunStatus
  kind?: string
  deployment_id?: string
  tenant_id?: string
}

/** Newest first, without their steps. */
export function listRuns(
  executor: Executor,
  scope: Scope,
  filter: RunFilter,
  limit: number,
  after: Key | null,
): Promise<{ id: string; json: string }[]> {
  return listPage(executor, {
    name: scope.allTenants ? 'saga_runs' : 'saga_runs_of_tenant',
    select: `select r.id, ${jsonOf(SagaRun, 'r', runFields(scope))}::text as json from saga_runs r`,
    filters: {
      status: ['r.status = ?', filter.status],
      kind: ['r.kind = ?', filter.kind],
      deployment_id: ['r.deployment_id = ?', filter.deployment_id],
      tenant_id: ['r.tenant_id = ?', scope.allTenants ? filter.tenant_id : scope.tenantId],
    },
    orderBy: ['r.id'],
    descending: true,
    after,
    limit,
  })
}

/** Runs under way, and those with an id after this one that did not complete; by status. */
export async function countTroubled(
  executor: Executor,
  scope: Scope,
  since: string,
): Promise<{ status: RunStatus; count: number }[]> {
  const own = scope.allTenants ? sql`` : sql`and tenant_id = ${scope.tenantId}`
  const { rows } = await sql<{ status: RunStatus; count: number }>`
    select status, count(*)::int as count from saga_runs
    where status in ('pending', 'running', 'compensating') ${own} group by status
    union all
    select status, count(*)::int from saga_runs
    where status in ('failed', 'rolled_back') and id >= ${since} ${own} group by status`.execute(executor)
  return rows
}

/** By status; few rows, whatever the history. */
export async function countUnderWay(executor: Executor): Promise<{ status: RunStatus; count: number }[]> {
  const { rows } = await sql<{ status: RunStatus; count: number }>`
    select s.status, count(r.id)::int as count from unnest(array['pending', 'running', 'compensating']) as s (status)
    left join saga_runs r on r.status = s.status and r.status in ('pending', 'running', 'compensating')
    group by s.status`.execute(executor)
  return rows
}

export interface RescueTimeouts {
  /** No heartbeat for so long: its worker is suspected. */
  silentMs: number
  /** And none for so long after that: it is dead. Longer than the time between two heartbeats. */
  suspectMs: number
  /** A run that waits for its job is left alone for so long. */
  waitingMs: number
}

const MOST_AT_ONCE = 100

const ago = (ms: number) => sql`clock_timestamp() - make_interval(secs => ${ms / 1000})`

/** Locked until the transaction ends; those that another rescuer has locked are left out. */
export async function lockStranded(
  tx: Executor,
  queue: string,
  { suspectMs, waitingMs }: RescueTimeouts,
): Promise<Stranded[]> {
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
        select from pgboss.job j where j.name = ${queue} and j.id = r.job_id
          and (j.state < 'active' or j.state = 'active' and j.started_on > ${ago(waitingMs)}))
      end
    order by r.id limit ${MOST_AT_ONCE}
    for update of r skip locked`.execute(tx)
  return rows
}

/** The next poll tells the dead from those that could not reach the database: these send a heartbeat as soon as they can. */
export async function suspectSilent(tx: Executor, { silentMs }: RescueTimeouts): Promise<number> {
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
