// A move between states: validated against the map and what the caller may do, written only if the deployment is still
// where it was read, with its event and what follows for the subscription in the same transaction.
import { untilDone } from '../../kernel/db/transaction.ts'
import { AppError, conflict, notFound } from '../../kernel/errors.ts'
import { actingRole, type Caller, isPermitted, mayOperate, scopeOf } from '../../kernel/http/caller.ts'
import { newId } from '../../kernel/ids.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import {
  allowedTransitions,
  type DeploymentState,
  isBillingAction,
  type Mover,
  mayMove,
  OPERATE,
  statesBefore,
} from './lifecycle.ts'
import { moveDeployment } from './repository.ts'
import { subscriptionAfter } from './subscription-after.ts'

export interface Transition {
  state: DeploymentState
  reason?: string | null
}

export interface MovedParts {
  /** Both as JSON text. */
  deployment: string
  event: string
  allowed: DeploymentState[]
}

/** As whom a caller moves deployments: an operator without the permission to operate does what their tenants may. */
export function moverOf(caller: Caller): Mover {
  if (mayOperate(caller, OPERATE)) return 'operator'
  return isPermitted(caller, 'deployments:write') ? 'tenant' : 'nobody'
}

export async function transitionDeployment(
  { db, clock }: Kernel,
  caller: Caller,
  id: string,
  { state: to, reason = null }: Transition,
): Promise<MovedParts> {
  const event = {
    id: newId(),
    deployment_id: id,
    to_state: to,
    actor: caller.sub,
    actor_role: actingRole(caller),
    reason,
    created_at: clock.now().toISOString(),
  }
  const mover = moverOf(caller)
  const move = {
    ...event,
    // Whether the caller may is decided by the state that the guarded write finds, not by one that was read before.
    from_states: statesBefore(to, mover),
    billing_action: isBillingAction(to),
    follow: subscriptionAfter(to),
  }
  const { from_state, held, deployment } = await untilDone(db, () =>
    moveDeployment(db, scopeOf(caller), move),
  )
  if (from_state === null) throw notFound()
  if (!move.from_states.includes(from_state)) throw refusedMove(from_state, to, mover, held)
  if (deployment === null) throw held && move.billing_action ? heldOff(to) : stateChanged(from_state)
  const { id: eventId, deployment_id, ...rest } = event
  return {
    deployment,
    event: JSON.stringify({ id: eventId, deployment_id, from_state, ...rest }),
    allowed: allowedTransitions(to, mover, held),
  }
}

function refusedMove(from: DeploymentState, to: DeploymentState, mover: Mover, held: boolean): AppError {
  const allowed = allowedTransitions(from, mover, held)
  const words = allowed.length > 0 ? `it may move to ${allowed.join(', ')}` : 'it moves nowhere from there'
  const extra = { from_state: from, to_state: to, allowed_transitions: allowed }
  if (mayMove(from, to, 'operator')) {
    if (held && isBillingAction(to)) return heldOff(to)
    const message = `Moving a deployment from ${from} to ${to} is for operators with ${OPERATE}.`
    return new AppError('forbidden', 'operator_only', message, { extra })
  }
  const message = `A deployment that is ${from} cannot become ${to}: ${words}.`
  return new AppError('invalid', 'invalid_transition', message, { extra })
}

const heldOff = (to: DeploymentState): AppError =>
  conflict(
    'billing_action_suspended',
    `Billing actions are suspended for this deployment: it does not become ${to} until an operator lifts that.`,
  )

const stateChanged = (from: DeploymentState): AppError =>
  conflict('state_changed', `The deployment left ${from} while this move was being made. Look again.`)
