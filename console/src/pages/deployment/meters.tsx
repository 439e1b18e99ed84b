// What usage events came to in a month: each meter against what is included, and what the rest costs.
import type { Schemas } from '../../api.ts'
import { Missing, moneyOfMinor, Table } from '../../ui/index.ts'
import { decimal } from '../statement-lines.tsx'
import { toneOf } from './measure.ts'

type Month = Schemas['Usage']
type Meter = Month['meters'][number]

/** What is included and capped counts in times the scale, what is used in units. */
const unitsOf = (times: number | string, { scale }: Meter): number => Number(times) * scale

const words = (count: number | string, unit: string): string =>
  `${decimal(String(count))} ${unit}${Number(count) === 1 ? '' : 's'}`

export function meterBar(meter: Meter) {
  const { meter: key, name, used: text, unit, cap } = meter
  const [used, included] = [Number(text), unitsOf(meter.included, meter)]
  const most = cap === null ? null : unitsOf(cap, meter)
  const limit = most === null ? '' : `, at most ${decimal(String(most))}`
  return {
    ...{ key, name, value: used },
    of: Math.max(most ?? 0, included, used, 1),
    mark: used > included || most !== null ? included : null,
    text: `${words(text, unit)}, ${decimal(String(included))} included${limit}`,
    tone: toneOf(used, included, most),
  }
}

const HOW: Record<string, string> = {
  sum: 'added up',
  max: 'the largest',
  last: 'the latest',
  unique: 'different ones',
}

const timesScale = ({ scale, unit }: Meter): string => (scale === 1 ? unit : words(scale, unit))

export const Meters = ({ meters, currency }: Pick<Month, 'meters' | 'currency'>) => (
  <Table
    label="Usage by meter"
    list={{ rows: meters }}
    id={({ meter }) => meter}
    empty=""
    columns={[
      { name: 'Meter', cell: ({ name }) => name },
      { name: 'Counted', cell: ({ aggregation }) => HOW[aggregation] ?? aggregation },
      { name: 'Used', number: true, cell: ({ used, unit }) => words(used, unit) },
      { name: 'Included', number: true, cell: meter => decimal(String(unitsOf(meter.included, meter))) },
      { name: 'Beyond', number: true, cell: meter => `${decimal(meter.overage_qty)} × ${timesScale(meter)}` },
      {
        name: 'Price',
        number: true,
        cell: meter =>
          meter.overage_price_cents === null ? (
            <Missing />
          ) : (
            `${moneyOfMinor(meter.overage_price_cents, currency)} for ${meter.scale === 1 ? 'one' : timesScale(meter)}`
          ),
      },
      { name: 'So far', number: true, cell: ({ overage_cents }) => moneyOfMinor(overage_cents, currency) },
      {
        name: 'Forecast',
        number: true,
        cell: ({ forecast_cents }) => moneyOfMinor(forecast_cents, currency),
      },
    ]}
  />
)
