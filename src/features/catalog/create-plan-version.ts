// A new version starts as a draft. Its number is one more than the last given out, also when that draft was deleted.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { takeVersionNumber } from './plan-repository.ts'
import { refuseBadItems } from './refuse-bad-items.ts'
import { findVersion, insertDraft, type PlanVersion } from './version-repository.ts'
import type { VersionTerms } from './version-terms.ts'

export function createPlanVersion(
  { db, clock }: Deps,
  planCode: string,
  terms: VersionTerms,
): Promise<PlanVersion> {
  refuseBadItems(terms)
  return transaction(db, async tx => {
    const plan = await takeVersionNumber(tx, planCode)
    if (!plan) throw notFound()
    const id = newId()
    await insertDraft(tx, id, plan.id, plan.last_version, terms, clock.now().toISOString())
    return (await findVersion(tx, id))!
  })
}
