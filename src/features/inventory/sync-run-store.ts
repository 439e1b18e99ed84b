// SQL of the sweeps' ledger.
import { sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { jsonOf } from '../../kernel/noun.ts'
import type { Clock } from '../../kernel/time.ts'
import { noteResult } from '../scheduled-tasks/index.ts'
import { PROVIDER } from './resource.ts'
import { type RunStatus, SyncRun, type SyncRunRow } from './sync-run.ts'
import { STRIKES_TO_DELETE } from './write-resources.ts'

/**
 * A look at the provider, begun: its place in the order of all looks, whichever node makes them. Times would not do: two
 * nodes' clocks differ, and what one dates ahead would be newer than all that the other sees.
 */
export interface Look {
  /** Counts up across nodes; taken before the provider is asked. */
  look: number
  at: string
}

export async function beginLook(executor: Executor, clock: Clock): Promise<Look> {
  const { rows } = await sql<{ look: number }>`select ${NEXT_LOOK} as look`.execute(executor)
  return { look: rows[0]!.look, at: clock.now().toISOString() }
}

/** Whether a sweep of this kind runs, or has begun after this look. */
export async function sweptSince(tx: Executor, kind: string, look: number): Promise<boolean> {
  const { rows } = await sql`
    select 1 from (select status, look from sync_runs where kind = ${kind} order by id desc limit 3) r
    where status = 'running' or look > ${look} limit 1`.execute(tx)
  return rows.length > 0
}

/** A run as its worker holds it: the attempt keeps a worker thought dead from finishing another's. */
export type RunHandle = Pick<SyncRunRow, 'id' | 'sweep_id' | 'attempt' | 'kind' | 'started_at' | 'look'>

const NEXT_LOOK = sql<number>`nextval('provider_looks')`

/** Starts a run, or starts it anew when its job is tried again; null when it has been finished already. */
export async function startRun(
  tx: Executor,
  run: { id: string; sweep_id: string; kind: string; started_at: string },
): Promise<RunHandle | null> {
  // Workers that begin at the same moment take turns: the second would otherwise fail by the index of running runs.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`sweep of ${run.kind}`}, 0))`.execute(tx)
  // The queue runs one job of a kind at a time, so a run that still says `running` has lost its worker.
  await tx
    .updateTable('sync_runs')
    .set({ status: 'failed', finished_at: run.started_at, error: 'its worker was lost' })
    .where('kind', '=', run.kind)
    .where('status', '=', 'running')
    .where('sweep_id', '!=', run.sweep_id)
    .execute()
  const row = await tx
    .insertInto('sync_runs')
    .values({ ...run, status: 'running', look: NEXT_LOOK } as unknown as SyncRunRow)
    .onConflict(conflict =>
      conflict
        .columns(['sweep_id', 'kind'])
        .doUpdateSet({
          attempt: sql`sync_runs.attempt + 1`,
          status: 'running',
          look: NEXT_LOOK,
          started_at: run.started_at,
          finished_at: null,
          pages: 0,
          seen: 0,
          error: null,
          refused_since: null,
          cut: 0,
          set_aside: 0,
          remarks: null,
        })
        .where('sync_runs.status', 'in', ['running', 'failed']),
    )
    .returning(['id', 'sweep_id', 'attempt', 'kind', 'started_at', 'look'])
    .executeTakeFirst()
  return row ?? null
}

export interface Progress {
  pages: number
  seen: number
  total: number | null
  inserted: number
  updated: number
  restored: number
  cut: number
  set_aside: number
  remarks: string | null
}

export const noProgress = (): Progress => ({
  pages: 0,
  seen: 0,
  total: null,
  inserted: 0,
  updated: 0,
  restored: 0,
  cut: 0,
  set_aside: 0,
  remarks: null,
})

/** False when the run is no longer this worker's. */
export async function recordProgress(
  executor: Executor,
  run: RunHandle,
  progress: Progress,
): Promise<boolean> {
  const result = await ours(executor, run).set(progress).executeTakeFirst()
  return result.numUpdatedRows > 0n
}

export interface Outcome extends Progress {
  status: RunStatus
  finished_at: string
  struck: number
  deleted: number
  held: number
  error: string | null
  refused_since?: string | null
}

/** The first of the refusals in a row that the run before this one ends; null: it was not refused. */
export async function refusedBefore(tx: Executor, run: RunHandle): Promise<string | null> {
  const before = await tx
    .selectFrom('sync_runs')
    .select('refused_since')
    .where('kind', '=', run.kind)
    .where('status', '!=', 'running')
    .where('id', '<', run.id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return before?.refused_since ?? null
}

interface SweepResult {
  kinds: number
  complete: number
  partial: number
  failed: number
  unavailable: number
}

/** What a sweep has come to so far. */
async function resultOf(tx: Executor, sweepId: string): Promise<SweepResult> {
  const { rows } = await sql<SweepResult>`
    select count(*)::int as kinds, count(*) filter (where status = 'complete')::int as complete,
      count(*) filter (where status = 'partial')::int as partial, count(*) filter (where status = 'failed')::int as failed,
      count(*) filter (where status = 'unavailable')::int as unavailable
    from sync_runs where sweep_id = ${sweepId} and status <> 'running'`.execute(tx)
  return rows[0]!
}

/** How many kinds of a sweep have ended, the projects with them. */
export const endedRuns = async (executor: Executor, sweepId: string): Promise<number> =>
  (await resultOf(executor, sweepId)).kinds

/** Its task's run says how many kinds have ended how. */
export async function finishRun(tx: Executor, run: RunHandle, outcome: Outcome): Promise<boolean> {
  const result = await ours(tx, run).set(outcome).executeTakeFirst()
  if (result.numUpdatedRows === 0n) return false
  await noteResult(tx, run.sweep_id, () => resultOf(tx, run.sweep_id))
  return true
}

const ours = (executor: Executor, { id, attempt }: RunHandle) =>
  executor
    .updateTable('sync_runs')
    .where('id', '=', id)
    .where('attempt', '=', attempt)
    .where('status', '=', 'running')

/** Locks the run until the transaction ends; false when it is no longer this worker's. */
export async function lockRun(tx: Executor, { id, attempt }: RunHandle): Promise<boolean> {
  const row = await tx
    .selectFrom('sync_runs')
    .select('id')
    .where('id', '=', id)
    .where('attempt', '=', attempt)
    .where('status', '=', 'running')
    .forUpdate()
    .executeTakeFirst()
  return row !== undefined
}

/** How many of a kind live, and how many of them this sweep would delete. */
export async function countDeletions(
  tx: Executor,
  kind: string,
  sweep: number,
): Promise<{ living: number; deletions: number }> {
  const { rows } = await sql<{ living: number; deletions: number }>`
    select count(*)::int as living,
      count(*) filter (where last_look < ${sweep} and stale_strike_count + 1 >= ${STRIKES_TO_DELETE}::int)::int as deletions
    from cloud_resources where provider = ${PROVIDER} and kind = ${kind} and deleted_at is null`.execute(tx)
  return rows[0]!
}

export async function markFresh(tx: Executor, run: RunHandle): Promise<void> {
  await tx
    .insertInto('sync_freshness')
    .values({ kind: run.kind, complete_at: run.started_at, run_id: run.id })
    .onConflict(conflict =>
      conflict.column('kind').doUpdateSet({ complete_at: run.started_at, run_id: run.id }),
    )
    .execute()
}

export async function lockRunById(tx: Executor, id: string): Promise<SyncRunRow | undefined> {
  return tx.selectFrom('sync_runs').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

export async function newestRunId(tx: Executor, kind: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('sync_runs')
    .select('id')
    .where('kind', '=', kind)
    .where('status', '!=', 'running')
    .orderBy('look', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

const RUNS = auditedTable('sync_runs', { key: ['id'] })

export async function setConfirmed(
  tx: Executor,
  id: string,
  at: string,
  by: string,
  deleted: number,
): Promise<SyncRunRow> {
  const confirmed = { confirmed_at: at, confirmed_by: by, deleted: sql<number>`deleted + ${deleted}::int` }
  return (await RUNS.update(tx, { id }, confirmed))[0]!
}

export interface MirroredKind {
  kind: string
  complete_at: string | null
  /** What the last whole sweep saw, or what a tenant has now. */
  resources: number | null
  last_run: SyncRunRow | null
}

/**
 * How fresh each kind is. How many there are of it is what its last whole sweep saw, for to count a million is slow; those
 * of a tenant are counted, and runs are the operator's.
 */
export async function mirrorState(
  executor: Executor,
  scope: Scope,
  kinds: readonly string[],
): Promise<MirroredKind[]> {
  const text = scope.allTenants
    ? `select k.kind, iso8601(f.complete_at) as complete_at, whole.seen as resources,
        (select ${jsonOf(SyncRun, 'r')} from sync_runs r where r.kind = k.kind order by r.id desc limit 1) as last_run
      from unnest($1::text[]) k (kind)
      left join sync_freshness f on f.kind = k.kind left join sync_runs whole on whole.id = f.run_id
      order by k.kind`
    : `select k.kind, iso8601(f.complete_at) as complete_at, coalesce(own.resources, 0) as resources, null as last_run
      from unnest($1::text[]) k (kind)
      left join sync_freshness f on f.kind = k.kind
      left join (
        select kind, count(*)::int as resources from cloud_resources
        where tenant_id = $2 and deleted_at is null group by kind
      ) own on own.kind = k.kind
      order by k.kind`
  const name = scope.allTenants ? 'mirror_state' : 'mirror_state_of_tenant'
  const values = scope.allTenants ? [kinds] : [kinds, scope.tenantId]
  return runStatement(executor, { name, text }, values)
}

export interface RunFilter {
  kind?: string
  status?: RunStatus
  sweep_id?: string
}

export function listSyncRuns(
  executor: Executor,
  filter: RunFilter,
  limit: number,
  before: string | null,
): Promise<SyncRunRow[]> {
  return executor
    .selectFrom('sync_runs')
    .selectAll()
    .$if(filter.kind !== undefined, q => q.where('kind', '=', filter.kind!))
    .$if(filter.status !== undefined, q => q.where('status', '=', filter.status!))
    .$if(filter.sweep_id !== undefined, q => q.where('sweep_id', '=', filter.sweep_id!))
    .$if(before !== null, q => q.where('id', '<', before!))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

export function findSyncRun(executor: Executor, id: string): Promise<SyncRunRow | undefined> {
  return executor.selectFrom('sync_runs').selectAll().where('id', '=', id).executeTakeFirst()
}
