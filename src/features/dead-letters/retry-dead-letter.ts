// An operator puts a dead letter back into the queue it came from.

import type { Deps } from '../../deps.ts'
import { recordRequest } from '../../kernel/audit.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'

export function retryDeadLetter({ db, jobs }: Deps, id: string): Promise<void> {
  return transaction(db, async tx => {
    if (!(await jobs.retryDeadLetter(tx, id))) throw notFound()
    await recordRequest(tx, { subjectType: 'dead_letters', subjectId: id })
  })
}
