// Starting, cancelling and rescuing runs, and the job that brings a worker to a run. The job carries the run's id alone: what is to
// be done is in the run's row.
import type { Logger } from 'pino'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { beforeCommit, transaction } from '../../kernel/db/transaction.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import { fieldErrors, validatorCompiler } from '../../kernel/http/validation.ts'
import { newId } from '../../kernel/ids.ts'
import type { JobType } from '../../kernel/queue/queues.ts'
import { rescuePlan, type Stranded } from './rescue-plan.ts'
import { hasEnded } from './saga.ts'
import type { Json, SagaKind } from './step.ts'
import {
  findUnderWay,
  insertRun,
  lockStranded,
  markRescued,
  type RescueTimeouts,
  requestCancel,
  showRun,
  statusOf,
  suspectSilent,
} from './store.ts'
import { textOf } from './stored-text.ts'

const Payload = Type.Object({ saga_id: Type.String() })

export const sagaJob: JobType<typeof Payload> = {
  name: 'saga_run',
  queue: 'provisioning',
  payload: Payload,
  // Whoever takes it finds in the run whether there is anything to do. So it may be tried again, unlike a step, and the job
  // of a worker that was killed ends as another's instead of as a dead letter.
  retryLimit: 20,
  // A process that drives as many runs as it can keeps its last jobs until there is room.
  longestSeconds: 24 * 3_600,
}

/** The run's `job_id` must be this id. Keyed by it too: the job before may still count as running. */
export async function sendRun({ jobs }: Deps, tx: Executor, id: string, jobId: string): Promise<void> {
  await jobs.send(tx, sagaJob, { saga_id: id }, { key: jobId, id: jobId, last: true })
}

export interface SagaStart {
  kind: SagaKind
  inputs: Json
  businessKey: string
  deploymentId: string | null
  tenantId: string | null
  actor: string
}

export interface Started {
  id: string
  /** False: it was under way already. */
  created: boolean
}

/** The one under way may end while it is looked up; then the next attempt makes a new one. */
const ATTEMPTS = 5

/**
 * Makes the run and its job in the caller's transaction. Of one kind, a business key has at most one run under way, by a
 * unique index; whoever starts it again is given that one.
 */
export async function startSaga(deps: Deps, tx: Executor, start: SagaStart): Promise<Started> {
  const { kind, inputs, businessKey, deploymentId, tenantId, actor } = start
  const [id, jobId] = [newId(), newId()]
  const run = {
    id,
    kind: kind.kind,
    stepModules: kind.steps.map(step => step.name),
    inputs: textOf(inputs, 'inputs'),
    businessKey,
    deploymentId,
    tenantId,
    actor,
    jobId,
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await insertRun(tx, run)) {
      beforeCommit(tx, () => sendRun(deps, tx, id, jobId))
      deps.log.info({ saga_id: id, saga: kind.kind, actor }, 'saga pending')
      return { id, created: true }
    }
    const underWay = await findUnderWay(tx, kind.kind, businessKey)
    if (underWay) return { id: underWay, created: false }
  }
  throw conflict('conflict', 'Runs of this kind come and go too quickly. Try again.')
}

export interface Requested extends Started {
  /** The run as JSON text. */
  json: string
}

/**
 * The inputs are checked by the kind's schema and by the kind itself, then the run is started, all in one transaction.
 * `pointer` is where the inputs stand in the request's body.
 */
export function requestSaga(
  deps: Deps,
  kind: SagaKind,
  inputs: Json,
  actor: string,
  pointer = '/inputs',
): Promise<Requested> {
  checkInputs(kind, inputs, pointer)
  return transaction(deps.db, async tx => {
    const prepared = await kind.prepare(tx, inputs)
    const started = await startSaga(deps, tx, { inputs, ...prepared, kind, actor })
    return { ...started, json: (await showRun(tx, { allTenants: true }, started.id))! }
  })
}

/** As bodies are checked, and with the schema's defaults filled in. */
function checkInputs(kind: SagaKind, inputs: Json, pointer: string): void {
  const check = validatorCompiler({ schema: kind.inputs, httpPart: 'body', method: 'POST', url: kind.kind })
  if (check(inputs) === true) return
  const { errors } = check as unknown as { errors: Parameters<typeof fieldErrors>[0] }
  const fields = fieldErrors(errors ?? [], 'body').map(error => ({
    ...error,
    pointer: pointer + error.pointer,
  }))
  throw invalid('The body is not acceptable.', fields)
}

/**
 * A cancel is a request: the runner reads it between two steps, and turns back. After the last step it has come too late,
 * and the run completes. One that is turning back already does what was asked. Returns the run as JSON text.
 */
export async function cancelSaga({ db, log }: Deps, id: string, by: string): Promise<string> {
  if (await transaction(db, tx => requestCancel(tx, id, by)))
    log.info({ saga_id: id, by }, 'saga cancel requested')
  else {
    const status = await statusOf(db, id)
    if (!status) throw notFound()
    if (hasEnded(status)) throw conflict('saga_ended', `The run has ended: it is ${status}.`)
  }
  return (await showRun(db, { allTenants: true }, id))!
}

/**
 * Polled every 5 seconds, a dead worker's run is found after 23 at the latest. After an outage a living worker has
 * time for three heartbeats before it is thought dead.
 */
const TIMEOUTS: RescueTimeouts = { silentMs: 8_000, suspectMs: 9_000, waitingMs: 12_000 }

/** How many runs were taken from dead workers, or sent again because their job was gone. */
export async function rescueRuns(deps: Deps, log: Logger, timeouts = TIMEOUTS): Promise<number> {
  const { rescued, suspected } = await transaction(deps.db, async tx => {
    const stranded = await lockStranded(tx, sagaJob.queue, timeouts)
    for (const run of stranded) await rescue(deps, tx, run, log)
    return { rescued: stranded.length, suspected: await suspectSilent(tx, timeouts) }
  })
  if (suspected > 0) log.warn({ runs: suspected }, 'sagas without a heartbeat: their worker may have died')
  return rescued
}

async function rescue(deps: Deps, tx: Executor, run: Stranded, log: Logger): Promise<void> {
  const plan = rescuePlan(run)
  const jobId = newId()
  await markRescued(tx, run, plan, jobId)
  // The dead worker's job would become a dead letter, and there is nothing about it for an operator to do.
  await deps.jobs.discard(tx, sagaJob, run.job_id)
  const about = { saga_id: run.id, saga: run.kind, rescue: plan.do, step: run.step }
  if (plan.do !== 'give_up') {
    await sendRun(deps, tx, run.id, jobId)
    log.warn(about, run.driven ? 'saga taken from a dead worker' : 'saga sent again: its job was gone')
    return
  }
  deps.metrics.sagaRuns.inc({ kind: run.kind, outcome: 'failed' })
  log.error({ ...about, reason: plan.error.reason }, 'saga failed')
}
