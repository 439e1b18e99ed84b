// SQL of runs as they are started, cancelled, listed and shown. The database makes the JSON.
import { type Selectable, sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { REASON_FOR_TENANTS } from '../webhooks/index.ts'
import type { RunStatus } from './run-states.ts'
import { SagaRun, SagaRunWithSteps, SagaStep } from './schemas.ts'
import type { SagaRunRow } from './tables.ts'

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

const withSteps = (scope: Scope) =>
  `${jsonOf(SagaRunWithSteps, 'r', {
    ...runFields(scope),
    steps: `(select coalesce(json_agg(${stepJson(scope)} order by s.step_idx), '[]')
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

/** False when a run of the kind is under way with that key. */
export async function insertRun(tx: Executor, run: NewRun): Promise<boolean> {
  const { rows } = await sql<Selectable<SagaRunRow>>`
    insert into saga_runs
      (id, kind, status, step_modules, inputs, business_key, deployment_id, tenant_id, actor, job_id, heartbeat_at, created_at)
    values (${run.id}, ${run.kind}, 'pending', ${run.stepModules}, ${run.inputs}, ${run.businessKey}, ${run.deploymentId},
      ${run.tenantId}, ${run.actor}, ${run.jobId}, clock_timestamp(), clock_timestamp())
    on conflict (kind, business_key) where status in ('pending', 'running', 'compensating') do nothing
    returning *`.execute(tx)
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

/** The run with its steps, as JSON text. */
export async function showRun(executor: Executor, scope: Scope, id: string): Promise<string | undefined> {
  const { rows } = await sql<{ json: string }>`
    select ${sql.raw(withSteps(scope))} as json from saga_runs r
    where r.id = ${id} ${scope.allTenants ? sql`` : sql`and r.tenant_id = ${scope.tenantId}`}`.execute(
    executor,
  )
  return rows[0]?.json
}

/** Only a run that may still turn back is asked to. */
export async function requestCancel(executor: Executor, id: string, by: string): Promise<boolean> {
  const asked = await RUNS.update(
    executor,
    query => query.where('id', '=', id).where('status', 'in', ['pending', 'running']),
    { cancel_requested: true, cancel_requested_by: sql`coalesce(cancel_requested_by, ${by})` },
  )
  return asked.length > 0
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
  before: string | null,
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
    after: before === null ? null : [before],
    limit,
  })
}

/** By status; few rows, whatever the history. */
export async function countUnderWay(executor: Executor): Promise<{ status: RunStatus; count: number }[]> {
  const { rows } = await sql<{ status: RunStatus; count: number }>`
    select s.status, count(r.id)::int as count from unnest(array['pending', 'running', 'compensating']) as s (status)
    left join saga_runs r on r.status = s.status and r.status in ('pending', 'running', 'compensating')
    group by s.status`.execute(executor)
  return rows
}
