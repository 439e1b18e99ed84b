// Makes a secret that does not exist yet.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict } from '../../kernel/errors.ts'
import { announce } from './announce.ts'
import { newSecret, type SecretValue } from './new-secret.ts'
import { insertSecret } from './repository.ts'
import type { SecretRow } from './tables.ts'

export async function createSecret(
  deps: Deps,
  name: string,
  given: SecretValue,
  by: string,
): Promise<SecretRow> {
  const row = newSecret(deps, name, given, by)
  if (!(await transaction(deps.db, tx => insertSecret(tx, row)))) {
    throw conflict('secret_exists', 'There is a secret of that name. PUT gives it another value.')
  }
  await announce(deps, name)
  return row
}
