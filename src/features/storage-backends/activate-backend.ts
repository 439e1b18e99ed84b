// Chooses where files are kept from now on; what is kept elsewhere stays there. Both may be said twice, and of two that are
// activated at once the later one stands.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { lockAllBackends, lockBackend, setActive, updateBackend } from './repository.ts'

export function activateBackend({ db, clock }: Deps, id: string): Promise<void> {
  return transaction(db, async tx => {
    await lockAllBackends(tx)
    if (!(await setActive(tx, id, clock.now().toISOString()))) throw notFound()
  })
}

/** Nothing is kept any more until another is activated. */
export function deactivateBackend({ db, clock }: Deps, id: string): Promise<void> {
  return transaction(db, async tx => {
    const backend = await lockBackend(tx, id)
    if (!backend) throw notFound()
    if (backend.active) await updateBackend(tx, id, { active: false, updated_at: clock.now().toISOString() })
  })
}
