// What the provider's invoices of the last months come to: by tenant, or for a tenant by deployment.
import { api, ok } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import { may, seesAllTenants } from '../../session.tsx'
import { Empty, money, Plot, Section, Shown } from '../../ui/index.ts'
import { type CostRow, stacked } from './stacked.ts'

const MONTHS = 6
/** With what is nobody's and what is left: as many as there are colours. */
const TOP = 6

/** The first of the month some months ago. */
function monthsAgo(count: number): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count, 1)).toISOString().slice(0, 10)
}

export function Costs() {
  const whole = seesAllTenants()
  const allowed = may(whole ? 'listCosts' : 'listOwnCosts')
  const costs = useQuery(
    async signal => {
      const query = { from: monthsAgo(MONTHS), top: TOP, limit: 500 }
      if (whole) {
        const params = { query: { ...query, group_by: 'tenant' } }
        const { data } = await ok(api.GET('/api/v1/billing/costs', { params, signal }))
        return stacked(
          data.map(row => ({ ...row, of: row.tenant_id }) as CostRow),
          id => id ?? 'nobody’s',
        )
      }
      const params = { query: { ...query, group_by: 'deployment' } }
      const [{ data }, deployments] = await Promise.all([
        ok(api.GET('/api/v1/costs', { params, signal })),
        may('listDeployments')
          ? ok(api.GET('/api/v1/deployments', { params: { query: { limit: 500 } }, signal }))
          : { data: [] },
      ])
      const names = new Map(deployments.data.map(({ id, display_name }) => [id, display_name]))
      return stacked(
        data.map(row => ({ ...row, of: row.deployment_id }) as CostRow),
        id => (id === null ? 'no deployment' : (names.get(id) ?? id)),
      )
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
            plots.map(({ currency, times, series }) => (
              <Plot
                key={currency}
                label={`By ${whole ? 'tenant' : 'deployment'}, ${currency} a month`}
                as="stacked"
                times={times}
                series={series}
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
