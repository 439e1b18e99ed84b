// An addon may change; what was attached to a subscription before keeps the price and quantity it had.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { findAddons, updateAddon } from './addon-repository.ts'
import type { AddonTerms } from './create-addon.ts'
import type { AddonRow } from './tables.ts'

export async function changeAddon(
  { db, clock }: Deps,
  code: string,
  changes: Partial<Omit<AddonTerms, 'code'>>,
): Promise<AddonRow> {
  const values = { ...changes, updated_at: clock.now().toISOString() }
  const addon =
    Object.keys(changes).length === 0
      ? (await findAddons(db, [code]))[0]
      : await transaction(db, tx => updateAddon(tx, code, values))
  if (!addon) throw notFound()
  return addon
}
