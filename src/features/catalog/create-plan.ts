// A plan is a code and a name; what it costs is its versions'. The constraint decides who was first with a code.
import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { insertPlan } from './plan-repository.ts'
import type { PlanRow } from './tables.ts'

export async function createPlan(
  { db, clock }: Deps,
  { code, name }: { code: string; name: string },
): Promise<PlanRow> {
  const plan = { id: newId(), code, name, last_version: 0, created_at: clock.now().toISOString() }
  try {
    await transaction(db, tx => insertPlan(tx, plan))
  } catch (error) {
    if (violatedConstraint(error) !== 'plans_code') throw error
    throw conflict('plan_code_taken', `There is a plan ${code} already.`, { cause: error })
  }
  return plan
}
