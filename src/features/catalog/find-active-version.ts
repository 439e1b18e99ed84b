// What a new signup gets. The plan is held first, in a statement of its own: whoever waits there for a publish must read
// the versions after it, and a statement that waited would still show them as they were before.
import type { Executor } from '../../kernel/db/tables.ts'
import { holdPlan } from './plan-repository.ts'
import type { PlanRow } from './tables.ts'
import { findActive, type PlanVersion } from './version-repository.ts'

export interface SignupTerms {
  plan: PlanRow
  /** Null: none of its versions is active. */
  version: PlanVersion | null
}

/** Undefined when there is no such plan. No publish of the plan passes until the transaction has ended. */
export async function findActiveVersion(tx: Executor, planCode: string): Promise<SignupTerms | undefined> {
  const plan = await holdPlan(tx, planCode)
  return plan && { plan, version: (await findActive(tx, plan.id)) ?? null }
}
