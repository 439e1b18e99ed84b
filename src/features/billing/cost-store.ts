// SQL of costs over time: one pass over the lines of the months that are asked about, those of invoices and, where there is
// none yet, those of the estimate. An operator reads all lines, a tenant its own.
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { monthOf } from '../../kernel/time.ts'
import { tagsThen } from '../inventory/index.ts'
import { Cost, type CostQuestion, costColumns, DIMENSIONS } from './costs.ts'
import { lineColumns, OWN_DEPLOYMENT } from './line-store.ts'
import { dailyOf } from './spread-days.ts'

export interface ListedCost {
  /** The period, 1 for the others, then a text for each dimension and the currency. */
  key: Key
  json: string
}

/**
 * What rows are ordered by. A name may be of any length, and a cursor is not: of a long one its beginning and its hash.
 * Empty for what is nobody's, which comes first.
 */
const keyOf = (column: string) => `case when octet_length(${column}::text) <= 64 then ${column}::text
  else coalesce(left(${column}::text, 16) || md5(${column}::text), '') end collate "C"`

const list = (...parts: string[]) => parts.join(', ')

/** Values of a statement and their places in it. */
function createParameters() {
  const values: unknown[] = []
  return { values, parameter: (value: unknown, type: string) => `$${values.push(value)}::${type}` }
}
type Parameter = ReturnType<typeof createParameters>['parameter']

/**
 * In the order of periods, and within a period by the dimensions. All that a page shows is from one moment; without a limit
 * that is everything.
 */
export function listCosts(
  executor: Executor,
  scope: Scope,
  question: CostQuestion,
  limit: number | null,
  after: Key | null,
): Promise<ListedCost[]> {
  const { dimensions, granularity, top } = question
  const { values, parameter } = createParameters()
  const most = parameter(limit, 'bigint')
  // The largest are those of all periods: then the pages before are read again.
  const from =
    top === undefined && after !== null && String(after[0]) > question.from ? String(after[0]) : question.from
  const columns = dimensions.map(name => DIMENSIONS[name])
  const keys = columns.map((_, index) => `k${index}`)
  const order = ['period', 'others', ...keys, 'currency']
  const lines = linesOf(scope, { ...question, from }, parameter)
  const group = ['currency', 'estimate', ...columns.map(column => (column === 'tag' ? 'tags' : column))]
  const summed =
    granularity === 'day'
      ? dailyOf(`(${lines})`, group, parameter(from, 'date'), parameter(question.to, 'date'))
      : `select ${list('period', ...group)}, count(*) as lines, sum(amount) as amount, sum(amount_minor) as amount_minor,
        coalesce(sum(amount_minor) filter (where is_tax), 0) as tax_minor
      from (${lines}) l group by ${list('period', ...group)}`
  const key = question.tag_key === undefined ? null : parameter(question.tag_key, 'text')
  const periods = dimensions.includes('tag')
    ? byTag(summed, ['currency', 'estimate', ...columns], key)
    : summed
  const isAfter =
    after === null
      ? ''
      : `where (${list(...order)}) > (${list(
          parameter(after[0], 'date'),
          parameter(after[1], 'int'),
          ...after.slice(2).map(part => `${parameter(part, 'text')} collate "C"`),
        )})`
  const text = `
    with periods as (${periods}), keyed as (
      select ${list('*', ...columns.map((column, index) => `${keyOf(column)} as k${index}`))} from periods
    ), costs as (${top === undefined ? 'select *, 0 as others from keyed' : largest(columns, keys, parameter(top, 'int'))})
    select json_build_array(${list(...order)}) as key, ${rowJson(question)}::text as json
    from costs c ${isAfter} order by ${list(...order)} limit ${most}`
  return runStatement(executor, { name: '', text }, values)
}

/** A row `c` with the columns that the question has. */
function rowJson(question: CostQuestion): string {
  const shown = new Set<string>(costColumns(question))
  const leftOut = Object.keys(Cost.properties).filter(column => !shown.has(column))
  return jsonOf(Cost, 'c', {
    ...Object.fromEntries(leftOut.map(column => [column, null])),
    ...(question.top !== undefined && { others: 'c.others = 1' }),
  })
}

