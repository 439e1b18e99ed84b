// An operator says how a resource should look: one that no saga made is adopted, another's spec is replaced.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { specErrors } from './spec-bounds.ts'
import { lockResource, refuseGone, writeDesiredState } from './write-desired-state.ts'

type Spec = Record<string, unknown>

export function adoptResource(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  resourceId: string,
  spec: Spec,
): Promise<{ spec: Spec; spec_version: number; saga_id: string | null }> {
  const errors = specErrors(spec)
  if (errors.length > 0) throw invalid('The spec is not acceptable.', errors)
  return transaction(db, async tx => {
    const resource = await lockResource(tx, resourceId)
    if (!resource) throw notFound()
    refuseGone(resource)
    const at = clock.now().toISOString()
    return { spec, ...(await writeDesiredState(tx, at, { resourceId, spec, sagaId: null })) }
  })
}
