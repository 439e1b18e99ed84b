// A statement of the embedded engine in one exchange of messages, where PGlite's own `query` takes six, and kept prepared
// where it has a name, as on PostgreSQL: that is half of what a statement costs. Values are written as node-postgres does.
import { type PGlite, parse, protocol, type Results } from '@electric-sql/pglite'
import utils from 'pg/lib/utils.js'
import { PLANS_LAST_MS } from './connection.ts'
import { preparedName } from './statement.ts'

const { serialize } = protocol

/** Whoever calls it holds the engine's lock on transactions, or is inside of one. */
export type RunStatement = <Row>(text: string, values?: readonly unknown[]) => Promise<Results<Row>>

export function statementsOf(pglite: PGlite): RunStatement {
  const prepared = new Set<string>()
  let plannedAt = performance.now()
  // There is nothing to synchronize: the engine's files are in the folder, or all in memory.
  const send = (...messages: Uint8Array[]) =>
    pglite.execProtocolStream(Buffer.concat([...messages, serialize.sync()]), { syncToFs: false })

  async function run<Row>(text: string, values: readonly unknown[]): Promise<Results<Row>> {
    if (performance.now() - plannedAt > PLANS_LAST_MS) {
      plannedAt = performance.now()
      await send(serialize.query('discard plans'))
    }
    const name = preparedName(text, values)
    const known = name !== undefined && prepared.has(name)
    const portal = [
      serialize.bind({ statement: name, values: values.map(utils.prepareValue) }),
      serialize.describe({ type: 'P' }),
      serialize.execute({}),
    ]
    try {
      const answer = await send(...(known ? [] : [serialize.parse({ name, text })]), ...portal)
      if (name !== undefined) prepared.add(name)
      return parse.parseResults(answer, pglite.parsers)[0] as Results<Row>
    } catch (error) {
      // It may have been prepared before it failed.
      if (name !== undefined && !known) await send(serialize.close({ type: 'S', name }))
      throw error
    }
  }

  return (text, values = []) => pglite._runExclusiveQuery(() => run(text, values))
}
