// A deleted secret is gone with its history; a queue whose token it was asks with the common one again.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { announce } from './announce.ts'
import { deleteSecretRow } from './repository.ts'

export async function deleteSecret(deps: Deps, name: string): Promise<void> {
  if (!(await transaction(deps.db, tx => deleteSecretRow(tx, name)))) throw notFound()
  await announce(deps, name)
}
