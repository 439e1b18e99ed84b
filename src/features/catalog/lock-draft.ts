// A draft that is about to be changed, with its plan locked, so that it cannot be published meanwhile.
import type { Executor } from '../../kernel/db/tables.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { lockPlan } from './plan-repository.ts'
import { mayBeRewritten } from './version-lifecycle.ts'
import { findVersionNumbered, type PlanVersion } from './version-repository.ts'

export async function lockDraft(tx: Executor, planCode: string, version: number): Promise<PlanVersion> {
  await lockPlan(tx, planCode)
  const found = await findVersionNumbered(tx, planCode, version)
  if (!found) throw notFound()
  if (!mayBeRewritten(found.status)) throw notADraft(found)
  return found
}

export const notADraft = ({ plan_code, version, status }: PlanVersion) =>
  conflict(
    'not_a_draft',
    `Version ${version} of ${plan_code} is ${status}; a published version never changes. Make a new one.`,
  )
