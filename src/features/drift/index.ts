// Drift: what other parts of the service may use.
export { type DesiredState, dropDesiredState, writeDesiredState } from './write-desired-state.ts'
