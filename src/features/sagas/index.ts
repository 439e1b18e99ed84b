// Sagas: what other parts of the service may use.
export {
  type Requested,
  requestSaga,
  rescueRuns,
  type SagaStart,
  type Started,
  startSaga,
} from './actions.ts'
export { sagaHandlers, sagaRescue, watchSagas } from './jobs.ts'
export { sagaRoutes } from './routes.ts'
export { type RunStatus, SagaRunWithSteps } from './saga.ts'
export type { Compensated, Executed, Json, Prepared, SagaKind, SagaState, Step } from './step.ts'
export { countTroubled, countUnderWay, showRun } from './store.ts'
