// SQL of the addons.
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { AddonRow } from './tables.ts'

export function listAddons(executor: Executor, limit: number, after: string | null): Promise<AddonRow[]> {
  const text = 'select * from addons where code > $1 order by code limit $2'
  return runStatement<AddonRow>(executor, { name: 'catalog_addons', text }, [after ?? '', limit])
}

/** Those of the codes that exist, by code. */
export async function findAddons(executor: Executor, codes: readonly string[]): Promise<AddonRow[]> {
  if (codes.length === 0) return []
  return executor.selectFrom('addons').selectAll().where('code', 'in', codes).orderBy('code').execute()
}

export async function insertAddon(executor: Executor, addon: AddonRow): Promise<void> {
  await executor.insertInto('addons').values(addon).execute()
}

export function updateAddon(
  executor: Executor,
  code: string,
  values: Partial<AddonRow>,
): Promise<AddonRow | undefined> {
  return executor.updateTable('addons').set(values).where('code', '=', code).returningAll().executeTakeFirst()
}
