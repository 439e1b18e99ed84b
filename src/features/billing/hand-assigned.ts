// What operators assigned lines of an invoice to, found again in a new set of its lines: a line is the same when it says
// the same and is as many lines down among those that do. Pure.
import { type Identity, lineKey } from './line-key.ts'
import type { LineAssignmentRow } from './tables.ts'

export type Assignment = Pick<LineAssignmentRow, 'resource_id' | 'deployment_id' | 'tenant_id'>

/** To be asked for every line of the file, in its order. */
export type HandAssigned = (line: Identity) => Assignment | undefined

export function handAssigned(rows: LineAssignmentRow[]): HandAssigned {
  // Most invoices have none, and none of their lines then needs a key.
  if (rows.length === 0) return () => undefined
  const assignments = new Map(rows.map(row => [`${row.line_key}:${row.occurrence}`, row]))
  // Only keys that were assigned are counted: what is remembered does not grow with the file.
  const seen = new Map(rows.map(row => [row.line_key, 0]))
  return line => {
    const key = lineKey(line)
    const before = seen.get(key)
    if (before === undefined) return undefined
    seen.set(key, before + 1)
    return assignments.get(`${key}:${before + 1}`)
  }
}
