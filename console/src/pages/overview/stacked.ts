// Rows of costs, one for a month and whatever it is grouped by, as the series of a stacked plot. Pure.

export interface CostRow {
  period: string
  currency: string
  amount: string
  /** What it is grouped by; null: nobody's. */
  of: string | null
  /** The rest of the month, added up. */
  others?: boolean
}

interface Stack {
  currency: string
  times: string[]
  series: { name: string; values: number[] }[]
}

const OTHERS = 'others'

/** One for each currency. Who cost most stands first; the rest and what is nobody's last. */
export function stacked(rows: CostRow[], nameOf: (of: string | null) => string): Stack[] {
  return [...Map.groupBy(rows, ({ currency }) => currency)].map(([currency, own]) => {
    const times = [...new Set(own.map(({ period }) => period))].sort()
    const groups = Map.groupBy(own, ({ of, others }) => (others ? OTHERS : nameOf(of)))
    const series = [...groups].map(([name, parts]) => ({
      name,
      values: times.map(time => total(parts.filter(({ period }) => period === time))),
      rank: parts[0]!.others ? -1 : parts[0]!.of === null ? -2 : total(parts),
    }))
    return {
      currency,
      times,
      series: series.sort((a, b) => b.rank - a.rank).map(({ name, values }) => ({ name, values })),
    }
  })
}

const total = (rows: CostRow[]): number => rows.reduce((sum, { amount }) => sum + Number(amount), 0)
