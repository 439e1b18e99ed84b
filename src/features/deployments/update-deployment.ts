// Changes of what a deployment is called and made from. Holding billing actions off is an operator's.
import { transaction } from '../../kernel/db/transaction.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { type Caller, mayOperate, scopeOf } from '../../kernel/http/caller.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { OPERATE } from './lifecycle.ts'
import { type DeploymentChanges, type Hold, updateDeployment as update } from './repository.ts'
import type { CloudDeploymentRow } from './tables.ts'

export interface DeploymentUpdate extends DeploymentChanges {
  billing_action_suspended?: boolean
  billing_action_suspended_reason?: string | null
}

export async function updateDeployment(
  { db, clock }: Kernel,
  caller: Caller,
  id: string,
  {
    billing_action_suspended: suspended,
    billing_action_suspended_reason: reason,
    ...changes
  }: DeploymentUpdate,
): Promise<CloudDeploymentRow> {
  if ((suspended !== undefined || reason !== undefined) && !mayOperate(caller, OPERATE)) {
    throw forbidden(`billing_action_suspended is for operators with ${OPERATE}.`)
  }
  if (reason !== undefined && suspended !== true) {
    throw invalid('The body is not acceptable.', [
      { pointer: '/billing_action_suspended_reason', message: 'goes with billing_action_suspended: true' },
    ])
  }
  const hold: Hold | null | undefined = suspended
    ? { by: caller.sub, reason }
    : suspended === false
      ? null
      : undefined
  const values = { ...changes, updated_at: clock.now().toISOString() }
  const row = await transaction(db, tx => update(tx, scopeOf(caller), id, values, hold))
  if (!row) throw notFound()
  return row
}
