// A budget's month as a bar: what it has come to, what it may end with, and a mark for each threshold. The words beside it say
// the same.
import type { Schemas } from '../../api.ts'
import { Link, to } from '../../router.tsx'
import { Missing, moneyOfMinor, type Tone } from '../../ui/index.ts'
import '../../style/budgets.css'

export type Budget = Schemas['Budget']
type Threshold = Budget['thresholds'][number]

export const isReached = ({ reached_at }: Threshold): boolean => reached_at !== null

export const thresholdText = ({ percent, on }: Pick<Threshold, 'percent' | 'on'>): string =>
  `${percent} % ${on}`

const toneOf = ({ actual_minor, forecast_minor, amount_minor }: Budget): Tone => {
  if ((actual_minor ?? 0) >= amount_minor) return 'bad'
  return (forecast_minor ?? 0) >= amount_minor ? 'busy' : 'good'
}

export function BudgetBar({ budget }: { budget: Budget }) {
  const { amount_minor, actual_minor, forecast_minor, thresholds } = budget
  const atPercent = (percent: number) => (amount_minor * percent) / 100
  const marks = thresholds.map(({ percent }) => atPercent(percent))
  const end = Math.max(amount_minor, actual_minor ?? 0, forecast_minor ?? 0, ...marks)
  const part = (amount: number) => `${((Math.max(0, amount) / end) * 100).toFixed(2)}%`
  const tone = toneOf(budget)
  return (
    <span class={`budget-bar ${tone}`} aria-hidden="true">
      {forecast_minor !== null && <span class="foreseen" style={{ width: part(forecast_minor) }} />}
      {actual_minor !== null && <span class="spent" style={{ width: part(actual_minor) }} />}
      {thresholds.map(threshold => (
        <span
          key={thresholdText(threshold)}
          class={`mark ${threshold.on}`}
          style={{ insetInlineStart: `calc(${part(atPercent(threshold.percent))} - 2px)` }}
        />
      ))}
    </span>
  )
}

/** An amount of the budget's month; it may not be known yet. */
export const Amount = ({ minor, currency }: { minor: number | null; currency: string }) =>
  minor === null ? <Missing /> : moneyOfMinor(minor, currency)

/** Whose the budget is. */
export function Whose({ tenant_id, deployment_id }: Pick<Budget, 'tenant_id' | 'deployment_id'>) {
  if (deployment_id !== null) return <Link href={to`/deployments/${deployment_id}`}>one deployment</Link>
  return tenant_id ?? 'the whole account'
}
