// Looks into a test’s database: all that it holds, and the statements that are sent to it.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type CompiledQuery, type QueryResult, sql } from 'kysely'
import { preparedName } from '../../src/kernel/db/statement.ts'
import type { Executor } from '../../src/kernel/db/tables.ts'
import type { Bundle } from './setup.ts'

/** Table by table; bytes are read as text too. */
export async function everything({ ctx }: Bundle): Promise<Map<string, string>> {
  const { rows: tables } = await sql<{ name: string; columns: string[] }>`
    select format('%I.%I', table_schema, table_name) as name,
           array_agg(format(case data_type when 'bytea' then 'encode(%I, ''escape'')' else '%I::text' end, column_name)) as columns
    from information_schema.columns where table_schema in ('public', 'pgboss') group by 1`.execute(ctx.db)
  assert.ok(tables.length > 15)
  const found = new Map<string, string>()
  for (const { name, columns } of tables) {
    const line = sql.raw(columns.join(', '))
    const { rows } = await sql<{ text: string }>`
      select coalesce(string_agg(concat_ws(' ', ${line}), ' '), '') as text from ${sql.raw(name)}`.execute(
      ctx.db,
    )
    found.set(name, rows[0]!.text)
  }
  return found
}

export interface Sent {
  name: string
  values: readonly unknown[]
}

type Send = () => Promise<QueryResult<unknown>>

/** Returns what puts everything back, as the end of the test does: tests share the engine. */
export function aroundStatements(
  t: TestContext,
  db: Executor,
  around: (sent: Sent, send: Send) => Promise<QueryResult<unknown>>,
): () => void {
  const own = db as { executeQuery: (query: CompiledQuery) => Promise<QueryResult<unknown>> }
  const send = own.executeQuery.bind(db)
  own.executeQuery = query =>
    // Without the number that tells texts of one name apart.
    around(
      {
        name: preparedName(query.sql, query.parameters)?.replace(/_\d+$/, '') ?? '',
        values: query.parameters,
      },
      () => send(query),
    )
  const mend = () => {
    own.executeQuery = send
  }
  t.after(mend)
  return mend
}
