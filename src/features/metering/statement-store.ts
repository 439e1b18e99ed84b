// SQL of statements: written once, read for ever.
import { type RawBuilder, sql } from 'kysely'
import type { Deps } from '../../deps.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import type { Books, StatementLine } from '../subscriptions/index.ts'
import { meteredWithin } from '../usage-events/index.ts'
import { publishing } from '../webhooks/index.ts'
import type { Month } from './period.ts'
import { canonical, exactAmounts, Statement, StatementDetail } from './statement.ts'

// Any constant will do, as long as every node takes the same one.
const CLOSING_KEY = 4_005_007

/** Until the transaction ends, nobody else closes, and nobody makes terms begin in the past. */
export async function lockClosing(tx: Executor): Promise<void> {
  await sql`select pg_advisory_xact_lock(${CLOSING_KEY})`.execute(tx)
}

/** The first moment that is in no closed month; null: none is closed. No month is closed until the transaction ends. */
export const openFrom =
  ({ tenantTime }: Pick<Deps, 'tenantTime'>): Books['openFrom'] =>
  async (tx, tenantId) => {
    await sql`select pg_advisory_xact_lock_shared(${CLOSING_KEY})`.execute(tx)
    const own = await tenantTime.openFrom(tx, tenantId)
    return own === undefined ? closedUntil(tx) : own
  }

/** The end of the last closed month; null: none is closed. */
export async function closedUntil(executor: Executor): Promise<string | null> {
  const { rows } = await sql<{ at: string | null }>`
    select iso8601((max(period) + interval '1 month') at time zone 'UTC') as at from closed_months`.execute(
    executor,
  )
  return rows[0]!.at
}

/** The first month that is open, by a time in it: after the last closed one, or that of the first terms. */
export async function firstOpen(executor: Executor): Promise<string | null> {
  const closed = await closedUntil(executor)
  if (closed !== null) return closed
  const { rows } = await sql<{ at: string | null }>`
    select iso8601(min(t.valid_from)) as at from subscription_terms t
    where (t.valid_to is null or t.valid_to > t.valid_from) and not exists (
      select from test_clocks c join cloud_deployments d on d.tenant_id = c.tenant_id
      join subscriptions s on s.deployment_id = d.id where s.id = t.subscription_id and c.ended_at is null)`.execute(
    executor,
  )
  return rows[0]!.at
}

/** When the first terms of a tenant began, or will. */
export async function firstTermsOf(executor: Executor, tenantId: string): Promise<string | null> {
  const { rows } = await sql<{ at: string | null }>`
    select iso8601(min(t.valid_from)) as at from cloud_deployments d
    join subscriptions s on s.deployment_id = d.id join subscription_terms t on t.subscription_id = s.id
    where d.tenant_id = ${tenantId} and (t.valid_to is null or t.valid_to > t.valid_from)`.execute(executor)
  return rows[0]!.at
}

/** The statements of one tenant under a test clock. */
export interface TestBook {
  id: string
  tenant_id: string
}

/** Whose statement it is. */
export interface Billed {
  subscription_id: string
  deployment_id: string
  tenant_id: string
}

/** Subscriptions that had terms or usage in the month and have no statement of it, behind an id. */
export async function listUnclosed(
  tx: Executor,
  { first_day, start_at, end_at }: Month,
  testClock: TestBook | null,
  after: string | null,
  limit: number,
): Promise<Billed[]> {
  const { rows } = await sql<Billed>`
    select s.id as subscription_id, d.id as deployment_id, d.tenant_id
    from subscriptions s join cloud_deployments d on d.id = s.deployment_id
    where (${after}::uuid is null or s.id > ${after}::uuid)
      and not exists (select from statements t where t.subscription_id = s.id and t.period = ${first_day}::date)
      and ${chargedWithin(start_at, end_at)} and ${
        testClock
          ? sql`d.tenant_id = ${testClock.tenant_id}`
          : sql`not exists (select from test_clocks c where c.tenant_id = d.tenant_id and c.ended_at is null)`
      }
    order by s.id limit ${limit}`.execute(tx)
  return rows
}

/** Subscriptions that had terms or usage in a stretch of whole months, behind an id. */
export async function listSubscribed(
  executor: Executor,
  { from, to }: { from: string; to: string },
  after: string | null,
  limit: number,
): Promise<Billed[]> {
  const { rows } = await sql<Billed>`
    select s.id as subscription_id, d.id as deployment_id, d.tenant_id
    from subscriptions s join cloud_deployments d on d.id = s.deployment_id
    where (${after}::uuid is null or s.id > ${after}::uuid) and ${chargedWithin(from, to)}
    order by s.id limit ${limit}`.execute(executor)
  return rows
}

/** Of subscriptions `s` and deployments `d`: there were terms or usage. */
const chargedWithin = (from: string, to: string): RawBuilder<boolean> => sql`(
  exists (
    select from subscription_terms t where t.subscription_id = s.id and t.valid_from < ${to}
      and (t.valid_to is null or t.valid_to > greatest(t.valid_from, ${from})))
  or exists (
    select from usage_hours u where u.deployment_id = d.id and u.hour >= ${from} and u.hour < ${to})
  or ${meteredWithin(sql`d.id`, { from, to })})`

export interface Told extends Billed {
  /** The month's statements so far, the first one first. */
  told: { id: string; lines: StatementLine[] }[]
}

