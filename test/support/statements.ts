// Lets a test look at, or break, the prepared statements that are sent outside of transactions.
import type { TestContext } from 'node:test'
import type { CompiledQuery, QueryResult } from 'kysely'
import { preparedName } from '../../src/kernel/db/statement.ts'
import type { Executor } from '../../src/kernel/db/tables.ts'

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
    around({ name: preparedName(query.sql, query.parameters) ?? '', values: query.parameters }, () =>
      send(query),
    )
  const mend = () => {
    own.executeQuery = send
  }
  t.after(mend)
  return mend
}
