// What a run of a workflow and its steps look like, in the API, in webhooks and in the tables; and the moves of a run.
import type { ColumnType } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Row } from '../../kernel/db/tables.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { extended, noun } from '../../kernel/noun.ts'
import type { Json } from './step.ts'

/**
 * The moves of a run; the store's statements name the status they leave. `failed` is for what cannot be driven to an end:
 * a step that no version knows, a compensation that kills its worker.
 */
export const RUN_MOVES = {
  pending: ['running'],
  running: ['completed', 'compensating', 'failed'],
  completed: [],
  failed: [],
  compensating: ['rolled_back', 'failed'],
  rolled_back: [],
} as const satisfies Record<string, readonly string[]>

export type RunStatus = keyof typeof RUN_MOVES
export const RUN_STATUSES = Object.keys(RUN_MOVES) as RunStatus[]
export const hasEnded = (status: RunStatus): boolean => RUN_MOVES[status].length === 0

export const STEP_STATUSES = ['running', 'completed', 'failed', 'compensated'] as const
type StepStatus = (typeof STEP_STATUSES)[number]

export const Status = Type.Enum([...RUN_STATUSES])

/** Why a run did not complete. `step` is null when the run was cancelled before a step that no longer has a name. */
const RunError = Type.Object({
  step_idx: Type.Integer(),
  step: Nullable(Type.String()),
  reason: Type.String(),
})
export type RunError = Static<typeof RunError>

export const SagaRun = noun('SagaRun', {
  id: Id,
  kind: Type.String(),
  status: Status,
  step_modules: Type.Array(Type.String(), { description: 'The names of its steps, in order.' }),
  current_step_index: Type.Integer({
    description: 'The step being run, or that comes next. It stays where it was when compensation began.',
  }),
  inputs: Type.Object({}, { additionalProperties: true, description: 'What it was started with.' }),
  context: Type.Object(
    {},
    {
      additionalProperties: true,
      description: 'What the steps have written for those after them; empty for a tenant.',
    },
  ),
  cancel_requested: Type.Boolean(),
  error: Nullable(RunError),
  created_at: Time,
  started_at: Nullable(Time),
  finished_at: Nullable(Time),
})

export const SagaStep = noun(
  'SagaStep',
  {
    step_idx: Type.Integer(),
    name: Type.String(),
    status: Type.Enum([...STEP_STATUSES]),
    output: Nullable(Type.Object({}, { additionalProperties: true, description: 'Null for a tenant.' })),
    attempts: Type.Integer(),
    started_at: Time,
    finished_at: Nullable(Time),
    duration_ms: Nullable(Type.Integer()),
    compensated_at: Nullable(Type.String({ ...Time, description: 'When it was undone.' })),
    error: Nullable(
      Type.String({ description: 'Why it failed, or why its compensation did; null when all went well.' }),
    ),
  },
  { duration_ms: '(extract(epoch from $.finished_at - $.started_at) * 1000)::bigint' },
)

export const SagaRunWithSteps = extended('SagaRunWithSteps', SagaRun, {
  actor: Nullable(Type.String({ description: 'Who started it. Null for a tenant.' })),
  cancel_requested_by: Nullable(Type.String({ description: 'Null for a tenant.' })),
  steps: Type.Array(SagaStep, { description: 'The ledger: the steps that were begun, in order.' }),
})

/** Written as JSON text. */
type JsonColumn<T> = ColumnType<T, string, string>

export type SagaRunRow = Row<'saga_runs'>

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
