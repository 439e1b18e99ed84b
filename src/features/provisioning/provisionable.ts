// In which states a deployment is given droplets. Pure. One that is past due is still served, and an operator asks; one
// that is paused, suspended or over is not. Any of them may be deprovisioned.
import type { DeploymentState } from '../deployments/index.ts'

const PROVISIONABLE: readonly DeploymentState[] = ['trial', 'active', 'past_due']

/** Why not; null when it may. */
export const refusedState = (state: DeploymentState): string | null =>
  PROVISIONABLE.includes(state)
    ? null
    : `a deployment that is ${state} is given no droplets; it has to be ${PROVISIONABLE.join(', ').replace(/, (?=\w+$)/, ' or ')}`
