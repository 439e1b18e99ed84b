// What the provider's invoices of the last months come to: by tenant, or for a tenant by deployment.
import { api, ok } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import { may, seesAllTenants } from '../../session.tsx'
import { Empty, money, Plot, Section, Shown } from '../../ui/index.ts'
import { type Stack, stacksOf } from '../cost-groups.ts'

const MONTHS = 6
/** With what is nobody's and what is left: as many as there are colours. */
const TOP = 6

/** The first of the month some months ago. */
function monthsAgo(count: number): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count, 1)).toISOString().slice(0, 10)
}

/** As a plot has them. */
const plotOf = (
  { currency, periods, groups, estimatedFrom: from }: Stack,
  nameOf: (value: string | null) => string,
) => ({
  currency,
  times: periods,
  estimated: from === undefined ? undefined : { from, word: 'estimate' },
  series: groups.map(({ values: [value = null], others, amounts }) => ({
    name: others ? 'others' : nameOf(value),
    values: amounts,
  })),
})

export function Costs() {
  const whole = seesAllTenants()
  const allowed = may(whole ? 'listCosts' : 'listOwnCosts')
  const costs = useQuery(
    async signal => {
      const query = { from: monthsAgo(MONTHS), top: TOP, limit: 500 }
      if (whole) {
        const params = { query: { ...query, group_by: 'tenant' } }
        const { data } = await ok(api.GET('/api/v1/billing/costs', { params, signal }))
        return stacksOf(data, ['tenant']).map(stack => plotOf(stack, id => id ?? 'nobody’s'))
      }
      const params = { query: { ...query, group_by: 'deployment' } }
      const [{ data }, deployments] = await Promise.all([
        ok(api.GET('/api/v1/costs', { params, signal })),
        may('listDeployments')
          ? ok(api.GET('/api/v1/deployments', { params: { query: { limit: 500 } }, signal }))
          : { data: [] },
      ])
      const names = new Map(deployments.data.map(({ id, display_name }) => [id, display_name]))
      const nameOf = (id: string | null) => (id === null ? 'no deployment' : (names.get(id) ?? id))
      return stacksOf(data, ['deployment']).map(stack => plotOf(stack, nameOf))
    },
    [],
    { when: allowed },
  )
  if (!allowed) return null
  return (
    <Section title="Costs" actions={<Link href="/money">Money</Link>}>
      <Shown query={costs}>
        {plots =>
          plots.length === 0 ? (
            <Empty>No invoice is read yet. The task “billing_history” lists them every night.</Empty>
          ) : (
            plots.map(({ currency, times, series, estimated }) => (
              <Plot
                key={currency}
                label={`By ${whole ? 'tenant' : 'deployment'}, ${currency} a month`}
                as="stacked"
                times={times}
                series={series}
                estimated={estimated}
                format={value => money(value, currency)}
                formatTime={time => time.slice(0, 7)}
              />
            ))
          )
        }
      </Shown>
    </Section>
  )
}
