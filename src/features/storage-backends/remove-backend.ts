// Forgets a backend that holds no file. The database decides: a file that is recorded at the same moment keeps it.

import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { deleteBackend } from './repository.ts'

export async function removeBackend({ db }: Deps, id: string): Promise<void> {
  let found: boolean
  try {
    found = await transaction(db, tx => deleteBackend(tx, id))
  } catch (error) {
    if (violatedConstraint(error) !== 'invoice_files_backend') throw error
    throw conflict('backend_in_use', 'This storage backend holds files.', { cause: error })
  }
  if (!found) throw notFound()
}
