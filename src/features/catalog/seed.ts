// The example catalog, for a service that was started without any configuration: put in when there is no catalog at
// all, in one transaction, and by one node when several start together.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Deps } from '../../deps.ts'
import { sqlState } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { newId } from '../../kernel/ids.ts'
import { type Catalog, readCatalogFile } from './catalog-file.ts'
import { ADDONS, activate, insertDraft, lockEmptyCatalog, METERS, PLANS, PRICES } from './store.ts'

const EXAMPLE_CATALOG = join(import.meta.dirname, '../../../examples/catalog.yaml')

/** True when it was put in; false when there is a catalog already. */
export async function seedExampleCatalog({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<boolean> {
  try {
    return await transaction(db, async tx => {
      if (!(await lockEmptyCatalog(tx))) return false
      await insertCatalog(tx, exampleCatalog(), clock.now().toISOString())
      return true
    })
  } catch (error) {
    // An operator was faster with one of its codes: theirs is the catalog.
    if (['23505', '23P01'].includes(sqlState(error) ?? '')) return false
    throw error
  }
}

function exampleCatalog(): Catalog {
  const { catalog, faults } = readCatalogFile(readFileSync(EXAMPLE_CATALOG, 'utf8'))
  if (faults) throw new Error(`the example catalog is not acceptable: ${faults.join('; ')}`)
  return catalog
}

async function insertCatalog(tx: Executor, catalog: Catalog, created_at: string) {
  const { meters, plans, addons, resource_prices } = catalog
  await METERS.insert(
    tx,
    meters.map(meter => ({ ...meter, created_at })),
  )
  for (const { code, name, version } of plans) {
    const plan_id = newId()
    await PLANS.insert(tx, [{ id: plan_id, code, name, last_version: version ? 1 : 0, created_at }])
    if (!version) continue
    const id = newId()
    await insertDraft(tx, { id, plan_id, version: 1, created_at }, version)
    await activate(tx, id, created_at)
  }
  await ADDONS.insert(
    tx,
    addons.map(addon => ({ id: newId(), ...addon, created_at, updated_at: created_at })),
  )
  await PRICES.insert(
    tx,
    resource_prices.map(price => ({ id: newId(), ...price, created_at })),
  )
}
