// A move between states: validated against the map, written only if the deployment is still where it was read, with
// its event and what follows for the subscription in the same transaction.
import { transaction } from '../../kernel/db/transaction.ts'
import { AppError, conflict, notFound } from '../../kernel/errors.ts'
import { actingRole, type Caller, scopeOf } from '../../kernel/http/caller.ts'
import { newId } from '../../kernel/ids.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { followDeployment } from '../subscriptions/index.ts'
import { allowedTransitions, type DeploymentState, mayMove } from './lifecycle.ts'
import { moveDeployment, stateOf } from './repository.ts'
import { subscriptionAfter } from './subscription-after.ts'

export interface Transition {
  state: DeploymentState
  reason?: string | null
}

/** The moved deployment and the event, as JSON text. */
export async function transitionDeployment(
  { engine, db, clock }: Kernel,
  caller: Caller,
  id: string,
  { state: to, reason = null }: Transition,
): Promise<{ deployment: string; event: string }> {
  const scope = scopeOf(caller)
  const from = await stateOf(engine, scope, id)
  if (!from) throw notFound()
  if (!mayMove(from, to)) throw invalidTransition(from, to)
  const created_at = clock.now().toISOString()
  const event = {
    id: newId(),
    deployment_id: id,
    from_state: from,
    to_state: to,
    actor: caller.sub,
    actor_role: actingRole(caller),
    reason,
    created_at,
  }
  const follow = subscriptionAfter(to)
  return transaction(db, async tx => {
    const moved = await moveDeployment(tx, scope, event)
    if (!moved) {
      throw conflict(
        'state_changed',
        `The deployment left ${from} while this move was being made. Look again.`,
      )
    }
    // A statement of its own: it must see a subscription that was being made while the move waited for it.
    if (follow) await followDeployment(tx, id, follow, created_at)
    return moved
  })
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
