// Publishing: the draft becomes active and the version that was active retires, in one transaction. The lock on the
// plan makes publishers take turns, and makes subscribers see the version before or the one after, never neither.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { lockPlan } from './plan-repository.ts'
import { mayMove } from './version-lifecycle.ts'
import {
  activate,
  findVersion,
  findVersionNumbered,
  type PlanVersion,
  retireActive,
} from './version-repository.ts'

export function publishPlanVersion(
  { db, clock }: Deps,
  planCode: string,
  version: number,
): Promise<PlanVersion> {
  return transaction(db, async tx => {
    await lockPlan(tx, planCode)
    const found = await findVersionNumbered(tx, planCode, version)
    if (!found) throw notFound()
    if (!mayMove(found.status, 'active')) throw notPublishable(found)
    const at = clock.now().toISOString()
    await retireActive(tx, found.plan_id, at)
    if (!(await activate(tx, found.id, at))) throw notPublishable(found)
    return (await findVersion(tx, found.id))!
  })
}

const notPublishable = ({ plan_code, version, status }: PlanVersion) =>
  status === 'active'
    ? conflict('already_active', `Version ${version} of ${plan_code} is the active one already.`)
    : conflict(
        'version_retired',
        `Version ${version} of ${plan_code} is retired and stays so. Make a new version with its terms.`,
      )
