// The inventory's jobs: the sweep of a kind, the projects, the refresh of one resource; and the task that starts it all.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { type Kind, kindNames } from '../../integrations/digitalocean/index.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { handle, type JobHandler, type JobRun, type JobType } from '../../kernel/queue/queues.ts'
import { every } from '../../kernel/time.ts'
import { refreshResource } from './actions.ts'
import { FOLLOW_EVERY_MS, followActions } from './follow-actions.ts'
import { openSpending } from './look-spending.ts'
import { LostRunError, retryAfter, syncKind } from './sync-kind.ts'
import { syncProjects } from './sync-projects.ts'
import { endedRuns } from './sync-run-store.ts'

const KindName = Type.Enum([...kindNames])

const SyncKind = Type.Object({
  kind: KindName,
  sweep_id: Type.String(),
  postponed: Type.Optional(Type.Integer()),
})
const syncKindJob: JobType<typeof SyncKind> = {
  name: 'sync_kind',
  queue: 'cloud_sync_full',
  payload: SyncKind,
}

const SyncProjects = Type.Object({ sweep_id: Type.String() })
const syncProjectsJob: JobType<typeof SyncProjects> = {
  name: 'sync_projects',
  queue: 'cloud_sync_slow',
  payload: SyncProjects,
}

const Refresh = Type.Object({ kind: KindName, provider_id: Type.String(), look: Type.Integer() })
const refreshJob: JobType<typeof Refresh> = {
  name: 'refresh_resource',
  queue: 'cloud_sync_fast',
  payload: Refresh,
}

const Follow = Type.Object({})
export const followJob: JobType<typeof Follow> = {
  name: 'follow_actions',
  queue: 'cloud_sync_fast',
  payload: Follow,
  ownQueue: true,
}

/** Until the process is told to stop: asks for a look every few seconds; of several workers' one is made. */
export function watchActions({ db, jobs, log }: Deps): void {
  every(
    { everyMs: FOLLOW_EVERY_MS, until: jobs.leaving, log, what: 'the look at the provider’s actions' },
    async () => {
      await jobs.send(db, followJob, {}, { key: 'actions' })
    },
  )
}

/** Told the ids of resources that have changed. */
export type OnChanged = (resourceIds: string[]) => Promise<void>

/** What others do with what the jobs have seen. */
export interface Followers {
  changed: OnChanged
  /** Every kind's part of a sweep has ended, and the projects' too; told once more when one of them is tried again. */
  swept: () => Promise<void>
}

const NOBODY: Followers = { changed: async () => {}, swept: async () => {} }

/** Of every kind, and of the projects. */
const RUNS_OF_A_SWEEP = kindNames.length + 1

const REFRESH_EVERY_MS = 20_000
/** An hour of looking; by then the next sweep has seen it. */
const MOST_LOOKS = 180

/** Sends one job for each kind, so that one kind's failure touches no other, and one for the projects. */
export function sendSweep({ db, jobs }: Deps, sweepId: string): Promise<void> {
  return transaction(db, async tx => {
    await jobs.send(tx, syncProjectsJob, { sweep_id: sweepId }, { key: 'projects' })
    for (const kind of kindNames) await jobs.send(tx, syncKindJob, { kind, sweep_id: sweepId }, { key: kind })
  })
}

export function inventoryHandlers(deps: Deps, { changed: onChanged, swept } = NOBODY): JobHandler[] {
  /** Also when it failed: then its record says so, and what the others saw counts. */
  const thenTell = async (sweepId: string, work: Promise<void>) => {
    try {
      await work
    } finally {
      if ((await endedRuns(deps.db, sweepId)) === RUNS_OF_A_SWEEP) await swept()
    }
  }
  return [
    handle(syncKindJob, ({ kind, sweep_id, postponed = 0 }, run) =>
      thenTell(sweep_id, sweepKind(deps, kind, sweep_id, postponed, run, onChanged)),
    ),
    handle(followJob, async (_, run) => {
      const followed = await followActions(deps, run)
      if (!followed) return
      run.log.debug(followed, 'actions followed')
      await onChanged(followed.changed)
    }),
    handle(syncProjectsJob, ({ sweep_id }, run) => thenTell(sweep_id, syncProjects(deps, sweep_id, run))),
    handle(refreshJob, async ({ kind, provider_id, look }, run) => {
      const again = await refreshWithinBudget(deps, kind, provider_id, run.signal, onChanged)
      if (again && look < MOST_LOOKS) await sendRefresh(deps, kind, provider_id, look + 1)
    }),
  ]
}

/** Whether it is to be looked at again: it moves, or others needed the provider and it was not looked at now. */
async function refreshWithinBudget(
  deps: Deps,
  kind: Kind,
  providerId: string,
  signal: AbortSignal,
  onChanged: OnChanged,
): Promise<boolean> {
  const provider = deps.providers.for('cloud_sync_fast')
  const spending = openSpending(deps, provider)
  if (!provider.absent && !(await spending.may(1, 'other'))) return true
  try {
    const { counted } = spending
    return (await refreshResource(deps, kind, providerId, { signal, counted }, onChanged)) === 'moving'
  } finally {
    await spending.settle()
  }
}

async function sweepKind(
  deps: Deps,
  kind: Kind,
  sweepId: string,
  postponed: number,
  run: JobRun,
  onChanged: OnChanged,
): Promise<void> {
  try {
    const outcome = await syncKind(deps, { kind, sweepId }, { ...run, onChanged })
    for (const id of outcome?.inMotion ?? []) await sendRefresh(deps, kind, id, 1)
  } catch (error) {
    // Whoever took the run over finishes it.
    if (error instanceof LostRunError) return run.log.warn({ kind }, error.message)
    const delayMs = retryAfter(error)
    if (delayMs === undefined) throw error
    // The rate limit asks for more patience than a job should hold: it comes back later, under a key of its own because
    // this one is still running.
    await deps.jobs.send(
      deps.db,
      syncKindJob,
      { kind, sweep_id: sweepId, postponed: postponed + 1 },
      { key: `${kind}:${sweepId}:${postponed + 1}`, delayMs },
    )
    run.log.warn({ kind, retry_in_ms: delayMs }, 'the provider’s rate limit: sweep postponed')
  }
}

/** Looks at a resource in motion again in a while, and goes on as long as it moves. */
export async function sendRefresh(
  { db, jobs }: Pick<Deps, 'db' | 'jobs'>,
  kind: Kind,
  providerId: string,
  look = 1,
): Promise<void> {
  // Numbered, because the job that asks for the next look is itself still running.
  await jobs.send(
    db,
    refreshJob,
    { kind, provider_id: providerId, look },
    { key: `${kind}:${providerId}:${look}`, delayMs: REFRESH_EVERY_MS },
  )
}

/** Both have to be able to ask: a sweep without the projects would leave resources without tenants. */
const QUEUES = ['cloud_sync_full', 'cloud_sync_slow'] as const

export const resourceSync = (deps: Deps): Task => ({
  name: 'resource_sync',
  description: 'Mirrors the provider’s projects and resources: one job for each kind, one for the projects.',
  queue: 'cloud_sync_full',
  cron: '15 * * * *',
  // The run's id is the sweep's: a task that is tried again continues the same sweep.
  async run({ id }) {
    // Said once, by the task, rather than by each of its jobs.
    for (const queue of QUEUES) {
      const { absent } = deps.providers.for(queue)
      if (absent) throw new Error(absent)
    }
    await sendSweep(deps, id)
  },
})
