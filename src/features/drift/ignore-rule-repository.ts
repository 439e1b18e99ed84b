// SQL of the ignore rules. The sweep reads them in its own statement (sweep-repository.ts).
import { auditedTable } from '../../kernel/audit.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { DriftIgnoreRuleRow } from './tables.ts'

const RULES = auditedTable('drift_ignore_rules', { key: ['id'] })

export async function insertRule(executor: Executor, row: DriftIgnoreRuleRow): Promise<void> {
  await RULES.insert(executor, [row])
}

export function findRule(executor: Executor, id: string): Promise<DriftIgnoreRuleRow | undefined> {
  return executor.selectFrom('drift_ignore_rules').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Newest first, expired ones too. */
export function listRules(
  executor: Executor,
  limit: number,
  before: string | null,
): Promise<DriftIgnoreRuleRow[]> {
  return executor
    .selectFrom('drift_ignore_rules')
    .selectAll()
    .$if(before !== null, q => q.where('id', '<', before!))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Whether there was one. */
export async function deleteRule(executor: Executor, id: string): Promise<boolean> {
  return (await RULES.delete(executor, { id })).length > 0
}
