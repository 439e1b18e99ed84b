// A role that a pending invitation carries is promised to somebody: it stays until that one has answered.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { isRolePending } from './repository.ts'

export const isRolePromised =
  ({ clock }: Pick<Deps, 'clock'>) =>
  (tx: Executor, role: string): Promise<boolean> =>
    isRolePending(tx, role, clock.now().toISOString())
