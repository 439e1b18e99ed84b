// The one look that says all about a caller: its row in the directory, the role it has there, and its token's roles.

import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Known } from './standing-rule.ts'

export interface Look {
  userId: string
  /** Whose role counts. */
  tenantId: string
  /** In which of them a suspension counts. */
  tenants: readonly string[]
  roles: readonly string[]
}

const STANDING = {
  name: 'users_standing',
  text: `select
    exists (select from users where tenant_id = any ($3::text[]) and user_id = $1 and status = 'suspended') as suspended,
    (select r.permissions from users u join roles r on r.name = u.role where u.tenant_id = $2 and u.user_id = $1) as given,
    (select json_object_agg(name, permissions) from roles where name = any ($4::text[])) as registered`,
}

export async function knownOf(
  executor: Executor,
  { userId, tenantId, tenants, roles }: Look,
): Promise<Known> {
  const [known] = await runStatement<Known>(executor, STANDING, [userId, tenantId, tenants, roles])
  return known!
}
