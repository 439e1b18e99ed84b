// The example catalog, for a service that was started without any configuration: put in when there is no catalog at
// all, in one transaction, and by one node when several start together.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Deps } from '../../deps.ts'
import { sqlState } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { newId } from '../../kernel/ids.ts'
import { insertAddon } from './addon-repository.ts'
import { type Catalog, readCatalogFile } from './catalog-file.ts'
import { catalogIsEmpty, insertPlan } from './plan-repository.ts'
import { insertPrice } from './price-repository.ts'
import { activate, insertDraft } from './version-repository.ts'

const EXAMPLE_CATALOG = join(import.meta.dirname, '../../../examples/catalog.yaml')

// Any constant will do, as long as every node takes the same one.
const LOCK_KEY = 4_005_004

/** True when it was put in; false when there is a catalog already. */
export async function seedExampleCatalog({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<boolean> {
  const { catalog, faults } = readCatalogFile(readFileSync(EXAMPLE_CATALOG, 'utf8'))
  if (faults) throw new Error(`the example catalog is not acceptable: ${faults.join('; ')}`)
  try {
    return await transaction(db, async tx => {
      await sql`select pg_advisory_xact_lock(${LOCK_KEY})`.execute(tx)
      if (!(await catalogIsEmpty(tx))) return false
      await insertCatalog(tx, catalog, clock.now().toISOString())
      return true
    })
  } catch (error) {
    // An operator was faster with one of its codes: theirs is the catalog.
    if (['23505', '23P01'].includes(sqlState(error) ?? '')) return false
    throw error
  }
}

async function insertCatalog(tx: Executor, { plans, addons, resource_prices }: Catalog, at: string) {
  for (const { code, name, version } of plans) {
    const planId = newId()
    await insertPlan(tx, { id: planId, code, name, last_version: version ? 1 : 0, created_at: at })
    if (!version) continue
    const versionId = newId()
    await insertDraft(tx, versionId, planId, 1, version, at)
    await activate(tx, versionId, at)
  }
  for (const addon of addons) await insertAddon(tx, { id: newId(), ...addon, created_at: at, updated_at: at })
  for (const price of resource_prices) await insertPrice(tx, { id: newId(), ...price, created_at: at })
}
