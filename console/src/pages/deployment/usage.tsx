// A month's usage: what lives against what is included and the cap, what that costs so far, and what it comes to.
import { api, ok, type Schemas } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { filters } from '../../router.tsx'
import { may } from '../../session.tsx'
import { Bars, Empty, Filters, Missing, moneyOfMinor, Section, Shown, Table, Time } from '../../ui/index.ts'
import { short, toneOf } from './measure.ts'
import { Meters, meterBar } from './meters.tsx'
import { MonthByDay } from './month-by-day.tsx'

type Month = Schemas['Usage']
type Kind = Month['kinds'][number]

/** Asked again when the subscription is another. */
export function Usage({ id, subscription }: { id: string; subscription: unknown }) {
  const query = filters('period')
  const usage = useQuery(
    signal => ok(api.GET('/api/v1/deployments/{id}/usage', { params: { path: { id }, query }, signal })),
    [id, query],
    { when: may('getUsage'), again: subscription },
  )
  if (!may('getUsage')) return null
  return (
    <Section title="Usage" actions={<Filters fields={[{ name: 'period', label: 'Month', type: 'month' }]} />}>
      <Shown query={usage}>
        {({ data }) => (
          <>
            <Sums {...data} />
            <MonthByDay id={id} usage={data} />
            {data.kinds.length + data.meters.length === 0 ? (
              <Empty>Nothing lived or was used in this month, and no plan includes anything.</Empty>
            ) : (
              <Bars
                label="Used, included and cap"
                bars={[...data.kinds.map(kind => barOf(kind, hoursIn(data))), ...data.meters.map(meterBar)]}
              />
            )}
            {data.kinds.length > 0 && <Kinds {...data} />}
            {data.meters.length > 0 && <Meters {...data} />}
          </>
        )}
      </Shown>
    </Section>
  )
}

function Sums({ period, currency, base_price_cents, addons, metered_until, ...sum }: Month) {
  const price = (cents: number) => moneyOfMinor(cents, currency)
  const added = addons.reduce((all, { amount_cents }) => all + amount_cents, 0)
  const sums = [
    ['Base price of the month', base_price_cents],
    ['Addons of the month', added],
    ['With usage so far', sum.total_cents],
    ['Forecast for the month', sum.forecast_cents],
  ] as const
  return (
    <>
      <div class="cards">
        {sums.map(([name, cents]) => (
          <div key={name} class="card">
            <span class="quiet">{name}</span>
            <strong>{price(cents)}</strong>
          </div>
        ))}
      </div>
      <p class="quiet">
        {period}:{' '}
        {metered_until ? (
          <>
            metered until <Time at={metered_until} />
          </>
        ) : (
          'not metered yet'
        )}
      </p>
    </>
  )
}

const hoursIn = ({ period_start, period_end }: Month): number =>
  (Date.parse(period_end) - Date.parse(period_start)) / 3_600_000 + 24

/** In the current month what lives counts; of one that is over the hours. */
function barOf({ kind, live, used, included, cap }: Kind, hours: number) {
  const limit = cap === null ? '' : `, at most ${cap}`
  const bar = { key: kind, name: kind.replaceAll('_', ' ') }
  if (live !== null)
    return {
      ...bar,
      value: live,
      of: cap ?? Math.max(included, live, 1),
      mark: cap === null && live <= included ? null : included,
      text: `${live} live, ${included} included${limit}`,
      tone: toneOf(live, included, cap),
    }
  const free = included * hours
  return {
    ...bar,
    value: Number(used),
    of: Math.max(free, Number(used), 1),
    mark: Number(used) > free ? free : null,
    text: `${short(used)} h used, ${included} included${limit}`,
    tone: toneOf(Number(used), free, null),
  }
}

const Kinds = ({ kinds, currency }: Month) => (
  <Table
    label="Usage by kind"
    list={{ rows: kinds }}
    id={({ kind }) => kind}
    empty=""
    columns={[
      { name: 'Kind', cell: ({ kind }) => kind.replaceAll('_', ' ') },
      { name: 'Hours used', number: true, cell: ({ used }) => short(used) },
      { name: 'Included', number: true, cell: ({ included }) => included },
      {
        name: 'Beyond',
        number: true,
        cell: ({ overage_qty, overage_unit }) =>
          overage_qty === null || overage_unit === null ? (
            <Missing />
          ) : (
            `${short(overage_qty)} ${overage_unit}${short(overage_qty) === '1' ? '' : 's'}`
          ),
      },
      {
        name: 'Price',
        number: true,
        cell: ({ overage_price_cents: price, overage_unit }) =>
          price === null ? <Missing /> : `${moneyOfMinor(price, currency)} a ${overage_unit}`,
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
