// An operator confirms the deletions that the brake held. Only the newest run of a kind can be confirmed: an older one
// says nothing about what is there now.
import type { Deps } from '../../deps.ts'
import { isKind } from '../../integrations/digitalocean/index.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { beginLook } from './look.ts'
import { lockRunById, newestRunId, setConfirmed } from './sync-run-repository.ts'
import type { SyncRunRow } from './tables.ts'
import { deleteHeld } from './write-resources.ts'

export function confirmHeldDeletions({ db, clock }: Deps, id: string, actor: string): Promise<SyncRunRow> {
  return transaction(db, async tx => {
    const run = await lockRunById(tx, id)
    if (!run) throw notFound()
    const { kind } = run
    if (run.held === 0 || !isKind(kind)) throw conflict('nothing_held', 'This run holds no deletions.')
    if (run.confirmed_at !== null)
      throw conflict('already_confirmed', 'These deletions were confirmed before.')
    if ((await newestRunId(tx, kind)) !== id)
      throw conflict('superseded', 'A newer sweep of this kind has run: look at that one.')
    const look = await beginLook(tx, clock)
    const deleted = await deleteHeld(tx, { kind, ...look, actor }, run)
    return setConfirmed(tx, id, look.at, actor, deleted)
  })
}
