// What a test knows of an exported book, and ways to hold a FOCUS file against it.
import type { CostLineRow } from '../../src/features/billing/cost-line.ts'
import type { InvoiceRow } from '../../src/features/billing/invoice.ts'
import type { Cells, Meaning } from './focus-rules.ts'

/** A resource as it was when its line ended. */
export interface KnownResource {
  id: string
  name: string
  region: string | null
  tags: string[]
}

/** What is true of a row, whatever the file says. */
export interface Fact {
  line: CostLineRow
  invoice: InvoiceRow
  resource: KnownResource | null
  /** What a droplet's size has, and costs by list. */
  size: { slug: string; hourly: string; monthly: string; cores: number; memory: number; disk: number } | null
}

export interface Facts {
  account: { id: string; name: string }
  /** By the id of the line. */
  of: ReadonlyMap<string, Fact>
}

export type OfRow = (row: Cells, fact: Fact) => boolean

/** Ways to say what holds in every row of a file. */
export function checksOf({ of }: Facts) {
  const each =
    (test: OfRow): Meaning =>
    ({ rows }) => {
      const bad = rows.find(row => !test(row, of.get(row.x_CostLineId!)!))
      return bad && JSON.stringify(bad)
    }
  const cells = (columns: readonly string[], test: (text: string) => boolean): Meaning =>
    each(row =>
      columns.every(column => row[column] === null || row[column] === undefined || test(row[column])),
    )
  /** Whatever has the one has the same other. */
  const oneFor =
    (key: (row: Cells, fact: Fact) => string | null, value: (row: Cells) => string | null): Meaning =>
    ({ rows }) => {
      const seen = new Map<string, string | null>()
      for (const row of rows) {
        const of_ = key(row, of.get(row.x_CostLineId!)!)
        if (of_ === null) continue
        if (seen.has(of_) && seen.get(of_) !== value(row)) return `${of_} has two: ${JSON.stringify(row)}`
        seen.set(of_, value(row))
      }
      return undefined
    }
  return { each, cells, oneFor }
}
