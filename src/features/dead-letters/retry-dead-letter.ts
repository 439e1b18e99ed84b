// An operator puts a dead letter back into the queue it came from.

import { recordAct } from '../../kernel/audit-entry.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import type { Kernel } from '../../kernel/kernel.ts'

export function retryDeadLetter({ db, jobs }: Kernel, id: string): Promise<void> {
  return transaction(db, async tx => {
    if (!(await jobs.retryDeadLetter(tx, id))) throw notFound()
    await recordAct(tx, { subjectType: 'dead_letters', subjectId: id })
  })
}
