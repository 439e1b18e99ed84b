// A month as it builds up: what it has come to by the end of each day, and what it may come to.
import { api, ok, type Schemas } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { may } from '../../session.tsx'
import { decimalOfMinor, money, Plot, Shown } from '../../ui/index.ts'

type Day = Schemas['UsageByDay']['days'][number]

const PARTS = [
  ['Base price', 'base_cents'],
  ['Addons', 'addons_cents'],
  ['Resources beyond', 'overage_cents'],
  ['Meters beyond', 'meters_cents'],
] as const satisfies [string, keyof Day][]

/** Read anew with the usage beside it. */
export function MonthByDay({ id, usage }: { id: string; usage: Schemas['Usage'] }) {
  const { period, total_cents, forecast_cents } = usage
  const days = useQuery(
    signal =>
      ok(
        api.GET('/api/v1/deployments/{id}/usage/days', {
          params: { path: { id }, query: { period } },
          signal,
        }),
      ),
    [id, period],
    { when: may('getUsageByDay'), again: [total_cents, forecast_cents] },
  )
  if (!may('getUsageByDay')) return null
  return (
    <Shown query={days}>
      {({ data: { currency, days } }) =>
        // Nothing to draw: the figures above say it.
        days.every(({ total_cents }) => total_cents === 0) ? null : (
          <Plot
            label={`${period} as it builds up, ${currency}`}
            as="stacked"
            times={days.map(({ day }) => day)}
            series={PARTS.filter(([, part]) => days.some(day => day[part] !== 0)).map(([name, part]) => ({
              name,
              values: days.map(day => Number(decimalOfMinor(day[part], currency))),
            }))}
            format={value => money(value, currency)}
            formatTime={day => day.slice(8)}
            estimated={forecastOf(days)}
          />
        )
      }
    </Shown>
  )
}

function forecastOf(days: Day[]) {
  const from = days.findIndex(({ forecast }) => forecast)
  return from < 0 ? undefined : { from, word: 'forecast' }
}
