// The API's words for sagas.
import { Type } from 'typebox'
import { PageQuery } from '../../kernel/http/pages.ts'
import { Body, ExternalId, Id, Nullable, Query, Time } from '../../kernel/http/schemas.ts'
import { extended, noun } from '../../kernel/noun.ts'
import { RUN_STATUSES, STEP_STATUSES } from './run-states.ts'
import type { Json } from './step.ts'

const Status = Type.Enum([...RUN_STATUSES])

export const IdParams = Type.Object({ id: Id })

export const StartSagaBody = Body({
  kind: Type.String({ minLength: 1, maxLength: 64, description: 'Which workflow.' }),
  inputs: Type.Unsafe<Json>({
    type: 'object',
    additionalProperties: true,
    description: 'As the workflow wants them.',
  }),
})

export const SagasQuery = Query({
  ...PageQuery,
  status: Type.Optional(Status),
  kind: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  deployment_id: Type.Optional(Id),
  tenant_id: Type.Optional(ExternalId),
})

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
  error: Nullable(
    Type.Object({ step_idx: Type.Integer(), step: Nullable(Type.String()), reason: Type.String() }),
  ),
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
    error: Nullable(
      Type.String({ description: 'Why it failed, or why its compensation did; null when all went well.' }),
    ),
  },
  { duration_ms: '(extract(epoch from $.finished_at - $.started_at) * 1000)::bigint' },
)

export const SagaRunWithSteps = extended('SagaRunWithSteps', SagaRun, {
  steps: Type.Array(SagaStep, { description: 'The ledger: the steps that were begun, in order.' }),
})
