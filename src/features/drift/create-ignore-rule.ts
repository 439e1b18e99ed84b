// A rule that says which drift does not matter. It holds from the next sweep on, until it expires or is deleted.
import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { insertRule } from './ignore-rule-repository.ts'
import type { DriftIgnoreRuleRow } from './tables.ts'

export interface NewIgnoreRule {
  kind?: string | null
  resource_id?: string | null
  field: string
  reason: string
  expires_at?: string | null
}

export async function createIgnoreRule(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  { kind = null, resource_id = null, field, reason, expires_at = null }: NewIgnoreRule,
  actor: string,
): Promise<DriftIgnoreRuleRow> {
  const now = clock.now()
  const expires = expires_at === null ? null : Date.parse(expires_at)
  if (expires !== null && !(expires > now.getTime() && expires <= LAST_TIME))
    throw invalid('The body is not acceptable.', [
      { pointer: '/expires_at', message: 'must be in the future' },
    ])
  const row = {
    id: newId(),
    kind,
    resource_id,
    field,
    reason,
    expires_at: expires === null ? null : new Date(expires).toISOString(),
    created_by: actor,
    created_at: now.toISOString(),
  }
  try {
    await transaction(db, tx => insertRule(tx, row))
  } catch (error) {
    if (violatedConstraint(error) !== 'drift_ignore_rules_resource_id_fkey') throw error
    throw invalid('The body is not acceptable.', [
      { pointer: '/resource_id', message: 'is not a resource of the inventory' },
    ])
  }
  return row
}

const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')
