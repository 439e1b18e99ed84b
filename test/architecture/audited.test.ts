// What callers write is in the audit log: of every table and every operation it is known that it is, or why not.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { writingOperations } from '../support/description.ts'
import { setup } from '../support/setup.ts'

/** Tables that are not audited, and why they need not be. */
const UNWATCHED: Record<string, string> = {
  audit_checkpoints: 'Where the log’s chain stood, written by the sealer.',
  audit_log: 'The log itself.',
  audit_seals: 'Its chain, written by the sealer.',
  audit_unkeyed: 'Written once, by the migration that gave the chain a key.',
  budget_alerts: 'Written by the look at budgets alone.',
  budget_looks: 'As above.',
  closed_months: 'Written by the closing alone.',
  cloud_accounts: 'Written by jobs alone.',
  cloud_balance_snapshots: 'Written by jobs alone.',
  cloud_cost_lines: 'Written by ingests; what a caller assigns is in cloud_line_assignments.',
  cloud_deployment_events: 'A log of its own, beside the deployment’s row.',
  cloud_drift_ignored: 'Worked out by the sweep.',
  cloud_invoices: 'Written by jobs; what a caller orders is recorded as an act.',
  cloud_project_members: 'Written by jobs alone.',
  cloud_resource_events: 'A log of its own.',
  cloud_resources: 'Every change is an event of the resource, with its actor.',
  cloud_size_prices: 'Written by jobs alone.',
  action_feed: 'Written by jobs alone.',
  cloud_sizes: 'Written by jobs alone.',
  kind_looks: 'Written by jobs alone.',
  look_requests: 'Written by jobs alone.',
  open_actions: 'Written by jobs alone.',
  cost_estimate_lines: 'Written by jobs alone.',
  cost_estimates: 'Written by jobs alone.',
  finding_checks: 'Written by the run of the checks alone.',
  late_usage: 'Which months’ statements are to be compared, for jobs.',
  idempotency_keys: 'Answers kept for a day, sealed.',
  invoice_files: 'Written by ingests alone.',
  metered_hours: 'Written by the metering alone.',
  provisioning_reservations: 'Written by runs alone.',
  resource_versions: 'Written with the resource’s events.',
  saga_step_results: 'Written by runs alone.',
  schema_migrations: 'Written at the start.',
  statements: 'Written by the closing alone.',
  sync_freshness: 'Written by jobs alone.',
  unusual_days: 'Written by the search for them alone.',
  usage_events: 'A log of its own; each request that adds to it is recorded as an act.',
  usage_hours: 'Written by the metering alone.',
  usage_meter_hours: 'What usage events add up to.',
  usage_meter_members: 'What usage events add up to.',
  webhook_attempts: 'Written by the sender alone.',
  webhook_deliveries: 'Written by the outbox; what a caller orders is recorded as an act.',
  webhook_events: 'Written by the outbox.',
}

const root = join(import.meta.dirname, '../..')
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts'))
  .map(file => ({ file: join('src', file), text: readFileSync(join(root, 'src', file), 'utf8') }))

const audited = sources.flatMap(({ file, text }) =>
  [...text.matchAll(/auditedTable\(\s*'(\w+)'/g)].map(match => ({ file, table: match[1]! })),
)

test('every table is declared as audited, once, or it is said why not', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`.execute(
    ctx.db,
  )
  const tables = audited.map(({ table }) => table).concat(Object.keys(UNWATCHED))
  assert.deepEqual(tables.sort(), rows.map(({ name }) => name).sort())
})

/** Functions that write audited tables past their declaration: no caller's request makes these writes, or see the reason. */
const PAST_THE_DECLARATION: Record<string, string> = {
  'api_keys: CORRECT_OWNER_ROLES':
    'What tokens say of the key’s owner, noticed while a caller is being authenticated.',
  'api_keys: UPDATE_OWNER_ROLES': 'As above.',
  'api_keys: touchKey': 'The time of use, which is in no entry.',
  'cloud_deployments: MOVE': 'With its own entry: the guard, the event and the entry are one statement.',
  'cloud_drift: recordMismatches': 'The sweep.',
  'cloud_projects: strikeUnseenProjects': 'The sweep.',
  'cloud_projects: upsertProjects': 'The sweep.',
  'findings: deleteClosedBefore': 'Housekeeping.',
  'findings: statementOf': 'The run of the checks.',
  'plans: takeVersionNumber': 'The counter of versions, which is in no entry.',
  'saga_runs: BEAT': 'The runner.',
  'saga_runs: CLAIM': 'The runner.',
  'saga_runs: COMPENSATED': 'The runner.',
  'saga_runs: GIVE_UP': 'The runner.',
  'saga_runs: MARK_UNKNOWN': 'The runner.',
  'saga_runs: TURN_BACK': 'The runner.',
  'saga_runs: awaitJob': 'The runner.',
  'saga_runs: completing': 'The runner.',
  'saga_runs: INSERT_RUN': 'Followed by recordChange: a run under way makes it insert nothing.',
  'saga_runs: markRescued': 'The rescue.',
  'saga_runs: suspectSilent': 'The rescue.',
  'scheduled_tasks: moveTick': 'The schedule.',
  'scheduled_tasks: upsertTasks': 'The start of the process.',
  'sessions: deleteSessionsBefore': 'Housekeeping.',
  'subscriptions: following': 'With its own entries, in the statement of a deployment’s move.',
  'sync_runs: ours': 'The sweep.',
  'sync_runs: startRun': 'The sweep.',
  'task_runs: beginRun': 'The task itself.',
  'task_runs: deleteRunsBefore': 'Housekeeping.',
  'task_runs: failLostRuns': 'The task itself.',
  'task_runs: finishRun': 'The task itself.',
  'task_runs: noteResult': 'Jobs of the task.',
  'webhooks: recordAttempt': 'The sender, which disables a webhook whose receiver is gone.',
}

test('an audited table is written through its declaration, or by jobs alone', () => {
  const written = new Set<string>()
  for (const { table } of audited) {
    const writes = new RegExp(
      `(insert into|update|delete from|merge into)\\s+(only\\s+)?${table}\\b|(insertInto|updateTable|deleteFrom|mergeInto)\\(\\s*'${table}\\b`,
      'gi',
    )
    for (const { text } of sources)
      for (const { index } of text.matchAll(writes)) {
        const before = text.slice(0, index).matchAll(/^(?:export )?(?:async )?(?:function\*?|const) (\w+)/gm)
        written.add(`${table}: ${[...before].at(-1)?.[1]}`)
      }
  }
  assert.deepEqual([...written].sort(), Object.keys(PAST_THE_DECLARATION).sort())
})

test('every operation that writes left an entry when the examples were recorded', () => {
  const file = join(import.meta.dirname, '../../docs/examples.json')
  const { audited } = JSON.parse(readFileSync(file, 'utf8')) as { audited: string[] }
  assert.deepEqual(audited, writingOperations())
})
