// A page of a list whose filters come and go: one prepared statement for each filter that is asked for by itself.

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
  // Of two values one may be rare and the other common, and only who knows them can say by whose index the way is short:
  // planned once for all, a list by a common value and one that nothing has would walk past a million rows.
  const plannedOnce = used.filter(([, condition]) => /[^<>]=$/.test(condition)).length <= 1
  const statement = {
    name: plannedOnce ? `${name}:${used.map(([filter]) => filter).join(',')}` : '',
    text: `${select} ${conditions} order by ${order} limit $1`,
  }
  return runStatement(executor, statement, [limit, ...used.map(([, , value]) => value)])
}
