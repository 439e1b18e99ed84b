// Costs over months, as the API lists them, turned into what is stacked: one series for each group, each currency by itself.
// Pure.

/** Of the API's `Cost` as much as is stacked. */
interface Cost {
  period: string
  currency: string
  amount: string
  others?: boolean
  tenant_id?: string | null
  kind?: string | null
  deployment_id?: string | null
  project_name?: string | null
}

export const DIMENSIONS = {
  tenant: { member: 'tenant_id', name: 'Tenant', filter: 'tenant_id' },
  kind: { member: 'kind', name: 'Kind', filter: 'kind' },
  deployment: { member: 'deployment_id', name: 'Deployment', filter: 'deployment_id' },
  project: { member: 'project_name', name: 'Project', filter: undefined },
} as const
export type Dimension = keyof typeof DIMENSIONS

export interface Group {
  /** Of the API; null: nobody's, or all others. */
  value: string | null
  others: boolean
  /** One for each month. */
  amounts: number[]
  total: number
}

export interface Stack {
  currency: string
  /** First days, without a gap. */
  months: string[]
  /** The largest first; what is nobody's and the others at the end. */
  groups: Group[]
  total: number
}

export function stacksOf(rows: Cost[], dimension: Dimension): Stack[] {
  const months = monthsOf(rows)
  return [...Map.groupBy(rows, ({ currency }) => currency)].map(([currency, ofCurrency]) => {
    const groups = new Map<string, Group>()
    for (const row of ofCurrency) {
      const value = row[DIMENSIONS[dimension].member] ?? null
      const others = row.others ?? false
      const key = JSON.stringify([value, others])
      const group = groups.get(key) ?? { value, others, amounts: months.map(() => 0), total: 0 }
      groups.set(key, group)
      const amount = Number(row.amount)
      group.amounts[months.indexOf(row.period)]! += amount
      group.total += amount
    }
    const rank = ({ value, others }: Group) => (others ? 2 : value === null ? 1 : 0)
    const sorted = [...groups.values()].sort((a, b) => rank(a) - rank(b) || b.total - a.total)
    return { currency, months, groups: sorted, total: sorted.reduce((sum, { total }) => sum + total, 0) }
  })
}

/** From the first to the last, also those without costs. */
function monthsOf(rows: Cost[]): string[] {
  const [first, last] = [rows[0]?.period, rows.at(-1)?.period].sort()
  const months: string[] = []
  if (!first || !last) return months
  for (const month = new Date(`${first}T00:00:00Z`); ; month.setUTCMonth(month.getUTCMonth() + 1)) {
    const day = month.toISOString().slice(0, 10)
    if (day > last) return months
    months.push(day)
  }
}
