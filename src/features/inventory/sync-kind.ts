// One sweep of one kind: the listing is read page by page and written in batches; only when it was whole are the
// resources it did not show struck, in the transaction that finishes the run, so that a sweep strikes once or never.
import { isInMotion, type Kind, mapItem, ProviderBusyError } from '../../integrations/digitalocean/index.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { newId } from '../../kernel/ids.ts'
import type { JobRun } from '../../kernel/queue/job.ts'
import { mustHold } from './brake.ts'
import { ensureInternalProject } from './ensure-internal-project.ts'
import type { InventoryKernel } from './inventory-kernel.ts'
import { type SeenResource, seenResource } from './seen-resource.ts'
import {
  countDoomed,
  finishRun,
  lockRun,
  markFresh,
  type Progress,
  type RunHandle,
  recordProgress,
  startRun,
} from './sync-run-repository.ts'
import type { RunStatus } from './tables.ts'
import { strikeUnseen } from './write-resources.ts'
import { writeAllSeen } from './write-seen.ts'

const ROWS_A_BATCH = 2_000

export interface KindSweep {
  kind: Kind
  sweepId: string
}

export interface SyncOutcome {
  status: RunStatus
  /** Provider ids of resources whose status will change by itself. */
  inMotion: string[]
}

type JobPart = Pick<JobRun, 'signal' | 'log'>

/** Null when this sweep of this kind has been finished already (a job run twice). */
export async function syncKind(
  kernel: InventoryKernel,
  { kind, sweepId }: KindSweep,
  job: JobPart,
): Promise<SyncOutcome | null> {
  const { db, clock } = kernel
  const started_at = clock.now().toISOString()
  const run = await transaction(db, tx => startRun(tx, { id: newId(), sweep_id: sweepId, kind, started_at }))
  if (!run) return null
  const progress: Progress = { pages: 0, seen: 0, total: null, inserted: 0, updated: 0, restored: 0 }
  try {
    await ensureInternalProject(kernel)
    return await sweep(kernel, kind, run, progress, job)
  } catch (error) {
    if (error instanceof LostRunError) throw error
    const message = error instanceof Error ? error.message : String(error)
    await finishRun(db, run, {
      ...progress,
      status: 'failed',
      finished_at: clock.now().toISOString(),
      struck: 0,
      deleted: 0,
      held: 0,
      error: message.slice(0, 1_000),
    })
    throw error
  }
}

async function sweep(
  kernel: InventoryKernel,
  kind: Kind,
  run: RunHandle,
  progress: Progress,
  { signal, log }: JobPart,
): Promise<SyncOutcome> {
  const { db, providers, clock } = kernel
  const inMotion: string[] = []
  let batch: SeenResource[] = []
  const actor = `sync:${run.id}`
  // Never before the run's start, which is what strikes are told by: a clock set back must not make the seen unseen.
  const now = () => new Date(Math.max(clock.now().getTime(), Date.parse(run.started_at))).toISOString()
  // When the batch's first page was asked for; the page to come is asked for as soon as the loop goes on.
  let askedAt = now()
  const flush = async () => {
    const rows = batch
    batch = []
    const written = await writeAllSeen(db, { kind, at: askedAt, actor }, rows)
    progress.inserted += written.inserted
    progress.updated += written.updated
    progress.restored += written.restored
    if (!(await recordProgress(db, run, progress))) throw new LostRunError(kind)
  }

  const listing = providers.for('cloud_sync_full').pages(kind, { signal })
  let unreadable: string | null = null
  for await (const { items, total } of listing) {
    for (const raw of items) {
      try {
        const item = mapItem(kind, raw)
        if (isInMotion(kind, item)) inMotion.push(item.provider_id)
        batch.push(seenResource(item))
      } catch (error) {
        // An item that cannot be read makes the listing less than whole, and costs the others nothing.
        unreadable ??= error instanceof Error ? error.message : String(error)
      }
    }
    progress.pages++
    progress.seen += items.length
    progress.total = total
    if (batch.length >= ROWS_A_BATCH) await flush()
    if (batch.length === 0) askedAt = now()
  }
  if (batch.length > 0 || progress.pages > 0) await flush()

  const { verdict } = listing
  progress.total = verdict.total
  const reason = verdict.complete ? unreadable : verdict.reason
  const status = reason === null ? 'complete' : progress.pages > 0 ? 'partial' : 'failed'
  await transaction(db, async tx => {
    if (!(await lockRun(tx, run))) throw new LostRunError(kind)
    const end = { struck: 0, deleted: 0, held: 0 }
    if (status === 'complete') {
      const { living, doomed } = await countDoomed(tx, kind, run.started_at)
      const hold = mustHold(doomed, living)
      Object.assign(
        end,
        await strikeUnseen(tx, { kind, at: now(), actor }, { sweepStartedAt: run.started_at, hold }),
      )
      if (hold) end.held = doomed
      await markFresh(tx, run)
    }
    const error = end.held > 0 ? heldBack(end.held) : reason
    await finishRun(tx, run, { ...progress, ...end, status, finished_at: now(), error })
    log.info({ kind, status, ...progress, ...end, error }, 'kind swept')
  })
  return { status, inMotion }
}

const heldBack = (held: number) => `${held} deletions are held: confirm them, or mend the provider’s answer`

/** Another worker took the run over while this one was thought dead. Nothing more is written. */
export class LostRunError extends Error {
  constructor(kind: string) {
    super(`the sweep of ${kind} was taken over by another worker`)
  }
}

/** How long to wait before asking again, when the provider's rate limit says so. */
export const retryAfter = (error: unknown): number | undefined =>
  error instanceof ProviderBusyError ? error.retryAfterMs : undefined
