// SQL of the provider's account: whom its invoices are for.
import type { Executor, Row } from '../../kernel/db/tables.ts'
import { PROVIDER } from '../inventory/index.ts'

export type AccountRow = Row<'cloud_accounts'>

export async function writeAccount(
  executor: Executor,
  account: Pick<AccountRow, 'account_id' | 'name'>,
  recorded_at: string,
): Promise<void> {
  const row = { provider: PROVIDER, ...account, recorded_at }
  await executor
    .insertInto('cloud_accounts')
    .values(row)
    .onConflict(at => at.column('provider').doUpdateSet(row))
    .execute()
}

export function findAccount(executor: Executor): Promise<AccountRow | undefined> {
  return executor.selectFrom('cloud_accounts').selectAll().where('provider', '=', PROVIDER).executeTakeFirst()
}
