// The runner: drives a run that was claimed, forward step by step, or back. No step is begun twice: what is begun is in the
// ledger before it is called, and whoever takes over from a dead worker goes back, never on. When the process is told to
// stop, the step in hand is finished and the run is put down for another worker, which goes on with the next.
import { randomUUID } from 'node:crypto'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction, waitForDatabase } from '../../kernel/db/transaction.ts'
import { newId } from '../../kernel/ids.ts'
import { sendRun } from './actions.ts'
import {
  type Claimed,
  type ClaimedWrite,
  type CompletedStep,
  completeStep,
  findWrite,
  giveUp,
  LostClaimError,
  recordCompensation,
  turnBack,
  type Written,
} from './drive-store.ts'
import { compensateStep, executeStep, type LiveRun } from './run-step.ts'
import type { Registry, Step } from './step.ts'
import { frozen, merged } from './stored-text.ts'

/** What all runs of a process share. */
export interface Runner {
  deps: Deps
  registry: Registry
  /** Completes a step together with those of other runs. Undefined: not written this way. */
  completeTogether(by: ClaimedWrite, step: CompletedStep): Promise<Written | undefined>
}

interface Drive extends LiveRun, Omit<Runner, 'registry'> {
  kind: string
  steps: readonly Step[]
}

/** Drives the run to its end, or as far as this process may: `outer` is aborted when it is lost or the process ends. */
export async function driveRun(
  { deps, registry, completeTogether }: Runner,
  run: Claimed,
  outer: AbortSignal,
): Promise<void> {
  const { id, claim, kind } = run
  const log = deps.log.child({ saga_id: id, saga: kind })
  const steps = registry.stepsOf(kind, run.step_modules)
  const drive = {
    deps,
    db: deps.db,
    completeTogether,
    id,
    claim,
    kind,
    log,
    inputs: frozen(run.inputs),
    outer,
  }
  try {
    if ('unknown' in steps) await refuse(drive, run, steps.unknown)
    else await (run.status === 'running' ? forward : backward)({ ...drive, steps }, run)
  } catch (error) {
    // Whoever has it now takes care of it.
    const whose = error instanceof LostClaimError ? error : outer.reason
    if (!(whose instanceof LostClaimError)) throw error
    log.warn(whose.message)
  }
}

async function forward(drive: Drive, run: Claimed): Promise<void> {
  const { steps, log } = drive
  let context = frozen(run.context)
  let index = run.current_step_index
  log.info({ step_idx: index, step: steps[index]!.name }, 'saga running')
  if (run.cancel_requested) {
    const reason = `cancelled by ${run.cancel_requested_by}`
    return turn(drive, context, index, reason, undoneFrom(steps, index - 1))
  }
  for (;;) {
    const step = steps[index]!
    const result = await executeStep(drive, step, index, context)
    if (!result) return leave(drive, index)
    if (!result.ok) {
      const from = undoneFrom(steps, result.unknown ? index : index - 1)
      return turn(drive, context, index, result.reason, from)
    }
    const last = index === steps.length - 1
    const completed = {
      index,
      context: result.context,
      output: result.output,
      last,
      undoFrom: undoneFrom(steps, index),
    }
    const written = await write(drive, async (executor, by) => {
      const quickly = by.jobId === null ? await drive.completeTogether(by, completed) : undefined
      return quickly ?? completeStep(executor, by, completed)
    })
    log.debug({ step_idx: index, step: step.name }, 'saga step completed')
    if (written.status === 'completed') return end(drive, 'completed')
    if (written.put_down) return
    if (result.context !== null) context = merged(context, result.context)
    if (written.status === 'compensating') {
      log.warn({ step_idx: index + 1, reason: 'cancelled' }, 'saga compensating')
      return walkBack(drive, context, completed.undoFrom)
    }
    index++
  }
}

