// The states of a deployment and the moves between them: one literal map, and everything that follows from it. Pure.
import type { SubscriptionStatus } from '../subscriptions/index.ts'

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
type Moves = { readonly [From in DeploymentState]: readonly (typeof LIFECYCLE)[From][number][] }

/** What a tenant does with its own; the other moves are the operator's. Whoever is suspended may still leave. */
export const TENANT_MOVES = {
  trial: ['active', 'cancelled'],
  active: ['paused', 'cancelled'],
  past_due: ['cancelled'],
  paused: ['active', 'cancelled'],
  suspended: ['cancelled'],
  cancelled: ['archived'],
  archived: [],
} as const satisfies Moves

export const STATES = Object.keys(LIFECYCLE) as DeploymentState[]

/** What follows from a bill that is not paid; while `billing_action_suspended` is set, no move leads to these. */
export const isBillingAction = (to: DeploymentState): boolean => to === 'past_due' || to === 'suspended'

/** The permission to do what is the operator's with a tenant's deployment. */
export const OPERATE = 'deployments:operate'

/** Whose moves: an operator's are all there are. */
export type Mover = 'operator' | 'tenant' | 'nobody'

/** Where a deployment may be moved by whom; `suspended`: its billing actions are. */
export function allowedTransitions(
  from: DeploymentState,
  mover: Mover,
  suspended: boolean,
): DeploymentState[] {
  return LIFECYCLE[from].filter(to => mayMove(from, to, mover) && !(suspended && isBillingAction(to)))
}

export function mayMove(from: DeploymentState, to: DeploymentState, mover: Mover): boolean {
  if (mover === 'nobody') return false
  const moves: Moves = mover === 'operator' ? LIFECYCLE : TENANT_MOVES
  return (moves[from] as readonly DeploymentState[]).includes(to)
}

/** The states that may be left for another. */
export const movableFrom = (to: DeploymentState, mover: Mover): DeploymentState[] =>
  STATES.filter(from => mayMove(from, to, mover))

/** Where a new deployment starts. No flow enters `trial`. */
export const FIRST_STATE: DeploymentState = 'active'

/** The map in words that a client can draw. */
export const describedLifecycle = () => ({
  first_state: FIRST_STATE,
  states: STATES.map(state => ({
    state,
    subscription_status: subscriptionAfter(state),
    transitions: LIFECYCLE[state].map(to => ({
      to,
      operator_only: !mayMove(state, to, 'tenant'),
      billing_action: isBillingAction(to),
    })),
  })),
})

/** A deployment in these states takes no new subscription. */
export const isOver = (state: DeploymentState): boolean => state === 'cancelled' || state === 'archived'

/** What a deployment's move means for its subscription; null leaves it as it is. */
export const SUBSCRIPTION_AFTER = {
  trial: null,
  active: 'active',
  past_due: null,
  paused: 'paused',
  suspended: 'paused',
  cancelled: 'cancelled',
  archived: null,
} as const satisfies Record<DeploymentState, SubscriptionStatus | null>

export const subscriptionAfter = (state: DeploymentState): SubscriptionStatus | null =>
  SUBSCRIPTION_AFTER[state]
