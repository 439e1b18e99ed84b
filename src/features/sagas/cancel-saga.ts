// A cancel is a request: the runner looks at it between two steps, and turns back. After the last step it has come too
// late, and the run completes. A run that is turning back already is on its way to what was asked.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { requestCancel, showRun, statusOf } from './repository.ts'
import { hasEnded } from './run-states.ts'

/** The run as JSON text. */
export async function cancelSaga({ db, log }: Deps, id: string, by: string): Promise<string> {
  if (await transaction(db, tx => requestCancel(tx, id, by)))
    log.info({ saga_id: id, by }, 'saga cancel requested')
  else {
    const status = await statusOf(db, id)
    if (!status) throw notFound()
    if (hasEnded(status)) throw conflict('saga_ended', `The run has ended: it is ${status}.`)
  }
  return (await showRun(db, { allTenants: true }, id))!
}
