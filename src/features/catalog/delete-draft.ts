// A draft that is not wanted goes, with its items. Its number is not given to another.
import { transaction } from '../../kernel/db/transaction.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { lockDraft, notADraft } from './lock-draft.ts'
import { deleteDraftRow } from './version-repository.ts'

export function deleteDraft({ db }: Kernel, planCode: string, version: number): Promise<void> {
  return transaction(db, async tx => {
    const draft = await lockDraft(tx, planCode, version)
    if (!(await deleteDraftRow(tx, draft.id))) throw notADraft(draft)
  })
}
