// Records that a file is kept, in the transaction that writes what the file is for.
import { StorageError } from '../../integrations/storage/index.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { insertFile } from './file-repository.ts'
import type { InvoiceFileRow } from './tables.ts'

export async function recordFile(tx: Executor, file: InvoiceFileRow): Promise<void> {
  try {
    await insertFile(tx, file)
  } catch (error) {
    if (violatedConstraint(error) !== 'invoice_files_backend') throw error
    throw new StorageError('the storage backend was deleted while the file was put there')
  }
}
