// A revoked invitation can no longer be accepted. It may be said twice; one that was accepted is past revoking.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { revoke } from './repository.ts'

export async function revokeInvitation({ db }: Deps, id: string): Promise<void> {
  const status = await transaction(db, tx => revoke(tx, id))
  if (status === undefined) throw notFound()
  if (status === 'accepted') {
    throw conflict('already_accepted', 'The invitation was accepted: suspend or delete the user instead.')
  }
}
