// A role goes only when nobody has it and nobody is about to: what it held back would otherwise be open all at once.
import type { Deps } from '../../deps.ts'
import { sqlState } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { refuseChangeOfBuiltIn } from './change-role.ts'
import { lockRole, removeRole } from './repository.ts'

/** Whether somebody has been promised the role. Users who have it refer to it; the database sees to those. */
export type IsPromised = (tx: Executor, name: string) => Promise<boolean>

const FOREIGN_KEY_VIOLATION = '23503'

export async function deleteRole({ db }: Deps, name: string, isPromised: IsPromised): Promise<void> {
  refuseChangeOfBuiltIn(name)
  try {
    await transaction(db, async tx => {
      if (!(await lockRole(tx, name))) throw notFound()
      if (await isPromised(tx, name)) throw inUse()
      await removeRole(tx, name)
    })
  } catch (error) {
    throw sqlState(error) === FOREIGN_KEY_VIOLATION ? inUse() : error
  }
}

const inUse = () => conflict('role_in_use', 'A user or a pending invitation has this role.')
