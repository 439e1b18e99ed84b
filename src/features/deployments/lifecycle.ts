// The states of a deployment and the moves between them: one literal map, and everything that follows from it. Pure.

export const LIFECYCLE = {
  trial: ['active', 'past_due', 'suspended', 'cancelled'],
  active: ['past_due', 'paused', 'suspended', 'cancelled'],
  past_due: ['active', 'paused', 'suspended', 'cancelled'],
  paused: ['active', 'suspended', 'cancelled'],
  suspended: ['active', 'cancelled'],
  cancelled: ['archived'],
  archived: [],
} as const satisfies Record<string, readonly string[]>

export type DeploymentState = keyof typeof LIFECYCLE

export const STATES = Object.keys(LIFECYCLE) as DeploymentState[]

/** The permission to do what is the operator's with a tenant's deployment. */
export const OPERATE = 'deployments:operate'

/** Where a new deployment starts. No flow enters `trial`. */
export const FIRST_STATE: DeploymentState = 'active'

export const allowedTransitions = (from: DeploymentState): readonly DeploymentState[] => LIFECYCLE[from]

export const mayMove = (from: DeploymentState, to: DeploymentState): boolean =>
  allowedTransitions(from).includes(to)

/** The states that have a move to this one. */
export const statesBefore = (to: DeploymentState): DeploymentState[] =>
  STATES.filter(from => mayMove(from, to))

/** A deployment in these states takes no new subscription. */
export const isOver = (state: DeploymentState): boolean => state === 'cancelled' || state === 'archived'
