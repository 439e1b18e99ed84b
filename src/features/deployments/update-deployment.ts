// Changes of what a deployment is called and made from. The billing override is an operator's.
import { transaction } from '../../kernel/db/transaction.ts'
import { forbidden, notFound } from '../../kernel/errors.ts'
import { mayOperate } from '../../kernel/http/access.ts'
import { type Caller, scopeOf } from '../../kernel/http/caller.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { OPERATE } from './lifecycle.ts'
import { type DeploymentChanges, updateDeployment as update } from './repository.ts'
import type { CloudDeploymentRow } from './tables.ts'

export async function updateDeployment(
  { db, clock }: Kernel,
  caller: Caller,
  id: string,
  changes: DeploymentChanges,
): Promise<CloudDeploymentRow> {
  if (changes.billing_action_suspended !== undefined && !mayOperate(caller, OPERATE)) {
    throw forbidden(`billing_action_suspended is for operators with ${OPERATE}.`)
  }
  const values = { ...changes, updated_at: clock.now().toISOString() }
  const row = await transaction(db, tx => update(tx, scopeOf(caller), id, values))
  if (!row) throw notFound()
  return row
}
