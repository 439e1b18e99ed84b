// SQL of a check's run, one statement: what is found and not known is opened, what is known and not found any more is closed,
// what is otherwise than it was is written anew, and what was opened and closed is published.
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { LIST_CURRENCY, minorOf, monthlyCostJoin, roundedOf } from '../billing/index.ts'
import { publishing } from '../webhooks/index.ts'
import { type Check, NOW, type Policy } from './check.ts'
import { Finding } from './finding.ts'

/** How many rows a run has opened, changed and closed, and how many are open after it. */
export interface Recorded {
  open: number
  opened: number
  changed: number
  closed: number
}

/** What may be otherwise from one run to the next. */
const CHANGING = [
  ...['resource_id', 'deployment_id', 'since', 'evidence'],
  ...['monthly_cost', 'monthly_cost_minor', 'currency', 'cost_source'],
]
const of = (row: string) => CHANGING.map(column => `${row}.${column}`).join(', ')

/** SQL: what the check finds now, with its price. */
function foundNow({ query, cost }: Check): string {
  const [amount, currency] = [`coalesce(c.monthly_cost, 0)`, `coalesce(c.currency, '${LIST_CURRENCY}')`]
  const price = {
    resource: `left join cloud_resources r on r.id = q.resource_id ${monthlyCostJoin(NOW)}`,
    own: 'cross join lateral (select q.monthly_cost, q.currency, q.cost_source) c',
    none: 'cross join (select null::numeric as monthly_cost, null::text as currency, null::text as cost_source) c',
  }[cost]
  return `select q.resource_id, q.subject, q.tenant_id, q.deployment_id, q.since::timestamptz(3) as since, q.evidence,
      ${roundedOf(amount, currency)} as monthly_cost, ${minorOf(amount, currency)} as monthly_cost_minor,
      ${currency} as currency, c.cost_source
    from (${query}) q ${price}`
}

/**
 * As the outside world is told; `k` is the check's own row. A resource that has gone to another tenant is not shown, and nobody's
 * webhook but the platform's hears of it.
 */
const eventsOf = (type: 'opened' | 'closed', { forTenants }: Check): string => `
  select 'finding.${type}' as type, ${forTenants ? 'case when f.resource_id is null or r.id is not null then f.tenant_id end' : 'null::text'} as tenant_id,
    ${NOW} as occurred_at, json_build_object('tenant_id', f.tenant_id, 'deployment_id', f.deployment_id,
      'finding', ${jsonOf(Finding, 'f', { status: `'${type === 'opened' ? 'open' : 'closed'}'` })}) as data
  from ${type} f
  left join cloud_resources r on r.id = f.resource_id and r.tenant_id is not distinct from f.tenant_id
  left join ran k on true`

/**
 * What is known beside what is found now: `known_id` alone is over, without it it is new. Of a subject that has gone to another
 * tenant, the finding is another. A full join is made by hashing or sorting, whatever the planner takes the numbers for: it knows
 * nothing of what a check finds, and would compare each with each.
 */
const COMPARED = `
  select n.*, f.id as known_id, f.id is not null and n.subject is not null and (${of('f')}) is distinct from (${of('n')}) as differs
  from (select * from findings where check_name = $3::text and closed_at is null) f
  full join found n on f.subject = n.subject and coalesce(f.tenant_id, '') = coalesce(n.tenant_id, '')`

// The old rows are closed before new ones are inserted: reading what was closed makes the database do so, and the index of open
// ones has room then.
const statementOf = (check: Check): string => `
  with given as (select ${NOW} as now, $2::jsonb as policy),
    ran as (select found_at from finding_checks where check_name = $3::text),
    found as materialized (${foundNow(check)}),
    compared as materialized (${COMPARED}),
    closed as (
      update findings f set closed_at = ${NOW}, last_found_at = greatest(f.opened_at, (select found_at from ran))
      where f.id in (select n.known_id from compared n where n.subject is null)
      returning f.*),
    opened as (
      insert into findings (id, check_name, subject, tenant_id, ${CHANGING.join(', ')}, opened_at)
      select uuid_v7(), $3::text, n.subject, n.tenant_id, ${of('n')}, ${NOW} from compared n
      where n.known_id is null and (select count(*) from closed) >= 0
      order by n.monthly_cost_minor, n.subject
      returning *),
    changed as (
      update findings f set (${CHANGING.join(', ')}) = (${of('n')})
      from compared n where n.differs and f.id = n.known_id
      returning 1),
    noted as (
      insert into finding_checks (check_name, found_at) values ($3::text, ${NOW})
      on conflict (check_name) do update set found_at = excluded.found_at, failed_at = null, error = null),
    ${publishing(`${eventsOf('closed', check)} union all ${eventsOf('opened', check)}`)}
  select (select count(*) from found)::int as open, (select count(*) from opened)::int as opened,
    (select count(*) from changed)::int as changed, (select count(*) from closed)::int as closed`

/** Runs that come at the same time take turns, check by check: the second finds what the first has written. */
export async function recordFound(tx: Executor, check: Check, at: string, policy: Policy): Promise<Recorded> {
  await runStatement(tx, LOCK, [`findings of ${check.name}`])
  // Compiling the statement would take longer than running it.
  await runStatement(tx, JIT_OFF, [])
  const values = [at, JSON.stringify(policy), check.name]
  return (await runStatement<Recorded>(tx, { name: '', text: statementOf(check) }, values))[0]!
}

const LOCK = {
  name: 'findings_lock',
  text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
}
const JIT_OFF = { name: '', text: 'set local jit = off' }

/** What the check had found stays as it was. */
export async function recordFailure(
  executor: Executor,
  check: Check,
  at: string,
  error: string,
): Promise<void> {
  await executor
    .insertInto('finding_checks')
    .values({ check_name: check.name, failed_at: at, error })
    .onConflict(conflict => conflict.column('check_name').doUpdateSet({ failed_at: at, error }))
    .execute()
}
