// Rows of saga runs and of the ledger of their steps.
import type { ColumnType } from 'kysely'
import type { Row } from '../../kernel/db/tables.ts'
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

export type SagaRunRow = Row<'saga_runs'>
export type SagaStepResultRow = Row<'saga_step_results'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    saga_runs: {
      status: RunStatus
      inputs: JsonColumn<Json>
      context: JsonColumn<Json>
      error: JsonColumn<RunError | null>
    }
    saga_step_results: { status: StepStatus; output: JsonColumn<Json | null> }
  }
}
