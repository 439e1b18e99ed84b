// The one role that is always there and never changes. Its meaning is in the guards: a platform_admin is held back by
// nothing but a suspension.
import { PLATFORM_ADMIN } from '../../kernel/http/caller.ts'
import type { RoleRow } from './tables.ts'

/** A role as it is shown; the built-in one was never made. */
export interface ShownRole extends Omit<RoleRow, 'created_at' | 'updated_at'> {
  built_in: boolean
  created_at: string | null
  updated_at: string | null
}

export const BUILT_IN: ShownRole = {
  name: PLATFORM_ADMIN,
  description: 'Sees and does everything, in all tenants. The issuer gives it; no permission holds it back.',
  permissions: ['*:*'],
  built_in: true,
  created_at: null,
  updated_at: null,
}

export const isBuiltIn = (name: string): boolean => name === BUILT_IN.name

export const shownRole = (row: RoleRow): ShownRole => ({ ...row, built_in: false })

/** The rows after a name, with the built-in role in its place among them. */
export function withBuiltIn(rows: readonly RoleRow[], after: string): ShownRole[] {
  const shown = rows.map(shownRole)
  if (BUILT_IN.name <= after) return shown
  const place = rows.findIndex(({ name }) => name > BUILT_IN.name)
  return shown.toSpliced(place < 0 ? rows.length : place, 0, BUILT_IN)
}
