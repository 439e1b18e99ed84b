// SQL of the secrets.
import { auditedTable } from '../../kernel/audit.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { TOKEN_PREFIX } from './secret-name.ts'
import type { SecretRow } from './tables.ts'

const SECRETS = auditedTable('secrets', {
  key: ['name'],
  silent: ['updated_at', 'updated_by'],
  secret: ['sealed'],
})

/** False when there is one of that name. */
export async function insertSecret(executor: Executor, row: SecretRow): Promise<boolean> {
  return (await SECRETS.insert(executor, [row], ['name'])).length > 0
}

export function lockSecret(executor: Executor, name: string): Promise<SecretRow | undefined> {
  return executor.selectFrom('secrets').selectAll().where('name', '=', name).forUpdate().executeTakeFirst()
}

export async function updateSecret(executor: Executor, { name, ...row }: SecretRow): Promise<void> {
  await SECRETS.update(executor, { name }, row)
}

export async function deleteSecretRow(executor: Executor, name: string): Promise<boolean> {
  return (await SECRETS.delete(executor, { name })).length > 0
}

export function findSecret(executor: Executor, name: string): Promise<SecretRow | undefined> {
  return executor.selectFrom('secrets').selectAll().where('name', '=', name).executeTakeFirst()
}

/** By name. */
export function listSecrets(executor: Executor, limit: number, after: string | null): Promise<SecretRow[]> {
  return executor
    .selectFrom('secrets')
    .selectAll()
    .$if(after !== null, query => query.where('name', '>', after))
    .orderBy('name')
    .limit(limit)
    .execute()
}

/** Read every few seconds by every process. */
export function listTokenSecrets(executor: Executor): Promise<Pick<SecretRow, 'name' | 'sealed'>[]> {
  const text = 'select name, sealed from secrets where starts_with(name, $1) order by name'
  return runStatement(executor, { name: 'secrets_of_the_provider', text }, [TOKEN_PREFIX])
}
