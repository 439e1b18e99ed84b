// An operator accepts a drift: the live value, read again now, is what is desired from here on.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { adoptLiveValue, resourceOfDrift, statusOfDrift } from './repository.ts'
import { lockDesiredStates } from './sweep-repository.ts'
import { lockResource, refuseGone } from './write-desired-state.ts'

/** The accepted row as JSON text, and the version of the spec it made. */
export function acceptDrift(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  id: string,
  actor: string,
): Promise<{ json: string; spec_version: number }> {
  return transaction(db, async tx => {
    const resourceId = await resourceOfDrift(tx, id)
    if (!resourceId) throw notFound()
    // The resource before its desired state, as everywhere: then neither a sync nor a sweep nor another accept moves
    // anything until this is done.
    const resource = await lockResource(tx, resourceId)
    await lockDesiredStates(tx, [resourceId])
    const status = await statusOfDrift(tx, id)
    if (status !== 'open') throw notOpen(status ?? 'ignored')
    refuseGone(resource)
    const accepted = await adoptLiveValue(tx, id, clock.now().toISOString(), actor)
    if (!accepted) throw notOpen('no longer desired')
    return accepted
  })
}

const notOpen = (state: string) =>
  conflict('drift_not_open', `Only open drift can be accepted; this is ${state}.`)
