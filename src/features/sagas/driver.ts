// The runs this process drives: how it comes by them, how it says that it lives, and how it learns that a run is no longer
// its own. A job only brings a run here; the run is driven in the background, and outlives the job.
import { randomUUID } from 'node:crypto'
import { transaction } from '../../kernel/db/transaction.ts'
import { newId } from '../../kernel/ids.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { QUEUES } from '../../kernel/queue/queues.ts'
import { awaitJob, beat, type Claimed, claimRuns, within } from './drive-repository.ts'
import { driveRun, LostRunError } from './drive-run.ts'
import type { Registry } from './registry.ts'
import { sendRun } from './saga-job.ts'
import { createStepWriter } from './step-writer.ts'

export interface Driver {
  /** Takes the run, if nobody has it, it has not ended and this process is not stopping. Resolves when there is room for another batch of jobs. */
  take(id: string): Promise<void>
}

/** Runs of one process at a time. They mostly wait for the provider. */
const MOST_RUNS = 32
const ROOM = QUEUES.provisioning.batch
const BEAT_MS = 3_000

interface Asked {
  id: string
  claim: string
  done: PromiseWithResolvers<void>
}

export function createDriver(kernel: Kernel, registry: Registry): Driver {
  const { db, jobs, log } = kernel
  const workshop = { kernel, registry, writeStep: createStepWriter(db) }
  /** By their claims. */
  const held = new Map<string, { id: string; lost: AbortController }>()
  let timer: NodeJS.Timeout | undefined
  let beating = false
  let asked: Asked[] = []
  const waiting: (() => void)[] = []

  /** Jobs come in batches, and so are their runs claimed. */
  async function claimAll(): Promise<void> {
    const batch = asked
    asked = []
    try {
      const runs = await claimRuns(
        db,
        batch.map(({ id }) => id),
        batch.map(({ claim }) => claim),
      )
      for (const run of runs) jobs.background(drive(run))
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
      await driveRun(workshop, run, AbortSignal.any([lost.signal, jobs.ending]))
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
    // A database that does not answer is not asked again before it has.
    if (beating) return
    beating = true
    try {
      const claims = [...held.keys()]
      const standing = await beat(
        within(db),
        claims.map(claim => held.get(claim)!.id),
        claims,
      )
      for (const claim of claims)
        if (!standing.includes(claim)) held.get(claim)?.lost.abort(new LostRunError())
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

  /** The queue may bring one more batch after it was told to stop, even runs that this process has just put down. */
  async function handOn(id: string): Promise<void> {
    const jobId = newId()
    await transaction(db, async tx => {
      if (await awaitJob(tx, id, jobId)) await sendRun(kernel, tx, id, jobId)
    })
  }

  return {
    async take(id) {
      if (jobs.leaving.aborted) return handOn(id)
      const done = Promise.withResolvers<void>()
      if (asked.push({ id, claim: randomUUID(), done }) === 1) queueMicrotask(claimAll)
      await done.promise
      if (!hasRoom() && !jobs.leaving.aborted) await new Promise<void>(resolve => waiting.push(resolve))
    },
  }
}