/** The deployments' subscriptions with what was told of a month. */
export async function listTold(
  tx: Executor,
  { first_day }: Month,
  deploymentIds: readonly string[],
): Promise<Told[]> {
  const told = sql`from statements t where t.subscription_id = s.id and t.period = ${first_day}::date order by t.sequence`
  const { rows } = await sql<Billed & { ids: string[]; lines: string[] }>`
    select s.id as subscription_id, d.id as deployment_id, d.tenant_id,
      array(select t.id::text ${told}) as ids, array(select t.lines::text ${told}) as lines
    from subscriptions s join cloud_deployments d on d.id = s.deployment_id
    where d.id = any(${deploymentIds}::uuid[]) order by s.id`.execute(tx)
  return rows.map(({ ids, lines, ...subscription }) => ({
    ...subscription,
    told: ids.map((id, index) => ({ id, lines: JSON.parse(lines[index]!, exactAmounts) })),
  }))
}

/** The number of the month's last statement; a test clock's are numbered apart. */
export async function lastOrdinal(
  tx: Executor,
  { first_day }: Month,
  testClock: TestBook | null,
): Promise<number> {
  const own = testClock ? sql`test_clock_id = ${testClock.id}` : sql`test_clock_id is null`
  const { rows } = await sql<{ last: number }>`
    select coalesce(max(ordinal), 0) as last from statements where period = ${first_day}::date and ${own}`.execute(
    tx,
  )
  return rows[0]!.last
}

export interface NewStatement extends StatementDetail {
  first_day: string
  ordinal: number
  test_clock_id: string | null
}

const COLUMNS = {
  id: 'uuid',
  subscription_id: 'uuid',
  deployment_id: 'uuid',
  tenant_id: 'text',
  period: 'date',
  sequence: 'int',
  adjusts: 'uuid',
  ordinal: 'int',
  currency: 'text',
  total_cents: 'numeric',
  lines: 'json',
  content_hash: 'text',
  closed_at: 'timestamptz',
  test_clock_id: 'uuid',
}
const NAMES = Object.keys(COLUMNS)

const INSERT = {
  name: 'statements_insert',
  text: `with made as (
      insert into statements (${NAMES.join(', ')}) select ${NAMES.join(', ')}
      from json_to_recordset($1::json) as r (${Object.entries(COLUMNS)
        .map(([name, type]) => `${name} ${type}`)
        .join(', ')}) order by r.ordinal returning *
    ), ${publishing(`select 'statement.closed' as type, s.tenant_id, s.closed_at as occurred_at,
      json_build_object('tenant_id', s.tenant_id, 'deployment_id', s.deployment_id, 'statement', ${jsonOf(Statement, 's')})
        as data
      from made s order by s.ordinal`)}
    select`,
}

/** With their events. */
export async function insertStatements(tx: Executor, statements: readonly NewStatement[]): Promise<void> {
  const rows = statements.map(({ first_day, ...statement }) => ({ ...statement, period: first_day }))
  await runStatement(tx, INSERT, [canonical(rows)])
}

export async function markClosed(tx: Executor, { first_day }: Month, at: string): Promise<void> {
  await sql`insert into closed_months (period, closed_at) values (${first_day}::date, ${at})
    on conflict (period) do nothing`.execute(tx)
}

/** Newest first. */
export const listStatements = (
  executor: Executor,
  deploymentId: string,
  limit: number,
  after: Key | null,
): Promise<{ id: string; json: string }[]> =>
  listPage(executor, {
    name: 'statements',
    select: `select s.id, ${jsonOf(Statement, 's')}::text as json from statements s`,
    filters: { deployment: ['s.deployment_id = ?', deploymentId] },
    orderBy: ['s.id'],
    descending: true,
    after,
    limit,
  })

export interface StatementFilter {
  /** `YYYY-MM`. */
  period?: string
  tenant_id?: string
  deployment_id?: string
  adjusts?: string
}

/** The newest month first, and in it the highest number. */
export const listAllStatements = (
  executor: Executor,
  scope: Scope,
  { period, tenant_id, deployment_id, adjusts }: StatementFilter,
  limit: number,
  after: Key | null,
): Promise<{ period: string; ordinal: number; json: string }[]> =>
  listPage(executor, {
    name: 'statements_of_all',
    select: `select s.period, s.ordinal, ${jsonOf(Statement, 's')}::text as json from statements s`,
    filters: {
      scope: ['s.tenant_id = ?', scope.allTenants ? null : scope.tenantId],
      period: ['s.period = ?::date', period && `${period}-01`],
      tenant: ['s.tenant_id = ?', tenant_id],
      deployment: ['s.deployment_id = ?', deployment_id],
      adjusts: ['s.adjusts = ?', adjusts],
    },
    orderBy: ['s.period', 's.ordinal'],
    descending: true,
    after,
    limit,
  })

const SHOW = {
  name: 'statement_show',
  text: `select ${jsonOf(StatementDetail, 's')}::text as json from statements s
    where s.id = $1::uuid and ($2::text is null or s.tenant_id = $2)`,
}

/** With its lines, as JSON text. */
export async function showStatement(
  executor: Executor,
  scope: Scope,
  id: string,
): Promise<string | undefined> {
  const values = [id, scope.allTenants ? null : scope.tenantId]
  return (await runStatement<{ json: string }>(executor, SHOW, values))[0]?.json
}
