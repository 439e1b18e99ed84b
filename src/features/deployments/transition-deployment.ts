// A move between states: validated against the map, written only if the deployment is still where it was read, with
// its event and what follows for the subscription in the same transaction.
import { untilDone } from '../../kernel/db/transaction.ts'
import { AppError, conflict, notFound } from '../../kernel/errors.ts'
import { actingRole, type Caller, scopeOf } from '../../kernel/http/caller.ts'
import { newId } from '../../kernel/ids.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { allowedTransitions, type DeploymentState, statesBefore } from './lifecycle.ts'
import { moveDeployment } from './repository.ts'
import { subscriptionAfter } from './subscription-after.ts'

export interface Transition {
  state: DeploymentState
  reason?: string | null
}

/** The moved deployment and the event, as JSON text. */
export async function transitionDeployment(
  { db, clock }: Kernel,
  caller: Caller,
  id: string,
  { state: to, reason = null }: Transition,
): Promise<{ deployment: string; event: string }> {
  const event = {
    id: newId(),
    deployment_id: id,
    to_state: to,
    actor: caller.sub,
    actor_role: actingRole(caller),
    reason,
    created_at: clock.now().toISOString(),
  }
  const from_states = statesBefore(to)
  const { from_state, deployment } = await untilDone(db, () =>
    moveDeployment(db, scopeOf(caller), { ...event, from_states, follow: subscriptionAfter(to) }),
  )
  if (from_state === null) throw notFound()
  if (!from_states.includes(from_state)) throw invalidTransition(from_state, to)
  if (deployment === null) {
    throw conflict(
      'state_changed',
      `The deployment left ${from_state} while this move was being made. Look again.`,
    )
  }
  const { id: eventId, deployment_id, ...rest } = event
  return { deployment, event: JSON.stringify({ id: eventId, deployment_id, from_state, ...rest }) }
}

function invalidTransition(from: DeploymentState, to: DeploymentState): AppError {
  const allowed = allowedTransitions(from)
  const words = allowed.length > 0 ? `it may move to ${allowed.join(', ')}` : 'it moves nowhere from there'
  return new AppError(
    'invalid',
    'invalid_transition',
    `A deployment that is ${from} cannot become ${to}: ${words}.`,
    {
      extra: { from_state: from, to_state: to, allowed_transitions: allowed },
    },
  )
}
