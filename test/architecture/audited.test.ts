// What callers write is in the audit log: of every table and every operation it is known that it is, or why not.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { writingOperations } from '../support/description.ts'
import { setup } from '../support/setup.ts'

/** Tables without the trigger, and why they need none. */
const UNWATCHED: Record<string, string> = {
  audit_checkpoints: 'Where the log’s chain stood, written by the sealer.',
  audit_log: 'The log itself.',
  audit_seals: 'Its chain, written by the sealer.',
  audit_unkeyed: 'Written once, by the migration that gave the chain a key.',
  cloud_balance_snapshots: 'Written by jobs alone.',
  cloud_cost_lines: 'Written by ingests; what a caller assigns is in cloud_line_assignments.',
  cloud_deployment_events: 'A log of its own, beside the deployment’s row.',
  cloud_drift_ignored: 'Worked out by the sweep.',
  cloud_invoices: 'Written by jobs; what a caller orders is recorded as an act.',
  cloud_project_members: 'Written by jobs alone.',
  cloud_resource_events: 'A log of its own.',
  cloud_resources: 'Every change is an event of the resource, with its actor.',
  idempotency_keys: 'Answers kept for a day, sealed.',
  invoice_files: 'Written by ingests alone.',
  metered_hours: 'Written by the metering alone.',
  provisioning_reservations: 'Written by runs alone.',
  saga_step_results: 'Written by runs alone.',
  schema_migrations: 'Written at the start.',
  subscription_terms: 'Kept in step by the database with the subscription, whose changes are in the log.',
  sync_freshness: 'Written by jobs alone.',
  usage_hours: 'Written by the metering alone.',
  webhook_attempts: 'Written by the sender alone.',
  webhook_deliveries: 'Written by the outbox; what a caller orders is recorded as an act.',
  webhook_events: 'Written by the outbox.',
}

test('every table is watched by the audit log, or it is said why not', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ name: string; watched: boolean }>`
    select c.relname as name, exists (
      select 1 from pg_trigger g where g.tgrelid = c.oid and g.tgname = 'audit' and g.tgenabled = 'O') as watched
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`.execute(ctx.db)
  const unwatched = rows.filter(({ watched }) => !watched).map(({ name }) => name)
  assert.deepEqual(unwatched.sort(), Object.keys(UNWATCHED))
})

test('every operation that writes left an entry when the examples were recorded', () => {
  const file = join(import.meta.dirname, '../../docs/examples.json')
  const { audited } = JSON.parse(readFileSync(file, 'utf8')) as { audited: string[] }
  assert.deepEqual(audited, writingOperations())
})
