// SQL of costs over time: one pass over the lines of the months that are asked about. An operator reads all lines, a tenant
// its own.
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { Cost, type CostQuestion, costColumns, DIMENSIONS } from './costs.ts'
import { lineColumns, OWN_DEPLOYMENT } from './line-store.ts'

export interface ListedCost {
  /** The month, 1 for the others, then a text for each dimension and the currency. */
  key: Key
  json: string
}

/**
 * What rows are ordered by. A name may be of any length, and a cursor is not: of a long one its beginning and its hash.
 * Empty for what is nobody's, which comes first.
 */
const keyOf = (column: string) => `case when octet_length(${column}::text) <= 64 then ${column}::text
  else coalesce(left(${column}::text, 16) || md5(${column}::text), '') end collate "C"`

/**
 * In the order of months, and within a month by the dimensions. All that a page shows is from one moment; without a limit
 * that is everything.
 */
export function listCosts(
  executor: Executor,
  scope: Scope,
  question: CostQuestion,
  limit: number | null,
  after: Key | null,
): Promise<ListedCost[]> {
  const { dimensions, top } = question
  const tenant = scope.allTenants ? null : scope.tenantId
  const values: unknown[] = [limit]
  const parameter = (value: unknown, type: string) => `$${values.push(value)}::${type}`
  // The largest are those of all months: then the pages before are read again.
  const isLater = top === undefined && after !== null && String(after[0]) > question.from
  const where = [
    `l.period >= ${parameter(isLater ? after[0] : question.from, 'date')}`,
    `l.period <= ${parameter(question.to, 'date')}`,
  ]
  const tenantId = tenant ?? question.tenant_id
  if (tenantId !== undefined) where.push(`l.tenant_id = ${parameter(tenantId, 'text')}`)
  if (question.kind !== undefined) where.push(`l.kind = ${parameter(question.kind, 'text')}`)
  if (question.deployment_id !== undefined) {
    where.push(`l.deployment_id = ${parameter(question.deployment_id, 'uuid')}`)
    if (tenant !== null) where.push(OWN_DEPLOYMENT)
  }
  const columns = dimensions.map(name => DIMENSIONS[name])
  const keys = columns.map((_, index) => `k${index}`)
  const list = (...parts: string[]) => parts.join(', ')
  const order = ['period', 'others', ...keys, 'currency']
  const isAfter =
    after === null
      ? ''
      : `where (${list(...order)}) > (${list(
          parameter(after[0], 'date'),
          parameter(after[1], 'int'),
          ...after.slice(2).map(part => `${parameter(part, 'text')} collate "C"`),
        )})`
  const shown = new Set<string>(costColumns(question))
  const leftOut = Object.fromEntries(
    Object.keys(Cost.properties)
      .filter(column => !shown.has(column))
      .map(column => [column, null]),
  )
  const json = jsonOf(Cost, 'c', { ...leftOut, ...(top !== undefined && { others: 'c.others = 1' }) })
  const read = ['period', 'currency', 'amount', 'amount_minor', 'is_tax', ...columns]
  const text = `
    with months as (
      select ${list('period', 'currency', ...columns)}, count(*) as lines, sum(amount) as amount,
        sum(amount_minor) as amount_minor, coalesce(sum(amount_minor) filter (where is_tax), 0) as tax_minor
      from (select ${lineColumns(scope, read)} from cloud_cost_lines l where ${where.join(' and ')}) l
      group by ${list('period', 'currency', ...columns)}
    ), keyed as (
      select ${list('*', ...columns.map((column, index) => `${keyOf(column)} as k${index}`))} from months
    ), costs as (${top === undefined ? 'select *, 0 as others from keyed' : largest(columns, keys, parameter(top, 'int'))})
    select json_build_array(${list(...order)}) as key, ${json}::text as json
    from costs c ${isAfter} order by ${list(...order)} limit $1`
  return runStatement(executor, { name: '', text }, values)
}

/** SQL: the groups with the largest amounts of all months in each currency, what is nobody's, and the rest as one group. */
const largest = (columns: string[], keys: string[], top: string) => {
  const group = ['currency', ...keys].join(', ')
  const none = keys.map(key => `${key} = ''`).join(' and ')
  const own = (name: string, other: string) =>
    `case when others = 0 then ${name} else ${other} end as ${name}`
  const sum = (name: string, type = 'bigint') => `sum(${name})::${type} as ${name}`
  const sums = [sum('lines'), sum('amount', 'numeric'), sum('amount_minor'), sum('tax_minor')]
  return `
      select period, currency, others, ${columns.map(column => own(column, 'null')).join(', ')},
        ${keys.map(key => own(key, "''")).join(', ')}, ${sums.join(', ')}
      from (
        select *, (place > ${top})::int as others
        from keyed join (
          select ${group}, case when ${none} then 0 else row_number() over (
            partition by currency, ${none} order by sum(amount) desc, ${group}) end as place
          from keyed group by ${group}
        ) places using (${group})
      ) placed
      group by 1, 2, 3, ${[...columns, ...keys].map((_, index) => index + 4).join(', ')}`
}
