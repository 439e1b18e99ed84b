// Changes of what a deployment is called and made from. The billing override is a platform_admin's.
import { transaction } from '../../kernel/db/transaction.ts'
import { forbidden, notFound } from '../../kernel/errors.ts'
import { type Caller, scopeOf } from '../../kernel/http/caller.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { type DeploymentChanges, updateDeployment as update } from './repository.ts'
import type { CloudDeploymentRow } from './tables.ts'

export async function updateDeployment(
  { db, clock }: Kernel,
  caller: Caller,
  id: string,
  changes: DeploymentChanges,
): Promise<CloudDeploymentRow> {
  if (changes.billing_action_suspended !== undefined && !caller.platformAdmin) {
    throw forbidden('billing_action_suspended is for a platform_admin.')
  }
  const values = { ...changes, updated_at: clock.now().toISOString() }
  const row = await transaction(db, tx => update(tx, scopeOf(caller), id, values))
  if (!row) throw notFound()
  return row
}
