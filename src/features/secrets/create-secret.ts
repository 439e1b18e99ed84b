// Makes a secret that does not exist yet.
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict } from '../../kernel/errors.ts'
import { announce } from './announce.ts'
import { newSecret, type SecretValue } from './new-secret.ts'
import { insertSecret } from './repository.ts'
import type { SecretsKernel } from './secrets-kernel.ts'
import type { SecretRow } from './tables.ts'

export async function createSecret(
  kernel: SecretsKernel,
  name: string,
  given: SecretValue,
  by: string,
): Promise<SecretRow> {
  const row = newSecret(kernel, name, given, by)
  if (!(await transaction(kernel.db, tx => insertSecret(tx, row)))) {
    throw conflict('secret_exists', 'There is a secret of that name. PUT gives it another value.')
  }
  await announce(kernel, name)
  return row
}
