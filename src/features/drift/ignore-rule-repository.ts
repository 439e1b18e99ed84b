// SQL of the ignore rules. The sweep reads them in its own statement (sweep-repository.ts).
import type { Executor } from '../../kernel/db/tables.ts'
import type { DriftIgnoreRuleRow } from './tables.ts'

export async function insertRule(executor: Executor, row: DriftIgnoreRuleRow): Promise<void> {
  await executor.insertInto('drift_ignore_rules').values(row).execute()
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
  const { numDeletedRows } = await executor
    .deleteFrom('drift_ignore_rules')
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
