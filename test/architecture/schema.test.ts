// Rules about the database, asked of the database's own catalog, so that a table added later cannot forget them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { setup } from '../support/setup.ts'

test('every table has a primary key', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and not exists (select 1 from pg_constraint k where k.conrelid = c.oid and k.contype = 'p')`.execute(
    ctx.db,
  )
  assert.deepEqual(rows, [])
})

test('every foreign key has an index that begins with its columns', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ key: string }>`
    select k.conrelid::regclass || '.' || k.conname as key from pg_constraint k
    where k.contype = 'f' and k.connamespace = 'public'::regnamespace
      and not exists (
        select 1 from pg_index i
        where i.indrelid = k.conrelid and i.indpred is null
          and (string_to_array(i.indkey::text, ' ')::int2[])[1:cardinality(k.conkey)] @> k.conkey)`.execute(
    ctx.db,
  )
  assert.deepEqual(rows, [])
})

test('every table with a tenant column has an index that begins with it', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and not exists (select 1 from pg_index i where i.indrelid = c.oid and i.indkey[0] = a.attnum)`.execute(
    ctx.db,
  )
  assert.deepEqual(rows, [])
})

test('every time is kept in UTC to the millisecond: timestamptz(3)', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ name: string }>`
    select c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and format_type(a.atttypid, null) ~ '^time'
      and format_type(a.atttypid, a.atttypmod) <> 'timestamp(3) with time zone'`.execute(ctx.db)
  assert.deepEqual(rows, [])
})

/** What the specification calls its records and their fields; where it leaves names open, the contract's. */
const RECORDS: Record<string, string> = {
  cloud_deployments:
    'tenant_id slug display_name region state llm_mode billing_action_suspended template_code template_version',
  cloud_deployment_events: 'deployment_id from_state to_state actor actor_role reason created_at',
  subscriptions:
    'deployment_id plan_version_id status current_period_start current_period_end trial_ends_at created_at',
  subscription_addons: 'subscription_id code resource_kind qty price_cents quantity',
  plans: 'code name',
  plan_versions: 'plan_id version base_price_cents currency status',
  plan_items: 'plan_version_id resource_kind included_qty overage_unit overage_price_cents hard_cap_qty',
  addons: 'code resource_kind qty price_cents',
  resource_prices: 'resource_kind unit price_cents currency effective_from effective_to',
  cloud_projects: 'provider provider_id tenant_id purpose',
  cloud_resources: 'kind attrs deployment_id first_seen_at last_seen_at stale_strike_count',
  cloud_resource_events: 'resource_id kind changes actor created_at',
  cloud_provisioned: 'resource_id spec spec_version saga_id',
  cloud_drift: 'resource_id field desired actual status',
  saga_runs: 'kind status step_modules current_step_index context cancel_requested error inputs',
  saga_step_results: 'saga_id step_idx status output attempts started_at finished_at',
  cloud_balance_snapshots: 'month_to_date_balance account_balance month_to_date_usage recorded_at',
  cloud_invoices: 'invoice_uuid ingest_status ingest_error pushed_to_finance_at finance_invoice_id',
  cloud_cost_lines: 'invoice_id resource_id amount amount_minor currency',
}

test('every record of the specification is a table of its name, with its fields under theirs', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ field: string }>`
    select table_name || '.' || column_name as field from information_schema.columns
    where table_schema = 'public'`.execute(ctx.db)
  const there = new Set(rows.map(row => row.field))
  const named = Object.entries(RECORDS).flatMap(([table, fields]) =>
    fields.split(' ').map(field => `${table}.${field}`),
  )
  assert.deepEqual(
    named.filter(field => !there.has(field)),
    [],
  )
})

test('the states and kinds that the specification lists are those the database takes, and no other', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ field: string; rule: string }>`
    select k.conrelid::regclass || '.' || a.attname as field, pg_get_constraintdef(k.oid) as rule
    from pg_constraint k join pg_attribute a on a.attrelid = k.conrelid and k.conkey = array[a.attnum]
    where k.contype = 'c' and pg_get_constraintdef(k.oid) like '%= ANY (ARRAY[%'`.execute(ctx.db)
  const taken = new Map(
    rows.map(({ field, rule }) => [field, [...rule.matchAll(/'([^']+)'/g)].map(([, value]) => value).sort()]),
  )
  const listed: Record<string, string> = {
    'cloud_deployments.state': 'trial active past_due paused suspended cancelled archived',
    'subscriptions.status': 'active paused cancelled',
    'plan_versions.status': 'draft active retired',
    'cloud_projects.purpose': 'internal tenant shared unassigned',
    'cloud_resource_events.kind': 'discovered updated deleted drift_detected tagged restored',
    'cloud_drift.status': 'open accepted reverted stale',
    'saga_runs.status': 'pending running completed failed compensating rolled_back',
    'saga_step_results.status': 'running completed failed compensated',
    'cloud_invoices.ingest_status': 'pending ingested failed',
  }
  for (const [field, values] of Object.entries(listed))
    assert.deepEqual(taken.get(field), values.split(' ').sort(), field)
})

test('what the specification calls unique is unique by the database itself', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ index: string }>`
    select tablename || ' ' || substring(indexdef from '\\(.*') as index from pg_indexes
    where schemaname = 'public' and indexdef like 'CREATE UNIQUE%'`.execute(ctx.db)
  const there = new Set(rows.map(row => row.index))
  for (const index of [
    'cloud_deployments (tenant_id, slug)',
    'subscriptions (deployment_id)',
    'plans (code)',
    "plan_versions (plan_id) WHERE (status = 'active'::text)",
    'plan_items (plan_version_id, resource_kind)',
    'addons (code)',
    'cloud_projects (provider, provider_id)',
    'cloud_provisioned (resource_id)',
    "cloud_drift (resource_id, field) WHERE (status = 'open'::text)",
    'saga_step_results (saga_id, step_idx)',
    'cloud_invoices (provider, invoice_uuid)',
  ])
    assert.ok(there.has(index), index)
})

test('a backup can be restored: functions in columns and indexes find each other without a search path', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ name: string }>`
    select f.proname || ' mentions ' || other.name as name from pg_proc f
    join (
      select proname as name from pg_proc where pronamespace = 'public'::regnamespace
      union select relname from pg_class where relnamespace = 'public'::regnamespace
    ) other on f.prosrc ~ ('\\m' || other.name || '\\M')
    where f.pronamespace = 'public'::regnamespace and f.prosqlbody is null
      -- Columns and indexes take no function that is volatile.
      and f.provolatile <> 'v' and f.prorettype <> 'trigger'::regtype`.execute(ctx.db)
  assert.deepEqual(rows, [])
})
