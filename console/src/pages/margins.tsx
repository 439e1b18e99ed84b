// What is left of each deployment, or each tenant: what it is charged less what the provider takes for it.
import { useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../api.ts'
import { useList } from '../query.ts'
import { filter, filters, Link, to } from '../router.tsx'
import { type Column, type FilterField, Filters, Missing, Page, Table } from '../ui/index.ts'
import { moneyOfMinor } from '../ui/minor.ts'

type Margin = Schemas['Margin']
type Amount = { currency: string; amount_minor: number }

const FIELDS: FilterField[] = [
  { name: 'period', label: 'Month', type: 'month' },
  { name: 'by', label: 'Of each', options: ['tenant'], any: 'deployment' },
  { name: 'tenant_id', label: 'Tenant', search: true },
]

/** Each currency by itself. */
const Amounts = ({ amounts }: { amounts: Amount[] }) =>
  amounts.length === 0 ? (
    <Missing />
  ) : (
    amounts.map(({ currency, amount_minor }) => moneyOfMinor(amount_minor, currency)).join(' + ')
  )

const columns = (byTenant: boolean): (Column<Margin> | false)[] => [
  !byTenant && {
    name: 'Deployment',
    cell: ({ deployment_id, slug }) =>
      deployment_id ? (
        <Link href={to`/deployments/${deployment_id}`}>{slug ?? deployment_id}</Link>
      ) : (
        <Missing />
      ),
  },
  { name: 'Tenant', cell: ({ tenant_id }) => tenant_id },
  byTenant && { name: 'Deployments', number: true, cell: ({ deployments }) => deployments },
  { name: 'Charged', number: true, cell: ({ charged }) => <Amounts amounts={charged} /> },
  { name: 'Costs', number: true, cell: ({ costs }) => <Amounts amounts={costs} /> },
  {
    name: 'Margin',
    number: true,
    cell: ({ margin }) =>
      margin ? (
        <span class={margin.amount_minor < 0 ? 'bad' : undefined}>
          {moneyOfMinor(margin.amount_minor, margin.currency)}
        </span>
      ) : (
        <Missing />
      ),
  },
  {
    name: 'Of the charge',
    number: true,
    cell: ({ margin }) => (margin?.percent ? `${margin.percent} %` : <Missing />),
  },
]

export default function Margins() {
  const query = filters('period', 'by', 'tenant_id', 'deployment_id')
  const [about, setAbout] = useState<{ period: string; unassigned: Amount[] | null }>()
  const list = useList(
    async (cursor, signal) => {
      const page = await ok(
        api.GET('/api/v1/billing/margins', { params: { query: { ...query, cursor } }, signal }),
      )
      if (!cursor) setAbout(page)
      return page
    },
    [query],
  )
  return (
    <Page title="Margins" operation="listMargins">
      <Filters fields={FIELDS} />
      {about && !list.problem && (
        <p class="above">
          Charges and costs of {about.period}.
          {about.unassigned && about.unassigned.length > 0 && (
            <>
              {' '}
              <Link href={to`/money/unmatched?period=${about.period}`}>Tied to nobody</Link> are costs of{' '}
              <Amounts amounts={about.unassigned} />.
            </>
          )}
        </p>
      )}
      <Table
        label="Margins"
        list={list}
        columns={columns(filter('by') === 'tenant')}
        id={({ tenant_id, deployment_id }) => deployment_id ?? tenant_id}
        empty="Nobody has a deployment that is charged or costs anything in this month."
      />
    </Page>
  )
}
