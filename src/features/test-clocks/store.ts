// All SQL of test clocks. One that has ended is gone for everyone who asks; its row says how far it has metered.
import { sql } from 'kysely'
import { auditedTable } from '../../kernel/audit.ts'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { TestClock, type TestClockRow } from './test-clock.ts'

export const TEST_CLOCKS = auditedTable('test_clocks', { key: ['id'] })

const CLOCK_JSON = `${jsonOf(TestClock, 'c')}::text as json from test_clocks c`

/** In the order in which they were made. */
export const listClocks = (
  executor: Executor,
  { tenant_id }: { tenant_id?: string },
  limit: number,
  after: Key | null,
): Promise<{ id: string; json: string }[]> =>
  listPage(executor, {
    name: 'test_clocks',
    select: `select c.id, ${CLOCK_JSON}`,
    filters: { living: ['(c.ended_at is null) = ?', true], tenant_id: ['c.tenant_id = ?', tenant_id] },
    orderBy: ['c.id'],
    after,
    limit,
  })

const SHOW = { name: 'test_clock', text: `select ${CLOCK_JSON} where c.id = $1::uuid and c.ended_at is null` }

/** As JSON text. */
export async function showClock(executor: Executor, id: string): Promise<string | undefined> {
  return (await runStatement<{ json: string }>(executor, SHOW, [id]))[0]?.json
}

/** Nobody else moves it until the transaction ends. */
export const lockClock = (tx: Executor, id: string): Promise<TestClockRow | undefined> =>
  tx
    .selectFrom('test_clocks')
    .selectAll()
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()

/** Whoever comes late with a month does not open those behind it again. */
export async function noteClosed(tx: Executor, id: string, until: string): Promise<void> {
  await TEST_CLOCKS.update(
    tx,
    query =>
      query
        .where('id', '=', id)
        .where('ended_at', 'is', null)
        .where(eb => eb.or([eb('closed_until', 'is', null), eb('closed_until', '<', until)])),
    { closed_until: until },
  )
}

/** How far the tenant's clocks that have ended went. */
export async function lastTimeOf(executor: Executor, tenantId: string): Promise<string | null> {
  const { rows } = await sql<{ at: string | null }>`
    select max(now) as at from test_clocks where tenant_id = ${tenantId}`.execute(executor)
  return rows[0]!.at
}

const OF_TENANT = {
  name: 'test_clock_of_tenant',
  text: `select now, iso8601(closed_until) as closed_until from test_clocks where tenant_id = $1 and ended_at is null`,
}

export async function clockOfTenant(
  executor: Executor,
  tenantId: string,
): Promise<{ now: Date; closed_until: string | null } | undefined> {
  const rows = await runStatement<{ now: string; closed_until: string | null }>(executor, OF_TENANT, [
    tenantId,
  ])
  return rows[0] && { ...rows[0], now: new Date(rows[0].now) }
}

const OF_DEPLOYMENTS = {
  name: 'test_clocks_of_deployments',
  text: `select d.id, c.now from test_clocks c join cloud_deployments d on d.tenant_id = c.tenant_id
    where c.ended_at is null and d.id = any($1::uuid[])`,
}

export async function clocksOfDeployments(
  executor: Executor,
  ids: readonly string[],
): Promise<Map<string, Date>> {
  const rows = await runStatement<{ id: string; now: string }>(executor, OF_DEPLOYMENTS, [ids])
  return new Map(rows.map(({ id, now }) => [id, new Date(now)]))
}
