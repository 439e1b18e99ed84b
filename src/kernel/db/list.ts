// One page of a list: its filters come and go, and it starts after the last row of the page before (keyset). Every filter
// that is asked for by itself has one prepared statement.
import { runStatement } from './statement.ts'
import type { Executor } from './tables.ts'

/** A condition with `?` for its value (`d.state = ?`), and the value; without one the filter is not asked for. */
export type Filter = readonly [condition: string, value: unknown]

export interface ListQuery {
  /** Of the prepared statements: those of one name differ in their filters alone. */
  name: string
  /** Everything up to the conditions. */
  select: string
  /** A condition that always holds. */
  where?: string
  /** By their names. */
  filters?: Record<string, Filter>
  /** The sort key; unique together, and a cursor holds exactly these. */
  orderBy: readonly string[]
  descending?: boolean
  /** The key of the last row of the page before. */
  after: readonly unknown[] | null
  limit: number
}

export function listPage<Row>(executor: Executor, query: ListQuery): Promise<Row[]> {
  const { name, select, where, filters = {}, orderBy, descending = false, after, limit } = query
  const values: unknown[] = [limit]
  const parameter = (value: unknown) => `$${values.push(value)}`
  const used = Object.entries(filters).filter(([, [, value]]) => value !== undefined && value !== null)
  const conditions = used.map(([, [condition, value]]) => condition.replace('?', () => parameter(value)))
  if (where !== undefined) conditions.unshift(where)
  if (after) {
    const [columns, key] = [orderBy.join(', '), after.map(parameter).join(', ')]
    conditions.push(
      orderBy.length === 1
        ? `${columns} ${descending ? '<' : '>'} ${key}`
        : `(${columns}) ${descending ? '<' : '>'} (${key})`,
    )
  }
  // Of two values one may be rare and the other common, and only a plan for these values can tell by whose index the way
  // is short: planned once for all, a list by a common value and one that nothing has would walk past a million rows.
  const plannedOnce = used.filter(([, [condition]]) => /[^<>]= ?\?/.test(condition)).length <= 1
  const variant = [...used.map(([filter]) => filter), ...(after ? ['after'] : [])].join()
  const text = [
    select,
    ...(conditions.length > 0 ? [`where ${conditions.join(' and ')}`] : []),
    `order by ${orderBy.map(column => (descending ? `${column} desc` : column)).join(', ')} limit $1`,
  ].join(' ')
  return runStatement(executor, { name: plannedOnce ? `${name}:${variant}` : '', text }, values)
}
