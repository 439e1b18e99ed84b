// One sweep of one kind: the listing is read page by page and written in batches; only when it was whole are the
// resources it did not show struck, in the transaction that finishes the run, so that a sweep strikes once or never.

import type { Deps } from '../../deps.ts'
import {
  isTransitional,
  itemId,
  type Kind,
  mapItem,
  ProviderBusyError,
  ProviderError,
  type RawItem,
} from '../../integrations/digitalocean/index.ts'
import { reasonOf } from '../../kernel/db/errors.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { newId } from '../../kernel/ids.ts'
import type { JobRun } from '../../kernel/queue/queues.ts'
import type { Clock } from '../../kernel/time.ts'
import { ensureInternalProject } from './actions.ts'
import { actionsSince } from './actions-since.ts'
import { actionsOfKind, KINDS_WITH_ACTIONS } from './feed-plan.ts'
import { feedPosition } from './feed-store.ts'
import { isStorableId, type SeenResource, seenResource, UnstorableError } from './seen-resource.ts'
import type { RunStatus } from './sync-run.ts'
import { createRemarks, isRefusal, mustHold, refusedStatus } from './sync-run.ts'
import {
  beginLook,
  countDeletions,
  finishRun,
  type Look,
  lockRun,
  markFresh,
  noProgress,
  type Progress,
  type RunHandle,
  recordProgress,
  refusedBefore,
  startRun,
} from './sync-run-store.ts'
import { strikeUnseen, touchSetAside } from './write-resources.ts'
import { writeStorable } from './write-seen.ts'

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

type JobPart = Pick<JobRun, 'signal' | 'log'> & {
  /** Told the ids of resources that have changed, batch by batch. */
  onChanged?: (resourceIds: string[]) => Promise<void>
}

/** Null when this sweep of this kind has been finished already (a job run twice). */
export async function syncKind(
  deps: Deps,
  { kind, sweepId }: KindSweep,
  job: JobPart,
): Promise<SyncOutcome | null> {
  const { db, clock } = deps
  const started_at = clock.now().toISOString()
  const run = await transaction(db, tx => startRun(tx, { id: newId(), sweep_id: sweepId, kind, started_at }))
  if (!run) return null
  const progress = noProgress()
  try {
    await ensureInternalProject(deps)
    return await sweep(deps, kind, run, progress, job)
  } catch (error) {
    if (error instanceof LostRunError) throw error
    await transaction(db, tx =>
      finishRun(tx, run, {
        ...progress,
        status: 'failed',
        finished_at: clock.now().toISOString(),
        struck: 0,
        deleted: 0,
        held: 0,
        error: reasonOf(error),
      }),
    )
    throw error
  }
}

async function sweep(
  deps: Deps,
  kind: Kind,
  run: RunHandle,
  progress: Progress,
  { signal, log, onChanged }: JobPart,
): Promise<SyncOutcome> {
  const { db, providers } = deps
  const provider = providers.for('cloud_sync_full')
  const clock = notBefore(deps.clock, run.started_at)
  const inMotion: string[] = []
  const remarks = createRemarks()
  const actor = `sync:${run.id}`
  const now = () => clock.now().toISOString()
  let batch: SeenResource[] = []
  let aside: string[] = []
  // Begun before the batch's first page was asked for; the page to come is asked for as soon as the loop goes on.
  let look: Look = { look: run.look, at: run.started_at }
  // What somebody has just done may be seen here before it is followed.
  const actionsNow = async () =>
    actionsOfKind(await actionsSince(provider, await feedPosition(db), { signal }), kind)
  const flush = async () => {
    const sighting = { kind, ...look, actor, ...(KINDS_WITH_ACTIONS.includes(kind) && { actionsNow }) }
    const [rows, ids] = [batch, aside]
    batch = []
    aside = []
    const written = await writeStorable(db, sighting, rows, ({ provider_id }) => {
      remarks.setAside(provider_id, 'the database cannot hold its values')
      ids.push(provider_id)
    })
    await touchSetAside(db, sighting, ids)
    await onChanged?.(written.changed)
    progress.inserted += written.inserted
    progress.updated += written.updated
    progress.restored += written.restored
    Object.assign(progress, remarks.counts())
    if (!(await recordProgress(db, run, progress))) throw new LostRunError(kind)
  }
  const take = (raw: RawItem) => {
    try {
      const item = mapItem(kind, raw)
      const seen = seenResource(item)
      if (isTransitional(kind, item)) inMotion.push(item.provider_id)
      if (seen.cut) remarks.cut(seen.provider_id, seen.cut)
      batch.push(seen)
    } catch (error) {
      // It is there all the same: it is not struck, and costs the others nothing.
      const id = itemId(kind, raw)
      remarks.setAside(id ?? 'an item', wordsOf(error))
      if (id !== null && isStorableId(id)) aside.push(id)
    }
  }

  const listing = provider.pages(kind, { signal })
  for await (const { items, total } of listing) {
    progress.pages++
    progress.seen += items.length
    progress.total = total
    for (const raw of items) {
      take(raw)
      if (batch.length + aside.length >= ROWS_A_BATCH) await flush()
    }
    if (batch.length + aside.length === 0) look = await beginLook(db, clock)
  }
  if (batch.length + aside.length > 0 || progress.pages > 0) await flush()

  const { verdict } = listing
  progress.total = verdict.total
  const { reason } = verdict
  const refused = progress.pages === 0 && isRefusal(listing.refusal ?? null)
  let status: RunStatus = reason === null ? 'complete' : progress.pages > 0 ? 'partial' : 'failed'
  await transaction(db, async tx => {
    if (!(await lockRun(tx, run))) throw new LostRunError(kind)
    const refused_since = refused ? ((await refusedBefore(tx, run)) ?? run.started_at) : null
    if (refused_since !== null) status = refusedStatus(refused_since, run.started_at)
    const end = { struck: 0, deleted: 0, held: 0 }
    if (status === 'complete') {
      const { living, deletions } = await countDeletions(tx, kind, run.look)
      const hold = mustHold(deletions, living)
      Object.assign(
        end,
        await strikeUnseen(tx, { kind, ...(await beginLook(tx, clock)), actor }, { sweep: run.look, hold }),
      )
      if (hold) end.held = deletions
      await markFresh(tx, run)
    }
    const error = end.held > 0 ? heldBack(end.held) : reason
    await finishRun(tx, run, { ...progress, ...end, status, finished_at: now(), error, refused_since })
    log.info({ kind, status, ...progress, ...end, error }, 'kind swept')
  })
  return { status, inMotion }
}

/** A clock that is set back makes no run end before it began. */
const notBefore = (clock: Clock, start: string): Clock => ({
  now: () => new Date(Math.max(clock.now().getTime(), Date.parse(start))),
})

/** What a rule of ours says of an item; an unexpected error's own words are for the log. */
const wordsOf = (error: unknown): string =>
  error instanceof UnstorableError || error instanceof ProviderError ? error.message : 'it cannot be read'

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
