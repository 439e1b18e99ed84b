// A page of a list whose filters come and go: one prepared statement for each combination that is asked for.

import { runStatement } from './statement.ts'
import type { Executor } from './tables.ts'

/** What it is called, its condition up to the value (`d.state =`), and the value; without one it does not count. */
export type Filter = [name: string, condition: string, value: unknown]

export interface FilteredList {
  /** The statements' own name. */
  name: string
  /** Up to the conditions. */
  select: string
  filters: Filter[]
  order: string
  limit: number
}

export function filteredList<Row>(
  executor: Executor,
  { name, select, filters, order, limit }: FilteredList,
): Promise<Row[]> {
  const used = filters.filter(([, , value]) => value !== undefined && value !== null)
  const where = used.map(([, condition], index) => `${condition} $${index + 2}`)
  const conditions = where.length > 0 ? `where ${where.join(' and ')}` : ''
  const statement = {
    name: `${name}:${used.map(([filter]) => filter).join(',')}`,
    text: `${select} ${conditions} order by ${order} limit $1`,
  }
  return runStatement(executor, statement, [limit, ...used.map(([, , value]) => value)])
}
