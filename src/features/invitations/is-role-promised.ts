// A role that a pending invitation carries is promised to somebody: it stays until that one has answered.
import type { Executor } from '../../kernel/db/tables.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { isRolePending } from './repository.ts'

export const isRolePromised =
  ({ clock }: Pick<Kernel, 'clock'>) =>
  (tx: Executor, role: string): Promise<boolean> =>
    isRolePending(tx, role, clock.now().toISOString())
