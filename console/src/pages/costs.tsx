// What the provider's invoices add up to, by month or day, stacked by whose or what it was; months without an invoice yet as
// estimates.
import { api, ok, type Schemas } from '../api.ts'
import { useQuery } from '../query.ts'
import { filter, filters, Link } from '../router.tsx'
import { may } from '../session.tsx'
import {
  type Column,
  Download,
  Empty,
  type FilterField,
  Filters,
  money,
  Page,
  Plot,
  Shown,
  Table,
} from '../ui/index.ts'
import { CostEstimate } from './cost-estimate.tsx'
import {
  DIMENSIONS,
  type Dimension,
  type Granularity,
  type Group,
  type Stack,
  stacksOf,
} from './cost-groups.ts'
import { dayFilter, monthFilter, wholePlatform } from './money.ts'

/** With what is nobody's and the others: as many as a plot has colours. */
const TOP = 6

export default function Costs() {
  const whole = wholePlatform()
  const dimensions = dimensionsOf(whole)
  const granularity: Granularity = filter('granularity') === 'day' ? 'day' : 'month'
  const query = {
    ...filters('tenant_id', 'deployment_id', 'kind'),
    ...(dimensions.includes('tag') && filters('tag_key')),
    ...(granularity === 'day'
      ? { from: dayFilter('from'), to: dayFilter('to'), granularity }
      : { from: monthFilter('from'), to: monthFilter('to') }),
    group_by: dimensions.join(),
  }
  const costs = useQuery(
    async signal => {
      const stacks = stacksOf(await everyPage(query, whole, signal), dimensions, granularity)
      return { stacks, names: await namesOf(stacks, dimensions, signal) }
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
      <CostEstimate />
      <Filters fields={fields(whole, dimensions, granularity)} />
      <Shown query={costs}>
        {({ stacks, names }) =>
          stacks.length === 0 ? (
            <Empty>No costs in these {granularity}s. They come with the provider’s invoices.</Empty>
          ) : (
            stacks.map(stack => (
              <Periods key={stack.currency} {...{ stack, dimensions, granularity, names }} />
            ))
          )
        }
      </Shown>
    </Page>
  )
}

const offered = (whole: boolean): Dimension[] =>
  whole ? ['tenant', 'kind', 'deployment', 'project', 'tag'] : ['kind', 'deployment', 'tag']

/** Those of the address that there are; else the first. */
function dimensionsOf(whole: boolean): Dimension[] {
  const [usual, ...others] = offered(whole)
  const asked = [filter('group_by') ?? usual!, filter('and_by') ?? ''].flatMap(names => names.split(','))
  const known = [...new Set(asked)].filter(name => [usual, ...others].includes(name as Dimension))
  return (known.length > 0 ? known : [usual!]) as Dimension[]
}

function fields(whole: boolean, dimensions: Dimension[], granularity: Granularity): FilterField[] {
  const [usual, ...others] = offered(whole)
  const type = granularity === 'day' ? 'date' : 'month'
  return [
    { name: 'group_by', label: 'Stacked by', options: others, any: usual! },
    {
      name: 'and_by',
      label: 'And by',
      options: offered(whole).filter(name => name !== dimensions[0]),
      any: 'nothing else',
    },
    ...(dimensions.includes('tag') ? [{ name: 'tag_key', label: 'Key of the tags' }] : []),
    { name: 'granularity', label: 'Each', options: ['day'], any: 'month' },
    { name: 'from', label: 'From', type },
    { name: 'to', label: 'To', type },
    ...(whole ? [{ name: 'tenant_id', label: 'Tenant', search: true }] : []),
    { name: 'deployment_id', label: 'Deployment' },
    { name: 'kind', label: 'Kind' },
  ]
}

/** One page is enough for five years, or two months of days. */
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
  dimensions: Dimension[],
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const place = dimensions.indexOf('deployment')
  if (place < 0 || !may('getDeployment')) return {}
  const ids = new Set(stacks.flatMap(({ groups }) => groups.flatMap(({ values }) => values[place] ?? [])))
  const named = [...ids].map(async id => {
    const { data } = await ok(api.GET('/api/v1/deployments/{id}', { params: { path: { id } }, signal }))
    return [id, data.slug]
  })
  return Object.fromEntries(await Promise.all(named))
}

