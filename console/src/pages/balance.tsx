// What is owed to the provider now, and how it came to that.
import { api, ok } from '../api.ts'
import { useQuery } from '../query.ts'
import { filter, filters } from '../router.tsx'
import {
  Empty,
  type FilterField,
  Filters,
  Money,
  money,
  Page,
  Plot,
  Section,
  Shown,
  Time,
} from '../ui/index.ts'

const FIELDS: FilterField[] = [
  { name: 'from', label: 'From', type: 'date' },
  { name: 'to', label: 'To', type: 'date' },
  {
    name: 'granularity',
    label: 'Points',
    options: [{ value: 'hour', text: 'all, hour by hour' }],
    any: 'the last of each day',
  },
]

/** The days that are shown unless others are asked for. */
const DAYS = 90

export default function BalancePage() {
  const balance = useQuery(signal => ok(api.GET('/api/v1/billing/balance', { signal })), [], {
    every: 60_000,
  })
  const query = {
    from: daysAgo(DAYS),
    ...filters('from', 'to'),
    granularity: filter('granularity') === 'hour' ? ('hour' as const) : ('day' as const),
    limit: 500,
  }
  const history = useQuery(
    signal => ok(api.GET('/api/v1/billing/balance/history', { params: { query }, signal })),
    [query],
    { every: 60_000 },
  )
  return (
    <Page title="Balance" operation="getBalance">
      <Shown query={balance}>
        {({ data }) =>
          data ? (
            <>
              <div class="cards">
                <Figure name="Usage of the month so far" amount={data.month_to_date_usage} {...data} />
                <Figure name="Account balance" amount={data.account_balance} {...data} />
                <Figure name="Owed in all" amount={data.month_to_date_balance} {...data} />
              </div>
              <p class="more quiet">
                <span>
                  Worked out by the provider <Time at={data.generated_at} />, asked for{' '}
                  <Time at={data.recorded_at} />.
                </span>
              </p>
            </>
          ) : (
            <Empty>The provider has not been asked yet. It is asked every hour, by the task balance.</Empty>
          )
        }
      </Shown>
      <Section title="Over time">
        <Filters fields={FIELDS} />
        <Shown query={history}>
          {({ data, next_cursor }) =>
            data.length === 0 ? (
              <Empty>Nothing was recorded in these days.</Empty>
            ) : (
              <>
                <Plot
                  label={`Balance, ${data[0]!.currency}`}
                  times={data.map(({ recorded_at }) => recorded_at)}
                  series={[
                    { name: 'Usage of the month', values: data.map(row => Number(row.month_to_date_usage)) },
                    { name: 'Account balance', values: data.map(row => Number(row.account_balance)) },
                  ]}
                  format={value => money(value, data[0]!.currency)}
                  formatTime={time => time.slice(0, query.granularity === 'day' ? 10 : 16).replace('T', ' ')}
                />
                {next_cursor && <p class="quiet">Only the first {data.length} points: choose fewer days.</p>}
              </>
            )
          }
        </Shown>
      </Section>
    </Page>
  )
}

const Figure = ({ name, amount, currency }: { name: string; amount: string; currency: string }) => (
  <div class="card">
    {name}
    <strong>
      <Money amount={amount} currency={currency} />
    </strong>
  </div>
)

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
