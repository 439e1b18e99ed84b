// SQL of the addons.
import { auditedTable } from '../../kernel/audit.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { AddonRow } from './tables.ts'

const ADDONS = auditedTable('addons', { key: ['id'], silent: ['updated_at'] })

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
  await ADDONS.insert(executor, [addon])
}

export async function updateAddon(
  executor: Executor,
  code: string,
  values: Partial<AddonRow>,
): Promise<AddonRow | undefined> {
  return (await ADDONS.update(executor, { code }, values))[0]
}
