// Costs over months or days, as the API lists them, turned into what is stacked: one series for each group, each currency by
// itself. Pure.

/** Of the API's `Cost` as much as is stacked. */
interface Cost {
  period: string
  currency: string
  amount: string
  others?: boolean
  estimate?: boolean
  tenant_id?: string | null
  kind?: string | null
  deployment_id?: string | null
  project_name?: string | null
  tag?: string | null
}

/** The member of a row that says it, and the filter of cost lines that finds it. */
export const DIMENSIONS = {
  tenant: { member: 'tenant_id', name: 'Tenant', filter: 'tenant_id' },
  kind: { member: 'kind', name: 'Kind', filter: 'kind' },
  deployment: { member: 'deployment_id', name: 'Deployment', filter: 'deployment_id' },
  project: { member: 'project_name', name: 'Project', filter: undefined },
  tag: { member: 'tag', name: 'Tag', filter: undefined },
} as const
export type Dimension = keyof typeof DIMENSIONS

export type Granularity = 'month' | 'day'

export interface Group {
  /** Of the API, one for each dimension; null: nobody's, or all others. */
  values: (string | null)[]
  others: boolean
  /** One for each period. */
  amounts: number[]
  total: number
}

export interface Stack {
  currency: string
  /** First days of months, or days, without a gap. */
  periods: string[]
  /** The largest first; what is nobody's and the others at the end. */
  groups: Group[]
  total: number
  /** From which period on there is no invoice yet; undefined: of all there is one. */
  estimatedFrom?: number
}

export function stacksOf(
  rows: Cost[],
  dimensions: readonly Dimension[],
  granularity: Granularity = 'month',
): Stack[] {
  const periods = periodsOf(rows, granularity)
  return [...Map.groupBy(rows, ({ currency }) => currency)].map(([currency, ofCurrency]) => {
    const groups = new Map<string, Group>()
    for (const row of ofCurrency) {
      const values = dimensions.map(dimension => row[DIMENSIONS[dimension].member] ?? null)
      const others = row.others ?? false
      const key = JSON.stringify([values, others])
      const group = groups.get(key) ?? { values, others, amounts: periods.map(() => 0), total: 0 }
      groups.set(key, group)
      const amount = Number(row.amount)
      group.amounts[periods.indexOf(row.period)]! += amount
      group.total += amount
    }
    const isNobodys = ({ values }: Group) => values.length > 0 && values.every(value => value === null)
    const rank = (group: Group) => (group.others ? 2 : isNobodys(group) ? 1 : 0)
    const sorted = [...groups.values()].sort((a, b) => rank(a) - rank(b) || b.total - a.total)
    const estimates = ofCurrency.flatMap(row => (row.estimate ? [periods.indexOf(row.period)] : []))
    return {
      currency,
      periods,
      groups: sorted,
      total: sorted.reduce((sum, { total }) => sum + total, 0),
      ...(estimates.length > 0 && { estimatedFrom: Math.min(...estimates) }),
    }
  })
}

/** From the first to the last, also those without costs. */
function periodsOf(rows: Cost[], granularity: Granularity): string[] {
  const [first, last] = [rows[0]?.period, rows.at(-1)?.period].sort()
  const periods: string[] = []
  if (!first || !last) return periods
  for (const at = new Date(`${first}T00:00:00Z`); ; ) {
    const day = at.toISOString().slice(0, 10)
    if (day > last) return periods
    periods.push(day)
    if (granularity === 'month') at.setUTCMonth(at.getUTCMonth() + 1)
    else at.setUTCDate(at.getUTCDate() + 1)
  }
}
