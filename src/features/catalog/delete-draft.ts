// A draft that is not wanted goes, with its items. Its number is not given to another.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { lockDraft, notADraft } from './lock-draft.ts'
import { deleteDraftRow } from './version-repository.ts'

export function deleteDraft({ db }: Deps, planCode: string, version: number): Promise<void> {
  return transaction(db, async tx => {
    const draft = await lockDraft(tx, planCode, version)
    if (!(await deleteDraftRow(tx, draft.id))) throw notADraft(draft)
  })
}
