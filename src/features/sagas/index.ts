// Sagas: what other parts of the service may use.
import './tables.ts'

export { sagaHandlers } from './jobs.ts'
export { countUnderWay, showRun } from './repository.ts'
export { type Requested, requestSaga } from './request-saga.ts'
export { rescueRuns, sagaRescue, watchSagas } from './rescue-runs.ts'
export { sagaRoutes } from './routes.ts'
export type { RunStatus } from './run-states.ts'
export { SagaRunWithSteps } from './schemas.ts'
export { type SagaStart, type Started, startSaga } from './start-saga.ts'
export type { Compensated, Executed, Json, Prepared, SagaKind, SagaState, Step } from './step.ts'
