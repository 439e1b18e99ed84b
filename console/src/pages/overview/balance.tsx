// The provider's account this month: what was used, and what is owed.
import { api, ok } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import { may } from '../../session.tsx'
import { Empty, money, Plot, Section, Shown, Time } from '../../ui/index.ts'

/** From the month's first day on, in UTC; by hours while there are few days to draw. */
function thisMonth() {
  const today = new Date().toISOString().slice(0, 10)
  const granularity = Number(today.slice(8)) > 3 ? ('day' as const) : ('hour' as const)
  return { from: `${today.slice(0, 7)}-01`, granularity, limit: 500 }
}

export function Balance() {
  const query = thisMonth()
  const allowed = may('listBalances')
  const history = useQuery(
    signal => ok(api.GET('/api/v1/billing/balance/history', { params: { query }, signal })),
    [query],
    { when: allowed },
  )
  if (!allowed) return null
  return (
    <Section title="Balance this month" actions={<Link href="/money/balance">Earlier</Link>}>
      <Shown query={history}>
        {({ data }) => {
          const latest = data.at(-1)
          if (!latest)
            return <Empty>None is recorded yet. The task “balance” asks the provider every hour.</Empty>
          const price = (amount: string | number) => money(amount, latest.currency)
          return (
            <>
              <div class="cards">
                <div class="card">
                  <span class="quiet">Used this month</span>
                  <strong>{price(latest.month_to_date_usage)}</strong>
                </div>
                <div class="card">
                  <span class="quiet">Owed this month</span>
                  <strong>{price(latest.month_to_date_balance)}</strong>
                </div>
                <div class="card">
                  <span class="quiet">Account balance</span>
                  <strong>{price(latest.account_balance)}</strong>
                </div>
              </div>
              <p class="quiet">
                As of <Time at={latest.recorded_at} />
                {data.length === 1 && '. It is drawn from the second record on.'}
              </p>
              {data.length > 1 && (
                <Plot
                  label="Month to date"
                  times={data.map(({ recorded_at }) => recorded_at)}
                  series={[
                    { name: 'Used', values: data.map(row => Number(row.month_to_date_usage)) },
                    { name: 'Owed', values: data.map(row => Number(row.month_to_date_balance)) },
                  ]}
                  format={price}
                />
              )}
            </>
          )
        }}
      </Shown>
    </Section>
  )
}
