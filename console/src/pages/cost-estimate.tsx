// What the running month has cost so far and will have cost, before there is an invoice; and how far the last guess was off.
import { api, ok, type Schemas } from '../api.ts'
import { useQuery } from '../query.ts'
import { may } from '../session.tsx'
import { moneyOfMinor, Time } from '../ui/index.ts'
import { wholePlatform } from './money.ts'

/** Nothing where nothing is estimated yet, and where it cannot be read: the costs beside it say why. */
export function CostEstimate() {
  const whole = wholePlatform()
  const estimate = useQuery(
    signal =>
      ok(
        whole
          ? api.GET('/api/v1/billing/costs/estimate', { signal })
          : api.GET('/api/v1/costs/estimate', { signal }),
      ),
    [whole],
    { when: may(whole ? 'getCostEstimate' : 'getOwnCostEstimate'), every: 60_000 },
  )
  const found = estimate.data?.data
  return found ? <Figures {...found} /> : null
}

function Figures({ period, as_of, currency, amount_minor, month_minor, previous }: Schemas['CostEstimate']) {
  const month = period.slice(0, 7)
  return (
    <>
      <div class="cards">
        <Figure name={`${month} so far, an estimate`} value={moneyOfMinor(amount_minor, currency)} />
        <Figure name={`${month} in all, expected`} value={moneyOfMinor(month_minor, currency)} />
        {/* Where nothing was expected, nothing was known yet. */}
        {previous && previous.month_minor !== 0 && <Previous {...previous} />}
      </div>
      <p class="more above quiet">
        <span>
          Counted until <Time at={as_of} />.
        </span>
      </p>
    </>
  )
}

function Previous(previous: NonNullable<Schemas['CostEstimate']['previous']>) {
  const { period, month_minor, off_minor, off_percent, currency } = previous
  const month = period.slice(0, 7)
  if (off_minor === null)
    return (
      <Figure name={`${month}, expected before its invoice`} value={moneyOfMinor(month_minor, currency)} />
    )
  const percent = off_percent === null ? '' : ` (${off_percent} %)`
  return (
    <Figure
      name={`${month} was expected at ${moneyOfMinor(month_minor, currency)}, off by`}
      value={`${moneyOfMinor(off_minor, currency)}${percent}`}
    />
  )
}

const Figure = ({ name, value }: { name: string; value: string }) => (
  <div class="card">
    <span class="quiet">{name}</span>
    <strong>{value}</strong>
  </div>
)
