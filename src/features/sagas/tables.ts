// Rows of saga runs and of the ledger of their steps.
import type { ColumnType } from 'kysely'
import type { RunStatus, StepStatus } from './run-states.ts'
import type { Json } from './step.ts'

/** Why a run did not complete. */
export interface RunError {
  step_idx: number
  /** Null when cancelled before a step had begun that no longer has a name. */
  step: string | null
  reason: string
}

/** Written as JSON text. */
type JsonColumn<T> = ColumnType<T, string, string>

export interface SagaRunRow {
  id: string
  kind: string
  status: RunStatus
  step_modules: string[]
  current_step_index: number
  compensating_index: number | null
  inputs: JsonColumn<Json>
  context: JsonColumn<Json>
  cancel_requested: boolean
  cancel_requested_by: string | null
  error: JsonColumn<RunError | null>
  business_key: string
  deployment_id: string | null
  tenant_id: string | null
  actor: string
  job_id: string
  claim: string | null
  last_write: string | null
  heartbeat_at: string
  suspected_at: string | null
  unknown_since: string | null
  created_at: string
  started_at: string | null
  finished_at: string | null
}

export interface SagaStepResultRow {
  saga_id: string
  step_idx: number
  name: string
  status: StepStatus
  output: JsonColumn<Json | null>
  attempts: number
  error: string | null
  compensation_interruptions: number
  started_at: string
  finished_at: string | null
  compensated_at: string | null
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    saga_runs: SagaRunRow
    saga_step_results: SagaStepResultRow
  }
}
