// All that a test's database holds, as text, to look for what must not be there.
import assert from 'node:assert/strict'
import { sql } from 'kysely'
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
