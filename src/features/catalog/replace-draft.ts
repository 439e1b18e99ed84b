// A draft's price and items are replaced as a whole.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { lockDraft, notADraft } from './lock-draft.ts'
import { refuseBadItems } from './refuse-bad-items.ts'
import { findVersion, type PlanVersion, rewriteDraft } from './version-repository.ts'
import type { VersionTerms } from './version-terms.ts'

export function replaceDraft(
  { db }: Deps,
  planCode: string,
  version: number,
  terms: VersionTerms,
): Promise<PlanVersion> {
  refuseBadItems(terms)
  return transaction(db, async tx => {
    const draft = await lockDraft(tx, planCode, version)
    if (!(await rewriteDraft(tx, draft.id, terms))) throw notADraft(draft)
    return (await findVersion(tx, draft.id))!
  })
}
