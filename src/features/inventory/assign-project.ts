// An operator says whose a project is; everything it holds follows in the same transaction, with an event each.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { lockProject, updateProject } from './project-repository.ts'
import type { CloudProjectRow, Purpose } from './tables.ts'
import { rehome } from './write-resources.ts'

export interface Assignment {
  tenant_id?: string | null
  purpose?: Purpose
}

export function assignProject(
  { db, clock }: Deps,
  id: string,
  assignment: Assignment,
  actor: string,
): Promise<CloudProjectRow> {
  return transaction(db, async tx => {
    const before = await lockProject(tx, id)
    if (!before) throw notFound()
    const after = {
      tenant_id: assignment.tenant_id === undefined ? before.tenant_id : assignment.tenant_id,
      purpose: assignment.purpose ?? before.purpose,
    }
    if (after.purpose === 'tenant' && after.tenant_id === null) {
      throw invalid('A tenant’s project needs a tenant.', [
        { pointer: '/tenant_id', message: 'is required when the purpose is tenant' },
      ])
    }
    const project = await updateProject(tx, id, after)
    if (before.tenant_id !== after.tenant_id) await rehome(tx, clock.now().toISOString(), actor, id)
    return project!
  })
}