/** The step at the index has failed, or must not begin. */
async function turn(
  drive: Drive,
  context: LiveRun['inputs'],
  index: number,
  reason: string,
  undoFrom: number | null,
): Promise<void> {
  const error = { step_idx: index, step: drive.steps[index]!.name, reason }
  const written = await write(drive, (executor, by) => turnBack(executor, by, { index, error, undoFrom }))
  drive.log.warn(error, 'saga compensating')
  if (!written.put_down) await walkBack(drive, context, undoFrom)
}

const backward = (drive: Drive, run: Claimed): Promise<void> =>
  walkBack(drive, frozen(run.context), undoneFrom(drive.steps, run.compensating_index ?? -1))

/** Down to 0, whatever a compensation says; steps without one are passed over. */
async function walkBack(drive: Drive, context: LiveRun['inputs'], from: number | null): Promise<void> {
  const { steps, log } = drive
  for (let index = from; ; ) {
    let error: string | null = null
    if (index !== null) {
      const step = steps[index]!
      const result = await compensateStep(drive, step, index, context)
      if (!result) return leave(drive, index)
      if (!result.ok) error = `compensation failed: ${result.reason}`
      if (error) log.error({ step_idx: index, step: step.name, reason: error }, 'saga compensation failed')
      else log.info({ step_idx: index, step: step.name }, 'saga step compensated')
    }
    const next = undoneFrom(steps, (index ?? 0) - 1)
    const written = await write(drive, (executor, by) =>
      recordCompensation(executor, by, { index, error, next }),
    )
    if (written.status === 'rolled_back') return end(drive, 'rolled_back')
    if (written.put_down) return
    index = next
  }
}

/** Neither the step's end nor its outcome is known here; the rescue will find the run. */
function leave({ log, outer, steps }: Drive, index: number): void {
  const reason = outer.reason instanceof Error ? outer.reason.message : undefined
  log.warn({ step_idx: index, step: steps[index]!.name, reason }, 'saga left in the middle of a step')
}

/** The highest step from here down that has something to undo. */
function undoneFrom(steps: readonly Step[], index: number): number | null {
  for (let i = index; i >= 0; i--) if (steps[i]?.compensate) return i
  return null
}

/** No process has known the run's steps for a day. */
async function refuse(drive: Omit<Drive, 'steps'>, run: Claimed, unknown: number): Promise<void> {
  const step = run.step_modules[unknown] ?? null
  const reason = `no running version of the service has known the step ${step} of ${run.kind} for a day`
  const error = { step_idx: unknown, step, reason }
  await write(drive, (executor, by) => giveUp(executor, by, error))
  drive.log.error(error, 'saga failed')
  end(drive, 'failed')
}

function end({ deps, kind, log }: Omit<Drive, 'steps'>, outcome: 'completed' | 'rolled_back' | 'failed') {
  deps.metrics.sagaRuns.inc({ kind, outcome })
  log.info(`saga ${outcome}`)
}

type Write = (executor: Executor, by: ClaimedWrite) => Promise<Written | undefined>

/**
 * One write of the runner, made for certain: while the database is away it waits, for nobody else can do anything about
 * the run either. A process that is leaving puts the run down with the write, and sends the job that brings the next
 * worker.
 */
async function write(
  { deps, id, claim, log, outer }: Omit<Drive, 'steps'>,
  statement: Write,
): Promise<Written> {
  const jobId = deps.jobs.leaving.aborted ? newId() : null
  const by = { id, claim, write: randomUUID(), jobId }
  const written = await waitForDatabase(
    async again => (again && (await findWrite(deps.db, by))) || writeOnce(deps, by, statement),
    { signal: outer, log, what: 'saga' },
  )
  if (!written) throw new LostClaimError()
  if (written.put_down) log.info({ status: written.status }, 'saga put down: this process is stopping')
  return written
}

function writeOnce(deps: Deps, by: ClaimedWrite, statement: Write): Promise<Written | undefined> {
  const { id, jobId } = by
  if (jobId === null) return statement(deps.db, by)
  return transaction(deps.db, async tx => {
    const written = await statement(tx, by)
    if (written?.put_down) await sendRun(deps, tx, id, jobId)
    return written
  })
}
