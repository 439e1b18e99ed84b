// One step of a live run: what it is handed, and what becomes of what it hands back. A result that cannot be stored is a
// failure with effects; one that comes without an answer has an unknown outcome.
import type { Logger } from 'pino'
import { isDatabaseAway } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction, waitForDatabase } from '../../kernel/db/transaction.ts'
import { LostClaimError, lockClaim } from './drive-store.ts'
import type { Compensated, Executed, Json, SagaState, Step } from './step.ts'
import { inWords, reasonOf, textOf } from './stored-text.ts'

const TIMEOUT_MS = 10 * 60_000

/** A run that is being driven, as far as its steps are concerned. */
export interface LiveRun {
  db: Executor
  id: string
  claim: string
  inputs: Readonly<Json>
  log: Logger
  /** Aborted when the run is lost or the process ends. */
  outer: AbortSignal
}

type Result =
  | { ok: true; context: string | null; output: string | null }
  /** Of an unknown outcome, the step's own effects have to be undone too. */
  | { ok: false; reason: string; unknown: boolean }

/** Undefined when the process had to leave in the middle. */
export async function executeStep(
  live: LiveRun,
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
  live: LiveRun,
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
  live: LiveRun,
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
    if (called.error instanceof LostClaimError) throw called.error
    // It waited for the database until the process had to leave.
    if (outer.aborted && isDatabaseAway(called.error)) return undefined
    log.warn({ err: called.error }, 'saga step raised')
  }
  return called
}

const transactionsOf =
  ({ db, id, claim, log }: LiveRun, signal: AbortSignal, timeout: Timeout): SagaState['transaction'] =>
  work =>
    waitForDatabase(
      () =>
        transaction(db, async tx => {
          if (!(await lockClaim(tx, id, claim))) throw new LostClaimError()
          return work(tx)
        }),
      { signal, log, what: 'saga step', onWait: timeout.suspend },
    ).finally(timeout.resume)

/**
 * How a call of execute or compensate ended: it returned, it raised, or it was abandoned because it neither ended in time
 * nor heeded its signal.
 */
type Called<T> =
  | { how: 'returned'; value: T; aborted: boolean }
  | { how: 'raised'; error: unknown; aborted: boolean }
  | { how: 'abandoned'; reason: string }

interface Bounds {
  timeoutMs: number
  /** Ends the call from outside: the run is lost, or the process ends. */
  outer: AbortSignal
}

/** How long a call may take to wind down after its signal; a quick step is not given longer than it had for its work. */
const WIND_DOWN_MS = 5_000
/** There is no time left when the signal comes from outside. */
const OUTER_WIND_DOWN_MS = 250

/** Stops the clock of a call while it waits for something that is not its own; it then has its whole time again. */
interface Timeout {
  suspend(): void
  resume(): void
}

async function callStep<T>(
  work: (signal: AbortSignal, timeout: Timeout) => Promise<T>,
  { timeoutMs, outer }: Bounds,
): Promise<Called<T>> {
  const own = new AbortController()
  const abandoned = Promise.withResolvers<Called<T>>()
  let windDown: NodeJS.Timeout | undefined
  const end = (reason: string, graceMs: number) => {
    if (own.signal.aborted) return
    own.abort(new Error(reason))
    windDown = setTimeout(() => abandoned.resolve({ how: 'abandoned', reason }), graceMs)
  }
  const tooLong = () => end(`it took longer than ${timeoutMs / 1000} s`, Math.min(WIND_DOWN_MS, timeoutMs))
  let timer: NodeJS.Timeout | undefined = setTimeout(tooLong, timeoutMs)
  const timeout: Timeout = {
    suspend() {
      clearTimeout(timer)
      timer = undefined
    },
    resume() {
      if (!ended) timer ??= setTimeout(tooLong, timeoutMs)
    },
  }
  let ended = false
  const endFromOutside = () =>
    end(outer.reason instanceof Error ? outer.reason.message : 'it was stopped', OUTER_WIND_DOWN_MS)
  outer.addEventListener('abort', endFromOutside, { once: true })
  if (outer.aborted) endFromOutside()
  try {
    return await Promise.race([settled(() => work(own.signal, timeout), own.signal), abandoned.promise])
  } finally {
    ended = true
    clearTimeout(timer)
    clearTimeout(windDown)
    outer.removeEventListener('abort', endFromOutside)
  }
}

async function settled<T>(work: () => Promise<T>, signal: AbortSignal): Promise<Called<T>> {
  try {
    const value = await work()
    return { how: 'returned', value, aborted: signal.aborted }
  } catch (error) {
    return { how: 'raised', error, aborted: signal.aborted }
  }
}
