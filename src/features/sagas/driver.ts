// The runs this process drives: how it comes by them, how it says that it lives, and how it learns that a run is no longer
// its own. A job only brings a run here; the run is driven in the background, and outlives the job.

import { randomUUID } from 'node:crypto'
import type { Deps } from '../../deps.ts'
import { problemOfDatabaseError, sqlState } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction, waitForDatabase } from '../../kernel/db/transaction.ts'
import { newId } from '../../kernel/ids.ts'
import { QUEUES } from '../../kernel/queue/queues.ts'
import { within } from '../../kernel/time.ts'
import { sendRun } from './actions.ts'
import { driveRun, type Runner } from './drive-run.ts'
import {
  awaitJob,
  beat,
  type Claimed,
  type Completing,
  claimRuns,
  completeFreeSteps,
  LostClaimError,
  listLeft,
  markUnknown,
  type Written,
} from './drive-store.ts'
import type { Registry } from './step.ts'

export interface Driver {
  /** Takes the run, if nobody has it, its steps are known, it has not ended and this process is not stopping. Resolves when there is room for another batch of jobs. */
  take(id: string): Promise<void>
  /** Takes what another version has left alone and this one knows. */
  takeLeft(): Promise<void>
}

/** Runs of one process at a time. They mostly wait for the provider. */
const MOST_RUNS = 32
const ROOM = QUEUES.provisioning.batch
const BEAT_MS = 3_000
/** A beat over a connection that went silent is given up, so that the next goes over another. */
const LONGEST_BEAT_MS = 2_500

interface Asked {
  id: string
  claim: string
  done: PromiseWithResolvers<void>
}

export function createDriver(deps: Deps, registry: Registry): Driver {
  const { db, jobs, log } = deps
  const runner = { deps, registry, completeTogether: createStepWriter(db) }
  /** By their claims. */
  const held = new Map<string, { id: string; lost: AbortController }>()
  let timer: NodeJS.Timeout | undefined
  let beating = false
  let asked: Asked[] = []
  const waiting: (() => void)[] = []

  function ask(id: string): Promise<void> {
    const done = Promise.withResolvers<void>()
    if (asked.push({ id, claim: randomUUID(), done }) === 1) queueMicrotask(claimAll)
    return done.promise
  }

  /** Jobs come in batches, and so are their runs claimed. */
  async function claimAll(): Promise<void> {
    const batch = asked
    asked = []
    const ids = batch.map(({ id }) => id)
    const claims = batch.map(({ claim }) => claim)
    try {
      // The claims tell what an attempt took whose answer was lost.
      const runs = await waitForDatabase(() => claimRuns(db, ids, claims, registry.known), {
        signal: jobs.ending,
        log,
        what: 'the claiming of sagas',
      })
      for (const run of runs) jobs.background(drive(run))
      const taken = new Set(runs.map(({ id }) => id))
      await leaveUnknown(ids.filter(id => !taken.has(id)))
      for (const { done } of batch) done.resolve()
    } catch (error) {
      for (const { done } of batch) done.reject(error)
    }
  }

  async function drive(run: Claimed): Promise<void> {
    const { id, claim } = run
    const lost = new AbortController()
    held.set(claim, { id, lost })
    timer ??= setInterval(beatAll, BEAT_MS).unref()
    try {
      await driveRun(runner, run, AbortSignal.any([lost.signal, jobs.ending]))
    } finally {
      held.delete(claim)
      if (hasRoom()) letWaitingGo()
      if (held.size === 0) {
        clearInterval(timer)
        timer = undefined
      }
    }
  }

  /** One statement says for all of them that they are driven. */
  async function beatAll(): Promise<void> {
    if (beating) return
    beating = true
    try {
      const claims = [...held.keys()]
      const ids = claims.map(claim => held.get(claim)!.id)
      const standing = await within(
        LONGEST_BEAT_MS,
        'the database did not answer in time',
        beat(db, ids, claims),
      )
      for (const claim of claims)
        if (!standing.includes(claim)) held.get(claim)?.lost.abort(new LostClaimError())
    } catch (error) {
      log.warn({ err: error }, 'the heartbeat of sagas could not be written')
    } finally {
      beating = false
    }
  }

  const hasRoom = () => held.size <= MOST_RUNS - ROOM
  const letWaitingGo = () => {
    for (const go of waiting.splice(0)) go()
  }
  jobs.leaving.addEventListener('abort', letWaitingGo, { once: true })

  /** What was not taken is somebody's, or over; or it has steps that only another version knows. */
  async function leaveUnknown(ids: string[]): Promise<void> {
    if (ids.length === 0) return
    for (const saga_id of await markUnknown(db, ids, registry.known))
      log.warn({ saga_id }, 'saga left to a version that knows its steps')
  }

  /** The queue may bring one more batch after it was told to stop, even runs that this process has just put down. */
  async function handOn(id: string): Promise<void> {
    const jobId = newId()
    await transaction(db, async tx => {
      if (await awaitJob(tx, id, jobId)) await sendRun(deps, tx, id, jobId)
    })
  }

  return {
    async takeLeft() {
      if (!hasRoom() || jobs.leaving.aborted) return
      const ids = await listLeft(db, registry.known, ROOM)
      await Promise.all(ids.map(id => ask(id)))
    },

    async take(id) {
      if (jobs.leaving.aborted) return handOn(id)
      await ask(id)
      if (!hasRoom() && !jobs.leaving.aborted) await new Promise<void>(resolve => waiting.push(resolve))
    },
  }
}

interface Gathered extends Completing {
  settled: PromiseWithResolvers<Written | undefined>
}

/**
 * Steps of several runs that end at about the same moment are written together: while one statement is under way the next
 * ones gather. A busy process makes fewer round trips and commits, and a run that is alone waits for nobody. What is not
 * written this way (a row that somebody has locked, a run that was lost, a value the database refuses) is left to the
 * step's own statement, which alone tells what became of it. Rejects when nobody knows whether the step was written.
 */
function createStepWriter(db: Executor): Runner['completeTogether'] {
  let gathered: Gathered[] = []
  let writing = false

  async function writeAll(): Promise<void> {
    while (gathered.length > 0) {
      const batch = gathered
      gathered = []
      try {
        const rows = await completeFreeSteps(db, batch)
        const written = new Map(rows.map(row => [row.id, row]))
        for (const { by, settled } of batch) settled.resolve(written.get(by.id))
      } catch (error) {
        for (const { settled } of batch)
          if (wasRefused(error)) settled.resolve(undefined)
          else settled.reject(error)
      }
    }
    writing = false
  }

  return (by, step) => {
    const settled = Promise.withResolvers<Written | undefined>()
    gathered.push({ by, step, settled })
    if (!writing) {
      writing = true
      // Runs that go on in the same turn are in the same statement.
      queueMicrotask(writeAll)
    }
    return settled.promise
  }
}

/** The database says that it wrote nothing; a connection that broke says nothing. */
const wasRefused = (error: unknown): boolean =>
  sqlState(error) !== undefined && problemOfDatabaseError(error)?.kind !== 'unavailable'
