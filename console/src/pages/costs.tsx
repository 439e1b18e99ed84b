// What the provider's invoices add up to, month by month, stacked by whose or what it was.
import { api, ok, type Schemas } from '../api.ts'
import { useQuery } from '../query.ts'
import { filter, filters, Link } from '../router.tsx'
import { may } from '../session.tsx'
import { Download, Empty, type FilterField, Filters, money, Page, Plot, Shown, Table } from '../ui/index.ts'
import { DIMENSIONS, type Dimension, type Group, type Stack, stacksOf } from './cost-groups.ts'
import { monthFilter, wholePlatform } from './money.ts'

/** With what is nobody's and the others: as many as a plot has colours. */
const TOP = 6

export default function Costs() {
  const whole = wholePlatform()
  const dimension = dimensionOf(filter('group_by'), whole)
  const query = {
    ...filters('tenant_id', 'deployment_id', 'kind'),
    from: monthFilter('from'),
    to: monthFilter('to'),
    group_by: dimension,
  }
  const costs = useQuery(
    async signal => {
      const stacks = stacksOf(await everyPage(query, whole, signal), dimension)
      return { stacks, names: await namesOf(stacks, dimension, signal) }
    },
    [query],
  )
  const path = whole ? '/api/v1/billing/costs' : '/api/v1/costs'
  return (
    <Page
      title="Costs"
      operation={whole ? 'listCosts' : 'listOwnCosts'}
      actions={
        <Download path={path} query={{ ...query, format: 'csv' }}>
          Download CSV
        </Download>
      }
    >
      <Filters fields={fields(whole)} />
      <Shown query={costs}>
        {({ stacks, names }) =>
          stacks.length === 0 ? (
            <Empty>No costs in these months. They come with the provider’s invoices.</Empty>
          ) : (
            stacks.map(stack => <Months key={stack.currency} {...{ stack, dimension, names }} />)
          )
        }
      </Shown>
    </Page>
  )
}

const dimensionOf = (asked: string | undefined, whole: boolean): Dimension =>
  asked && asked in DIMENSIONS ? (asked as Dimension) : whole ? 'tenant' : 'kind'

const fields = (whole: boolean): FilterField[] => [
  {
    name: 'group_by',
    label: 'Stacked by',
    options: whole ? ['kind', 'deployment', 'project'] : ['deployment'],
    any: whole ? 'tenant' : 'kind',
  },
  { name: 'from', label: 'From', type: 'month' },
  { name: 'to', label: 'To', type: 'month' },
  ...(whole ? [{ name: 'tenant_id', label: 'Tenant', search: true }] : []),
  { name: 'deployment_id', label: 'Deployment' },
  { name: 'kind', label: 'Kind' },
]

/** One page is enough for five years. */
async function everyPage(query: object, whole: boolean, signal: AbortSignal): Promise<Schemas['Cost'][]> {
  const rows: Schemas['Cost'][] = []
  let cursor: string | undefined
  do {
    const options = { params: { query: { ...query, top: TOP, limit: 500, cursor } }, signal }
    const page = await ok(
      whole ? api.GET('/api/v1/billing/costs', options) : api.GET('/api/v1/costs', options),
    )
    rows.push(...page.data)
    cursor = page.next_cursor ?? undefined
  } while (cursor)
  return rows
}

/** Lines know their deployment's id alone. */
async function namesOf(
  stacks: Stack[],
  dimension: Dimension,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  if (dimension !== 'deployment' || !may('getDeployment')) return {}
  const ids = new Set(stacks.flatMap(({ groups }) => groups.flatMap(({ value }) => value ?? [])))
  const named = [...ids].map(async id => {
    const { data } = await ok(api.GET('/api/v1/deployments/{id}', { params: { path: { id } }, signal }))
    return [id, data.slug]
  })
  return Object.fromEntries(await Promise.all(named))
}

interface MonthsProps {
  stack: Stack
  dimension: Dimension
  names: Record<string, string>
}

function Months({ stack: { currency, months, groups, total }, dimension, names }: MonthsProps) {
  const { name, filter: asFilter } = DIMENSIONS[dimension]
  const nameOf = ({ value, others }: Group) =>
    others ? 'All others' : value === null ? 'Nobody’s' : (names[value] ?? value.replaceAll('_', ' '))
  const linkTo = ({ value }: Group) =>
    asFilter && value !== null ? `/money/lines?${new URLSearchParams({ [asFilter]: value })}` : undefined
  const last = months.at(-1)!.slice(0, 7)
  return (
    <div class="columns">
      <Plot
        label={`Costs by ${dimension}, ${currency}`}
        as="stacked"
        times={months}
        series={groups.map(group => ({ name: nameOf(group), values: group.amounts }))}
        format={value => money(value, currency)}
        formatTime={month => month.slice(0, 7)}
      />
      <div>
        <Table
          label={`Costs by ${dimension} in all, ${currency}`}
          list={{ rows: groups }}
          id={group => JSON.stringify([group.value, group.others])}
          empty="None."
          columns={[
            {
              name,
              cell: group => {
                const href = linkTo(group)
                return href ? <Link href={href}>{nameOf(group)}</Link> : nameOf(group)
              },
            },
            { name: last, number: true, cell: ({ amounts }) => money(amounts.at(-1)!, currency) },
            {
              name: `All ${months.length} months`,
              number: true,
              cell: group => money(group.total, currency),
            },
            {
              name: 'Share',
              number: true,
              cell: group => (total > 0 ? `${((group.total / total) * 100).toFixed(1)} %` : '–'),
            },
          ]}
        />
        <p class="more">In all {money(total, currency)}, taxes and credits included.</p>
      </div>
    </div>
  )
}
