// A month's costs added up: in all, unmatched, and by kind, tenant, deployment and project, each currency by itself.
// The database adds; this puts its rows in their places.

export interface Sums {
  lines: number
  /** Exact. */
  amount: string
  amount_minor: number
  net_minor: number
  tax_minor: number
}

/** Sums of one group of a currency's lines, or of all of them. */
export type SummaryRow = Sums & {
  currency: string
  part: 'all' | 'unmatched' | 'kind' | 'tenant' | 'deployment' | 'project'
  /** Null: the lines that have none. */
  name: string | null
}

const NOTHING: Sums = { lines: 0, amount: '0', amount_minor: 0, net_minor: 0, tax_minor: 0 }

/** Rows in the order they are to be shown in. */
export function summaryOf(rows: readonly SummaryRow[]) {
  const currencies = [...new Set(rows.map(row => row.currency))]
  return currencies.map(currency => {
    const sums = (part: SummaryRow['part']) =>
      rows
        .filter(row => row.currency === currency && row.part === part)
        .map(({ currency: _, part: __, ...rest }) => rest)
    const sum = (part: SummaryRow['part']): Sums => {
      const [{ name: _, ...found }] = [...sums(part), { name: null, ...NOTHING }] as const
      return found
    }
    return {
      currency,
      ...sum('all'),
      unmatched: sum('unmatched'),
      by_kind: sums('kind').map(({ name, ...rest }) => ({ kind: name!, ...rest })),
      by_tenant: sums('tenant').map(({ name, ...rest }) => ({ tenant_id: name, ...rest })),
      by_deployment: sums('deployment').map(({ name, ...rest }) => ({ deployment_id: name, ...rest })),
      by_project: sums('project').map(({ name, ...rest }) => ({ project_name: name, ...rest })),
    }
  })
}
