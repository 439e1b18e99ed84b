// A month's costs added up: in all, unmatched, and by kind, tenant, deployment and project, each currency by itself.
// The database adds; this puts its rows in their places.

/** How many of each list are shown: the largest. What is left over is one sum. */
export const SHOWN_GROUPS = 100

export interface Sums {
  lines: number
  /** Exact. */
  amount: string
  amount_minor: number
  net_minor: number
  tax_minor: number
}

type List = 'kind' | 'tenant' | 'deployment' | 'project'

/** Sums of one group of a currency's lines, or of all of them. */
export type SummaryRow = Sums & {
  currency: string
  part: 'all' | 'unmatched' | List
  /** Null: the lines that have none. */
  name: string | null
  /** In its list, from 1; behind the last that is shown come all the others together. */
  place: number
  /** How many groups the row is about. */
  groups: number
}

const NOTHING: Sums = { lines: 0, amount: '0', amount_minor: 0, net_minor: 0, tax_minor: 0 }

/** Rows in the order they are to be shown in. */
export function summaryOf(rows: readonly SummaryRow[]) {
  const currencies = [...new Set(rows.map(row => row.currency))]
  return currencies.map(currency => {
    const rowsOf = (part: SummaryRow['part']) =>
      rows.filter(row => row.currency === currency && row.part === part)
    const sum = (part: SummaryRow['part']): Sums => sumsOf(rowsOf(part)[0] ?? NOTHING)
    const shown = (list: List) => rowsOf(list).filter(row => row.place <= SHOWN_GROUPS)
    const others = (list: List) => {
      const left = rowsOf(list).find(row => row.place > SHOWN_GROUPS)
      return left ? { groups: left.groups, ...sumsOf(left) } : null
    }
    return {
      currency,
      ...sum('all'),
      unmatched: sum('unmatched'),
      by_kind: shown('kind').map(row => ({ kind: row.name!, ...sumsOf(row) })),
      by_tenant: shown('tenant').map(row => ({ tenant_id: row.name, ...sumsOf(row) })),
      by_deployment: shown('deployment').map(row => ({ deployment_id: row.name, ...sumsOf(row) })),
      by_project: shown('project').map(row => ({ project_name: row.name, ...sumsOf(row) })),
      others: {
        by_kind: others('kind'),
        by_tenant: others('tenant'),
        by_deployment: others('deployment'),
        by_project: others('project'),
      },
    }
  })
}

const sumsOf = ({ lines, amount, amount_minor, net_minor, tax_minor }: Sums): Sums => ({
  lines,
  amount,
  amount_minor,
  net_minor,
  tax_minor,
})
