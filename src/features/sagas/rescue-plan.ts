// What becomes of a run that nobody drives any more. Pure.
import type { RunError, RunStatus } from './saga.ts'

export interface Stranded {
  id: string
  kind: string
  status: RunStatus
  /** Its worker died. False: it waits for a job that is gone. */
  driven: boolean
  current_step_index: number
  compensating_index: number | null
  job_id: string
  cancel_requested_by: string | null
  /** The step that was being run or compensated. */
  step: string | null
  step_status: string | null
  interruptions: number | null
}

export type RescuePlan =
  /** Nothing has happened since it was put down: a new job, and all goes on as it would have. */
  | { do: 'send_again' }
  /** The step in hand may have had an effect or not: it is undone first, then all before it. */
  | { do: 'turn_back'; failStep: boolean; from: number | null; error: RunError }
  /** The compensation goes on where it stood. */
  | { do: 'compensate_on' }
  | { do: 'give_up'; error: RunError }

const MOST_INTERRUPTIONS = 2

const UNKNOWN = 'its outcome is unknown: the worker that ran it died'

export function rescuePlan(run: Stranded): RescuePlan {
  if (!run.driven) return { do: 'send_again' }
  if (run.status === 'compensating') {
    // Between two writes there is always a step in hand, but for a run with nothing to compensate.
    if (run.compensating_index === null || (run.interruptions ?? 0) + 1 < MOST_INTERRUPTIONS)
      return { do: 'compensate_on' }
    const reason = `its compensation was interrupted ${MOST_INTERRUPTIONS} times: look at what it left behind`
    return { do: 'give_up', error: { step_idx: run.compensating_index, step: run.step, reason } }
  }
  const step_idx = run.current_step_index
  if (run.step_status === 'running') {
    return {
      do: 'turn_back',
      failStep: true,
      from: step_idx,
      error: { step_idx, step: run.step, reason: UNKNOWN },
    }
  }
  // It was cancelled, and its worker died before the step in question began.
  const reason = `cancelled by ${run.cancel_requested_by ?? 'someone'}`
  const from = step_idx > 0 ? step_idx - 1 : null
  return { do: 'turn_back', failStep: false, from, error: { step_idx, step: run.step, reason } }
}
