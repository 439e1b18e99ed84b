// What the directory makes of a caller: suspended or not, and what holds it back. The roles of the token permit what they
// permit together; the role that the user was given here is a second limit beside them. A platform_admin has neither.
import type { Caller } from '../../kernel/http/caller.ts'
import type { Permissions, Standing } from '../../kernel/http/standing.ts'
import { unionOf } from '../roles/index.ts'

/** What the database knows of a caller. */
export interface Known {
  suspended: boolean
  /** Permissions of the role that the user has here; null without one. */
  given: Permissions | null
  /** Those of the token's roles that are registered. */
  registered: Record<string, Permissions> | null
}

export function standingOf(
  { platformAdmin, roles }: Pick<Caller, 'platformAdmin' | 'roles'>,
  { suspended, given, registered }: Known,
): Standing {
  const limits = platformAdmin ? [] : [unionOf(roles, registered ?? {}), given]
  return { suspended, limits: limits.filter(limit => limit !== null) }
}
