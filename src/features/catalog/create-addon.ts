// A new addon. The constraint decides who was first with a code.
import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { insertAddon } from './addon-repository.ts'
import type { AddonRow } from './tables.ts'

export type AddonTerms = Omit<AddonRow, 'id' | 'created_at' | 'updated_at'>

export async function createAddon(
  { db, clock }: Deps,
  { name, ...terms }: Omit<AddonTerms, 'name'> & { name?: string },
): Promise<AddonRow> {
  const at = clock.now().toISOString()
  const addon = { id: newId(), name: name ?? terms.code, ...terms, created_at: at, updated_at: at }
  try {
    await transaction(db, tx => insertAddon(tx, addon))
  } catch (error) {
    if (violatedConstraint(error) !== 'addons_code') throw error
    throw conflict('addon_code_taken', `There is an addon ${terms.code} already.`, { cause: error })
  }
  return addon
}
