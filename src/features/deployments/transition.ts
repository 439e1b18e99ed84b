// A move between states: decided by the map and by what the caller may do, written only if the deployment is still where it
// was read, with its event, its subscription, the audit entry and the webhooks in the same transaction.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { AppError, conflict, notFound } from '../../kernel/errors.ts'
import { actingRole, type Caller, isPermitted, mayOperate, scopeOf } from '../../kernel/http/caller.ts'
import { newId } from '../../kernel/ids.ts'
import { followDeployment } from '../subscriptions/index.ts'
import type { CloudDeploymentEventRow } from './deployment.ts'
import {
  allowedTransitions,
  type DeploymentState,
  isBillingAction,
  type Mover,
  mayMove,
  movableFrom,
  OPERATE,
  subscriptionAfter,
} from './lifecycle.ts'
import { findDeployment, moveDeployment } from './store.ts'

export interface Transition {
  state: DeploymentState
  reason?: string | null
}

export interface Transitioned {
  /** As JSON text. */
  deployment: string
  event: CloudDeploymentEventRow
  allowed: DeploymentState[]
}

/** As whom a caller moves deployments: an operator without the permission to operate does what their tenants may. */
export function moverOf(caller: Caller): Mover {
  if (mayOperate(caller, OPERATE)) return 'operator'
  return isPermitted(caller, 'deployments:write') ? 'tenant' : 'nobody'
}

export function transitionDeployment(
  { db, tenantTime }: Pick<Deps, 'db' | 'tenantTime'>,
  caller: Caller,
  id: string,
  { state: to, reason = null }: Transition,
): Promise<Transitioned> {
  const mover = moverOf(caller)
  return transaction(db, async tx => {
    const asked = {
      id: newId(),
      deployment_id: id,
      to_state: to,
      actor: caller.sub,
      actor_role: actingRole(caller),
      reason,
      created_at: (await tenantTime.ofDeployment(tx, id)).toISOString(),
    }
    const status = subscriptionAfter(to)
    const billing_action = isBillingAction(to)
    const move = { ...asked, from: movableFrom(to, mover), billing_action, subscription_status: status }
    const moved = await moveDeployment(tx, scopeOf(caller), move)
    if (!moved) throw notFound()
    const { from_state: from, suspended, json, followed, event_id, created_at } = moved
    if (!mayMove(from, to, mover)) throw refusedMove(from, to, mover, suspended)
    if (suspended && billing_action) throw billingSuspended(to)
    if (json === null) throw await lostRace(tx, caller, id, from, to)
    if (status !== null) await followDeployment(tx, id, status, asked.created_at, followed)
    const allowed = allowedTransitions(to, mover, suspended)
    return { deployment: json, event: { ...asked, id: event_id, from_state: from, created_at }, allowed }
  })
}

function refusedMove(from: DeploymentState, to: DeploymentState, mover: Mover, suspended: boolean): AppError {
  const allowed = allowedTransitions(from, mover, suspended)
  const words = allowed.length > 0 ? `it may move to ${allowed.join(', ')}` : 'it moves nowhere from there'
  const extra = { from_state: from, to_state: to, allowed_transitions: allowed }
  if (mayMove(from, to, 'operator')) {
    if (suspended && isBillingAction(to)) return billingSuspended(to)
    const message = `Moving a deployment from ${from} to ${to} is for operators with ${OPERATE}.`
    return new AppError('forbidden', 'operator_only', message, { extra })
  }
  const message = `A deployment that is ${from} cannot become ${to}: ${words}.`
  return new AppError('invalid', 'invalid_transition', message, { extra })
}

async function lostRace(
  tx: Executor,
  caller: Caller,
  id: string,
  from: DeploymentState,
  to: DeploymentState,
): Promise<AppError> {
  const now = await findDeployment(tx, scopeOf(caller), id)
  if (now?.billing_action_suspended && isBillingAction(to)) return billingSuspended(to)
  return conflict('state_changed', `The deployment left ${from} while this move was being made. Look again.`)
}

const billingSuspended = (to: DeploymentState): AppError =>
  conflict(
    'billing_action_suspended',
    `Billing actions are suspended for this deployment: it does not become ${to} until an operator lifts that.`,
  )