interface PeriodsProps {
  stack: Stack
  dimensions: Dimension[]
  granularity: Granularity
  names: Record<string, string>
}

function Periods({ stack, dimensions, granularity, names }: PeriodsProps) {
  const { currency, periods, groups, total, estimatedFrom } = stack
  const by = dimensions.join(' and ')
  const nameAt = ({ values, others }: Group, place: number): string => {
    const value = values[place]
    if (others) return place === 0 ? 'All others' : ''
    if (value === null || value === undefined) return NOBODYS[dimensions[place]!]
    return names[value] ?? value.replaceAll('_', ' ')
  }
  const nameOf = (group: Group) =>
    dimensions
      .map((_, place) => nameAt(group, place))
      .filter(Boolean)
      .join(' · ')
  const linkTo = linkOf(dimensions)
  const label = (period: string) => period.slice(0, granularity === 'day' ? 10 : 7)
  const last = `${label(periods.at(-1)!)}${estimatedFrom === undefined ? '' : ' (estimate)'}`
  const columns: Column<Group>[] = [
    ...dimensions.map((dimension, place) => ({
      name: DIMENSIONS[dimension].name,
      cell: (group: Group) => {
        const href = place === 0 ? linkTo(group) : undefined
        return href ? <Link href={href}>{nameAt(group, place)}</Link> : nameAt(group, place)
      },
    })),
    { name: last, number: true, cell: ({ amounts }) => money(amounts.at(-1)!, currency) },
    {
      name: `All ${periods.length} ${granularity}s`,
      number: true,
      cell: group => money(group.total, currency),
    },
    {
      name: 'Share',
      number: true,
      cell: group => (total > 0 ? `${((group.total / total) * 100).toFixed(1)} %` : '–'),
    },
  ]
  return (
    <div class="columns">
      <Plot
        label={`Costs by ${by}, ${currency}`}
        as="stacked"
        times={periods}
        series={groups.map(group => ({ name: nameOf(group), values: group.amounts }))}
        format={value => money(value, currency)}
        // The year is in the filters, and days have little room.
        formatTime={period => (granularity === 'day' ? period.slice(5) : label(period))}
        estimated={estimatedFrom === undefined ? undefined : { from: estimatedFrom, word: 'estimate' }}
      />
      <div>
        <Table
          label={`Costs by ${by} in all, ${currency}`}
          list={{ rows: groups }}
          id={group => JSON.stringify([group.values, group.others])}
          empty="None."
          columns={columns}
        />
        <p class="more">In all {money(total, currency)}, taxes and credits included.</p>
        {estimatedFrom !== undefined && (
          <p class="quiet">
            From {label(periods[estimatedFrom]!)} on there is no invoice yet: an estimate, of what the
            provider says it has cost so far and of list prices.
          </p>
        )}
      </div>
    </div>
  )
}

const NOBODYS: Record<Dimension, string> = {
  tenant: 'Nobody’s',
  deployment: 'Nobody’s',
  kind: 'None',
  project: 'None',
  tag: 'None',
}

/** To the lines behind a group, where a filter finds exactly those. */
const linkOf = (dimensions: Dimension[]) => {
  const asFilters = dimensions.map(dimension => DIMENSIONS[dimension].filter)
  return ({ values, others }: Group): string | undefined => {
    const found = asFilters.flatMap((name, place) => {
      const value = values[place]
      return name && value ? [[name, value]] : []
    })
    return others || found.length < dimensions.length
      ? undefined
      : `/money/lines?${new URLSearchParams(found)}`
  }
}
