// All SQL of the secrets.
import { auditedTable } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { columnsOf } from '../../kernel/noun.ts'
import { Secret, type SecretRow, TOKEN_PREFIX } from './secret.ts'

const SECRETS = auditedTable('secrets', {
  key: ['name'],
  silent: ['updated_at', 'updated_by'],
  secret: ['sealed'],
})

/** False when there is one of that name. */
export async function insertSecret(tx: Executor, row: SecretRow): Promise<boolean> {
  return (await SECRETS.insert(tx, [row], ['name'])).length > 0
}

export function lockSecret(tx: Executor, name: string): Promise<SecretRow | undefined> {
  return tx.selectFrom('secrets').selectAll().where('name', '=', name).forUpdate().executeTakeFirst()
}

export async function updateSecret(
  tx: Executor,
  name: string,
  changes: Partial<SecretRow>,
): Promise<SecretRow> {
  return (await SECRETS.update(tx, { name }, changes))[0]!
}

/** False when there is none of that name. */
export async function removeSecret(executor: Executor, name: string): Promise<boolean> {
  return (await SECRETS.delete(executor, { name })).length > 0
}

export function findSecret(executor: Executor, name: string): Promise<SecretRow | undefined> {
  return executor.selectFrom('secrets').selectAll().where('name', '=', name).executeTakeFirst()
}

const COLUMNS = [...columnsOf(Secret), 'sealed'].join(', ')

/** By name. */
export const listSecrets = (executor: Executor, limit: number, after: Key | null): Promise<SecretRow[]> =>
  listPage(executor, {
    name: 'secrets',
    select: `select ${COLUMNS} from secrets`,
    orderBy: ['name'],
    after,
    limit,
  })

/** Read every few seconds by every process. */
export function listTokenSecrets(executor: Executor): Promise<Pick<SecretRow, 'name' | 'sealed'>[]> {
  const text = 'select name, sealed from secrets where starts_with(name, $1) order by name'
  return runStatement(executor, { name: 'secrets_of_the_provider', text }, [TOKEN_PREFIX])
}