/** The lines that are asked about, with their dimensions as the reader may see them. */
function linesOf(scope: Scope, question: CostQuestion, parameter: Parameter): string {
  const tenant = scope.allTenants ? null : scope.tenantId
  const where = [
    `l.period >= ${parameter(monthOf(question.from).first_day, 'date')}`,
    `l.period <= ${parameter(monthOf(question.to).first_day, 'date')}`,
  ]
  const tenantId = tenant ?? question.tenant_id
  if (tenantId !== undefined) where.push(`l.tenant_id = ${parameter(tenantId, 'text')}`)
  if (question.kind !== undefined) where.push(`l.kind = ${parameter(question.kind, 'text')}`)
  if (question.deployment_id !== undefined) {
    where.push(`l.deployment_id = ${parameter(question.deployment_id, 'uuid')}`)
    if (tenant !== null) where.push(OWN_DEPLOYMENT)
  }
  const columns = question.dimensions.filter(name => name !== 'tag').map(name => DIMENSIONS[name])
  const times = question.granularity === 'day' ? ['start_at', 'end_at'] : []
  const shared = lineColumns(scope, ['period', 'currency', 'amount', 'amount_minor', ...times, ...columns])
  // Joined, so that the planner may keep what it has found for a resource.
  const [tags, join] = question.dimensions.includes('tag')
    ? [', v.tags', `left join lateral (${tagsOf(scope)}) v on true`]
    : ['', '']
  const invoiced = `select ${shared}, l.is_tax, false as estimate${tags} from cloud_cost_lines l ${join} where ${where.join(' and ')}`
  if (!question.estimates) return invoiced
  return `${invoiced} union all
    select ${shared}, false, true${tags} from cost_estimate_lines l ${join} where ${where.join(' and ')}
      and l.period not in (select i.period from cloud_invoices i where i.lines_hash is not null)`
}

/** SQL: the tags of a line's resource when the line ended. */
const tagsOf = ({ allTenants }: Scope): string =>
  tagsThen(
    'l.resource_id',
    `coalesce(l.end_at, (l.period + interval '1 month') at time zone 'UTC')`,
    allTenants ? null : 'l.tenant_id',
  )

/** What ties a resource to a deployment is a dimension of its own. */
const OWN_TAGS = `tag not like 'deployment:%' and tag not like 'saga:%'`

const SUMS = { lines: 'bigint', amount: 'numeric', amount_minor: 'bigint', tax_minor: 'bigint' }
const sums = Object.entries(SUMS).map(([name, type]) => `sum(${name})::${type} as ${name}`)

/** SQL: sums by lists of tags, added up by the text that is shown of them; null where nothing is. */
const byTag = (summed: string, columns: string[], key: string | null): string => {
  const [shown, which] =
    key === null
      ? ['tag', OWN_TAGS]
      : [`substr(tag, length(${key}) + 2)`, `left(tag, length(${key}) + 1) = ${key} || ':'`]
  return `
      select ${list('period', ...columns, ...sums)} from (${summed}) s
      cross join lateral (
        select string_agg(${shown}, ',' order by ${shown} collate "C") as tag from unnest(s.tags) tag where ${which}) t
      group by ${list('period', ...columns)}`
}

/** SQL: the groups with the largest amounts of all periods in each currency, what is nobody's, and the rest as one group. */
const largest = (columns: string[], keys: string[], top: string) => {
  const group = ['currency', ...keys].join(', ')
  const none = keys.map(key => `${key} = ''`).join(' and ')
  const own = (name: string, other: string) =>
    `case when others = 0 then ${name} else ${other} end as ${name}`
  return `
      select period, currency, others, estimate, ${columns.map(column => own(column, 'null')).join(', ')},
        ${keys.map(key => own(key, "''")).join(', ')}, ${sums.join(', ')}
      from (
        select *, (place > ${top})::int as others
        from keyed join (
          select ${group}, case when ${none} then 0 else row_number() over (
            partition by currency, ${none} order by sum(amount) desc, ${group}) end as place
          from keyed group by ${group}
        ) places using (${group})
      ) placed
      group by 1, 2, 3, 4, ${[...columns, ...keys].map((_, index) => index + 5).join(', ')}`
}
