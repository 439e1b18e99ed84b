// The one look that says all about a caller: its row in the directory, the role it has there, its roles, and whether it has
// API keys that should hear of its token.

import { storable } from '../../kernel/audit.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { knowOthersThan, toldUpTo } from '../api-keys/index.ts'
import type { Known } from './access-rule.ts'

export interface Look {
  userId: string
  /** Whose role counts. */
  tenantId: string
  /** In which of them a suspension counts. */
  tenants: readonly string[]
  roles: readonly string[]
  /** Those that the token names, whether they can be registered or not. */
  named: readonly string[]
  platformTenantId: string
  /** The database's clock may be another; keys end by ours. */
  now: string
}

export interface Looked extends Known {
  /** The newest token that all living keys of the user know of; null: it has none. */
  keys_told_at: string | null
  /** Whether they know of other roles than this token names. */
  keys_know_others: boolean
}

const OWNER = { userId: '$1', tenantId: '$2', platformTenantId: '$5::text' }

const ACCESS = {
  name: 'users_access',
  text: `select
    exists (select from users where tenant_id = any ($3::text[]) and user_id = $1 and status = 'suspended') as suspended,
    (select r.permissions from users u join roles r on r.name = u.role where u.tenant_id = $2 and u.user_id = $1) as given,
    (select json_object_agg(name, permissions) from roles where name = any ($4::text[])) as registered,
    (${toldUpTo({ ...OWNER, now: '$6::timestamptz' })}) as keys_told_at,
    (${knowOthersThan(OWNER, '$7::text[]')}) as keys_know_others`,
}

export async function lookUp(
  executor: Executor,
  { userId, tenantId, tenants, roles, named, platformTenantId, now }: Look,
): Promise<Looked> {
  const values = [userId, tenantId, tenants, roles, platformTenantId, now, named.map(storable)]
  const [looked] = await runStatement<Looked>(executor, ACCESS, values)
  return looked!
}
