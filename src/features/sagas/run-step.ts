// One step of a live run: what it is handed, and what becomes of what it hands back. A result that cannot be stored is a
// failure with effects; one that comes without an answer has an unknown outcome.
import type { Logger } from 'pino'
import { isDatabaseAway } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction, waitForDatabase } from '../../kernel/db/transaction.ts'
import { type Called, callStep, type Timeout } from './call-step.ts'
import { holdClaim, LostRunError } from './drive-repository.ts'
import { inWords, reasonOf } from './reason.ts'
import type { Compensated, Executed, Json, SagaState, Step } from './step.ts'
import { textOf } from './stored-json.ts'

const TIMEOUT_MS = 10 * 60_000

/** A run in hand, as far as its steps are concerned. */
export interface Live {
  db: Executor
  id: string
  claim: string
  inputs: Readonly<Json>
  log: Logger
  /** Aborted when the run is lost or the process ends. */
  outer: AbortSignal
}

export type Result =
  | { ok: true; context: string | null; output: string | null }
  /** Of an unknown outcome, the step's own effects have to be undone too. */
  | { ok: false; reason: string; unknown: boolean }

/** Undefined when the process had to leave in the middle. */
export async function executeStep(
  live: Live,
  step: Step,
  index: number,
  context: Readonly<Json>,
): Promise<Result | undefined> {
  const called = await call(live, step, index, context, state => step.execute(state))
  if (!called) return undefined
  if (called.how === 'abandoned')
    return { ok: false, reason: `its outcome is unknown: ${called.reason}`, unknown: true }
  // What was told to end and says so may have been in the middle of something.
  if (called.how === 'raised') return { ok: false, reason: reasonOf(called.error), unknown: called.aborted }
  return resultOf(called.value, context, called.aborted)
}

function resultOf(value: Executed, context: Readonly<Json>, aborted: boolean): Result {
  if (value?.ok === false)
    return { ok: false, reason: inWords(value.reason), unknown: aborted || value.unknown === true }
  try {
    if (value?.ok !== true) throw new Error('it returned neither ok nor an error')
    const added = value.context === undefined ? null : textOf(value.context, 'context')
    const output = value.output === undefined ? null : textOf(value.output, 'output')
    if (added !== null) textOf({ ...context, ...value.context }, 'context, with what it adds,')
    return { ok: true, context: added, output }
  } catch (error) {
    return { ok: false, reason: `its result cannot be kept: ${reasonOf(error)}`, unknown: true }
  }
}

/** Undefined when the process had to leave in the middle. */
export async function compensateStep(
  live: Live,
  step: Step,
  index: number,
  context: Readonly<Json>,
): Promise<Compensated | undefined> {
  const called = await call(live, step, index, context, async state => step.compensate?.(state))
  if (!called) return undefined
  if (called.how === 'abandoned') return { ok: false, reason: called.reason }
  if (called.how === 'raised') return { ok: false, reason: reasonOf(called.error) }
  if (called.value?.ok === true) return { ok: true }
  return { ok: false, reason: inWords(called.value?.reason) }
}

async function call<T>(
  live: Live,
  step: Step,
  stepIndex: number,
  context: Readonly<Json>,
  work: (state: SagaState) => Promise<T>,
): Promise<Called<T> | undefined> {
  const { id: sagaId, inputs, outer } = live
  const log = live.log.child({ step_idx: stepIndex, step: step.name })
  const called = await callStep(
    async (signal, timeout) => {
      const transaction = transactionsOf(live, signal, timeout)
      return work({ sagaId, inputs, context, stepIndex, signal, log, transaction })
    },
    { timeoutMs: step.timeoutMs ?? TIMEOUT_MS, outer },
  )
  // It may have returned all the same, and then that is worth a try.
  if (called.how === 'abandoned' && outer.aborted) return undefined
  if (called.how === 'raised') {
    if (called.error instanceof LostRunError) throw called.error
    // It waited for the database until the process had to leave.
    if (outer.aborted && isDatabaseAway(called.error)) return undefined
    log.warn({ err: called.error }, 'saga step raised')
  }
  return called
}

const transactionsOf =
  ({ db, id, claim, log }: Live, signal: AbortSignal, timeout: Timeout): SagaState['transaction'] =>
  work =>
    waitForDatabase(
      () =>
        transaction(db, async tx => {
          if (!(await holdClaim(tx, id, claim))) throw new LostRunError()
          return work(tx)
        }),
      { signal, log, what: 'saga step', onWait: timeout.suspend },
    ).finally(timeout.resume)
