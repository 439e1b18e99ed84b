// A user is named by its id alone as long as only one tenant has one of that id; else by its tenant too.
import { conflict, notFound } from '../../kernel/errors.ts'
import type { UserRow } from './tables.ts'

export function oneUser(found: readonly UserRow[]): UserRow {
  const [user, ...others] = found
  if (!user) throw notFound()
  if (others.length === 0) return user
  throw conflict('user_ambiguous', 'Several tenants have a user of this id: name one with ?tenant_id=.', {
    extra: { tenant_ids: found.map(({ tenant_id }) => tenant_id) },
  })
}
