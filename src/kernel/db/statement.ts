// Statements that are kept prepared: PostgreSQL plans each once for a connection, on the database as in a transaction.
import { CompiledQuery } from 'kysely'
import type { Executor } from './tables.ts'

export interface Statement {
  /** Empty for one that is better planned each time. */
  name: string
  text: string
}

/** The names of the texts that are kept prepared. Kysely hands texts alone to the client, which looks here. */
const names = new Map<string, string>()

export const preparedNameOf = (text: string): string | undefined => names.get(text)

export async function runStatement<Row>(
  executor: Executor,
  { name, text }: Statement,
  values: unknown[],
): Promise<Row[]> {
  if (name !== '' && !names.has(text)) names.set(text, name)
  return (await executor.executeQuery<Row>(CompiledQuery.raw(text, values))).rows
}
