// A deleted secret is gone with its history; a queue whose token it was asks with the common one again.
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { announce } from './announce.ts'
import { deleteSecretRow } from './repository.ts'
import type { SecretsKernel } from './secrets-kernel.ts'

export async function deleteSecret(kernel: SecretsKernel, name: string): Promise<void> {
  if (!(await transaction(kernel.db, tx => deleteSecretRow(tx, name)))) throw notFound()
  await announce(kernel, name)
}
