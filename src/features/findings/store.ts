// All SQL of findings but that of a run: the list, what they add up to, snoozing, and forgetting what is long over.
import { auditedTable } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor, Row } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { LIST_CURRENCY } from '../billing/index.ts'
import { type CheckFilter, checksFor, Finding, type FindingRow, type Status } from './finding.ts'

/** Only what callers write is written through it. */
const FINDINGS = auditedTable('findings', { key: ['id'] })

const FROM = `from findings f left join cloud_resources r on r.id = f.resource_id
  left join finding_checks k on k.check_name = f.check_name`

/** A tenant is shown its own, as long as the resource is its own: `tenant` is a parameter, null of an operator. */
const isOwn = (tenant: string): string => `f.tenant_id = ${tenant} and (f.resource_id is null or exists (
  select from cloud_resources own where own.id = f.resource_id and own.tenant_id = f.tenant_id))`

const CONDITIONS: Record<Status, string> = {
  open: `f.closed_at is null and coalesce(f.snoozed_until, '-infinity') <= ?`,
  snoozed: 'f.closed_at is null and f.snoozed_until > ?',
  closed: 'f.closed_at <= ?',
}

export interface FindingFilter extends CheckFilter {
  status: Status
  kind?: string
  resource_id?: string
  tenant_id?: string
  deployment_id?: string
}

interface Listed {
  id: string
  monthly_cost_minor: number
  json: string
}

/** As JSON text, the costliest first. */
export const listFindings = (
  executor: Executor,
  scope: Scope,
  now: string,
  { status, kind, resource_id, tenant_id, deployment_id, ...check }: FindingFilter,
  limit: number,
  after: Key | null,
): Promise<Listed[]> =>
  listPage(executor, {
    name: `findings_${status}`,
    select: `select f.id, f.monthly_cost_minor, ${jsonOf(Finding, 'f', { status: `'${status}'` })}::text as json ${FROM}`,
    filters: {
      status: [CONDITIONS[status], now],
      scope: [isOwn('?'), scope.allTenants ? null : scope.tenantId],
      checks: ['f.check_name = any(?)', checksFor(scope, check).map(({ name }) => name)],
      kind: ['r.kind = ?', kind],
      resource_id: ['f.resource_id = ?', resource_id],
      tenant_id: ['f.tenant_id = ?', tenant_id],
      deployment_id: ['f.deployment_id = ?', deployment_id],
    },
    orderBy: ['f.monthly_cost_minor', 'f.id'],
    descending: true,
    after,
    limit,
  })

/** SQL: the status of a finding `f` at a time. */
const statusAt = (now: string): string => `case when f.closed_at is not null then 'closed'
  when f.snoozed_until > ${now} then 'snoozed' else 'open' end`

const FIND = {
  name: 'findings_find',
  text: `select ${jsonOf(Finding, 'f', { status: statusAt('$2::timestamptz') })}::text as json ${FROM}
    where f.id = $1::uuid and f.check_name = any($3::text[]) and ($4::text is null or (${isOwn('$4::text')}))`,
}

/** As JSON text. */
export async function findFinding(
  executor: Executor,
  scope: Scope,
  now: string,
  id: string,
): Promise<string | undefined> {
  const checks = checksFor(scope).map(({ name }) => name)
  const values = [id, now, checks, scope.allTenants ? null : scope.tenantId]
  return (await runStatement<{ json: string }>(executor, FIND, values))[0]?.json
}

export interface Summed {
  check_name: string
  open: number
  snoozed: number
  monthly_cost_minor: number
}

/** SQL: what is open, and what a caller is shown of it; amounts in another currency are not added. */
const COUNTED = `select f.check_name, coalesce(f.resource_id, f.id) as about, ${statusAt('$1::timestamptz')} as status,
    case when f.currency = '${LIST_CURRENCY}' then f.monthly_cost_minor else 0 end as minor
  from findings f
  where f.closed_at is null and f.check_name = any($2::text[]) and ($3::text is null or (${isOwn('$3::text')}))`

const BY_CHECK = `select check_name, count(*) filter (where status = 'open')::int as open,
    count(*) filter (where status = 'snoozed')::int as snoozed,
    coalesce(sum(minor) filter (where status = 'open'), 0)::bigint as monthly_cost_minor
  from counted group by check_name`

const SUM_BY_CHECK = { name: 'findings_by_check', text: `with counted as (${COUNTED}) ${BY_CHECK}` }
const SUM = {
  name: 'findings_sum',
  text: `with counted as (${COUNTED}) ${BY_CHECK}
    union all
    select null, 0, 0, coalesce(sum(most), 0)::bigint from (
      select max(minor) as most from counted where status = 'open' and minor > 0 group by about) m`,
}

/** Of each check that has found something. */
export const sumByCheck = (executor: Executor, now: string): Promise<Summed[]> =>
  runStatement(executor, SUM_BY_CHECK, [now, checksFor({ allTenants: true }).map(({ name }) => name), null])

/** Of each check, and what all of it comes to when everything counts once. */
export async function sumFindings(
  executor: Executor,
  scope: Scope,
  now: string,
): Promise<{ checks: Summed[]; monthly_cost_minor: number }> {
  const checks = checksFor(scope).map(({ name }) => name)
  const values = [now, checks, scope.allTenants ? null : scope.tenantId]
  const rows = await runStatement<Summed>(executor, SUM, values)
  return {
    checks: rows.filter(({ check_name }) => check_name !== null),
    monthly_cost_minor: rows.find(({ check_name }) => check_name === null)!.monthly_cost_minor,
  }
}

export const listRuns = (executor: Executor): Promise<Row<'finding_checks'>[]> =>
  executor.selectFrom('finding_checks').selectAll().execute()

/** Nobody closes it until the transaction ends. */
export const lockFinding = (tx: Executor, id: string): Promise<FindingRow | undefined> =>
  tx
    .selectFrom('findings')
    .selectAll()
    .where('id', '=', id)
    .where(
      'check_name',
      'in',
      checksFor({ allTenants: true }).map(({ name }) => name),
    )
    .forUpdate()
    .executeTakeFirst()

export type Snooze = Pick<FindingRow, 'snoozed_until' | 'snooze_reason' | 'snoozed_by'>

export async function setSnooze(tx: Executor, id: string, snooze: Snooze): Promise<void> {
  await FINDINGS.update(tx, { id }, snooze)
}

/** How many that were closed before then are forgotten. */
export async function deleteClosedBefore(executor: Executor, before: string): Promise<number> {
  const { numDeletedRows } = await executor
    .deleteFrom('findings')
    .where('closed_at', '<', before)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
