// Which feature owns which table, and every place where SQL reaches across: the arrows that imports do not show.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../..')

const OWNED: Record<string, string[]> = {
  kernel: ['idempotency_keys', 'schema_migrations', 'pgboss'],
  'api-keys': ['api_keys'],
  'audit-log': ['audit_log', 'audit_seals', 'audit_checkpoints', 'audit_unkeyed'],
  billing: [
    'cloud_accounts',
    ...['cloud_balance_snapshots', 'cloud_invoices', 'cloud_cost_lines', 'cloud_line_assignments'],
    ...['cost_estimates', 'cost_estimate_lines'],
  ],
  budgets: ['budgets', 'budget_looks', 'budget_alerts', 'unusual_days'],
  catalog: ['plans', 'plan_versions', 'plan_items', 'addons', 'resource_prices', 'meters'],
  deployments: ['cloud_deployments', 'cloud_deployment_events'],
  drift: ['cloud_provisioned', 'cloud_drift', 'cloud_drift_ignored', 'drift_ignore_rules'],
  findings: ['findings', 'finding_checks'],
  inventory: [
    ...['cloud_projects', 'cloud_project_members', 'cloud_resources', 'cloud_resource_events'],
    ...['resource_versions', 'sync_runs', 'sync_freshness', 'cloud_sizes', 'cloud_size_prices'],
    ...['action_feed', 'open_actions', 'kind_looks', 'look_requests'],
  ],
  invitations: ['invitations'],
  metering: ['metered_hours', 'usage_hours', 'statements', 'closed_months'],
  provisioning: ['provisioning_reservations'],
  roles: ['roles'],
  sagas: ['saga_runs', 'saga_step_results'],
  'scheduled-tasks': ['scheduled_tasks', 'task_runs'],
  secrets: ['secrets'],
  session: ['sessions'],
  'storage-backends': ['storage_backends', 'invoice_files'],
  subscriptions: ['subscriptions', 'subscription_terms', 'subscription_addons'],
  'usage-events': ['usage_events', 'usage_meter_hours', 'usage_meter_members', 'late_usage'],
  'test-clocks': ['test_clocks'],
  users: ['users'],
  webhooks: ['webhooks', 'webhook_events', 'webhook_deliveries', 'webhook_attempts'],
}

/** Whose SQL names a table of another's, and why; none that is not needed. */
const ARROWS: Record<string, string> = {
  'billing → cloud_deployments': 'a line names a deployment only of the tenant that it is charged to',
  'budgets → cloud_balance_snapshots': 'what the account cost on a day is what its usage grew by',
  'budgets → cloud_cost_lines': 'what tenants and deployments cost is added up for all budgets at once',
  'budgets → cloud_deployments': 'a line of a deployment is its tenant’s',
  'budgets → cloud_invoices': 'a month with an invoice is not estimated any more',
  'budgets → cost_estimate_lines': 'as cloud_cost_lines, before the invoice',
  'budgets → cost_estimates': 'as above, of the whole account',
  'budgets → resource_versions': 'what made a day unusual is what lived on it, against other days',
  'budgets → test_clocks': 'budgets of a tenant under a test clock are looked at by that',
  'dead-letters → pgboss': 'dead letters are jobs, and the queue’s own client cannot page through them',
  'deployments → test_clocks':
    'the service’s metering begins with the first deployment that is not under a test clock',
  'drift → cloud_resource_events': 'the action behind the last event that changed a field',
  'drift → cloud_resources': 'a comparison is one statement over what is desired and what there is',
  'findings → cloud_cost_lines': 'a line that no resource is behind is found among all of the last invoice',
  'findings → cloud_deployment_events': 'since when a deployment is over',
  'findings → cloud_deployments': 'which deployments are over, and whose those are that tags name',
  'findings → cloud_invoices': 'which invoice is the last that was ingested',
  'findings → cloud_projects': 'what is in a tenant’s project, and what in nobody’s',
  'findings → cloud_size_prices': 'what a droplet costs is held against what its plan brings in',
  'findings → cloud_resources': 'a check is one statement over all resources',
  'findings → plan_items': 'what a plan includes, caps and prices, of all deployments at once',
  'findings → plan_versions': 'as above',
  'findings → plans': 'as above',
  'findings → resource_prices': 'as above, where the plan has no price',
  'findings → resource_versions': 'since when a resource has been as it is',
  'findings → subscription_addons': 'as plan_items',
  'findings → subscription_terms': 'as plan_items',
  'findings → subscriptions': 'as plan_items',
  'findings → sync_freshness': 'when a kind was last swept whole',
  'findings → sync_runs': 'since when the sweeps of a kind have failed',
  'inventory → cloud_deployments': 'a tag ties a resource only to a deployment of its own tenant',
  'kernel → audit_log': 'the entry is written in the transaction that causes it, whichever feature that is',
  'metering → cloud_cost_lines':
    'a margin sets what is charged against what the lines cost, by deployment and tenant',
  'metering → cloud_deployments': 'margins are listed by the tenants that have deployments or lines',
  'metering → subscription_terms': 'a statement is made for every subscription that had terms in the month',
  'metering → subscriptions': 'as above',
  'metering → test_clocks': 'hours and months of a tenant under a test clock are left to that',
  'provisioning → cloud_projects': 'a droplet in a project of its tenant is no leak',
  'provisioning → cloud_provisioned': 'what is desired of a droplet tells which run keeps it',
  'provisioning → cloud_resources': 'a plan’s cap counts droplets, and a leak is a droplet that no run keeps',
  'provisioning → saga_runs': 'a reservation lives as long as its run, and a leak is told by its run’s end',
  'provisioning → saga_step_results': 'the step that created a droplet names it',
  'sagas → pgboss': 'a run is lost when its job is no longer active; the comparison is one statement',
  'subscriptions → cloud_deployments': 'whose a subscription is decides which clock its period follows',
  'subscriptions → plan_items': 'what a subscription includes is its plan version’s item of that kind',
  'subscriptions → plan_versions': 'a subscription is shown and charged by its plan version',
  'subscriptions → plans': 'a subscription is shown with its plan’s code',
  'subscriptions → test_clocks': 'as above',
  'test-clocks → cloud_deployments': 'what time it is for a deployment is what it is for its tenant',
  'usage-events → meters': 'hours of a deployment are looked for meter by meter, as their index is',
  'users → roles': 'what a caller may do is read with the user, in one statement for each request',
}

const ownerOf = new Map(
  Object.entries(OWNED).flatMap(([owner, tables]) => tables.map(table => [table, owner])),
)

/** The feature, or the room above features. */
const roomOf = (file: string): string => {
  const [first = '', second = ''] = file.split('/')
  return first === 'features' ? second : first.endsWith('.ts') ? 'top' : first
}

/** Without comments, which name tables in sentences. */
const codeOf = (file: string) =>
  readFileSync(join(root, 'src', file), 'utf8').replaceAll(
    /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$|(?<=\n\s*)--.*$/gm,
    '',
  )

const names = [...ownerOf.keys()].join('|')
/** In SQL, and in calls of Kysely. */
const USES = [
  new RegExp(
    String.raw`\b(?:from|join|into|update|using|table|truncate|only|exists)\s+(?:only\s+)?(?:public\.)?(${names})\b(?!\()`,
    'gi',
  ),
  new RegExp(String.raw`\b\w*(?:from|into|update|table|join|using)\w*\(\s*\[?\s*['"\x60](${names})\b`, 'gi'),
  // The second of a list: `from plans p, plan_versions v`.
  new RegExp(String.raw`\bfrom\s+\w+(?:\s+(?:as\s+)?\w+)?\s*,\s*(?:lateral\s+)?(${names})\b(?!\()`, 'gi'),
]

function usesOf(file: string): string[] {
  const code = codeOf(file)
  const tables = USES.flatMap(pattern => [...code.matchAll(pattern)].map(([, table]) => table!.toLowerCase()))
  return [...new Set(tables)]
}

const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(file =>
  file.endsWith('.ts'),
)

test('every table of the migrations has one owner', () => {
  const folder = join(root, 'migrations')
  const sql = readdirSync(folder)
    .map(file => readFileSync(join(folder, file), 'utf8'))
    .join('\n')
  const made = [...sql.matchAll(/^create table (?:if not exists )?(\w+)/gm)].map(([, table]) => table!)
  const gone = new Set([...sql.matchAll(/^drop table (?:if exists )?(\w+)/gm)].map(([, table]) => table!))
  const known = [...ownerOf.keys()].filter(table => !['schema_migrations', 'pgboss'].includes(table))
  assert.deepEqual(known.sort(), made.filter(table => !gone.has(table)).sort())
})

test('SQL that names a table of another feature is declared, with its reason, and nothing else is', () => {
  const arrows = new Map<string, string>()
  for (const file of files)
    for (const table of usesOf(file)) {
      const room = roomOf(file)
      if (ownerOf.get(table) !== room) arrows.set(`${room} → ${table}`, file)
    }
  const undeclared = [...arrows]
    .filter(([arrow]) => !(arrow in ARROWS))
    .map(([arrow, file]) => `${arrow} (src/${file})`)
  assert.deepEqual(undeclared.sort(), [], 'use the owner, or declare the arrow')
  assert.deepEqual(
    Object.keys(ARROWS).filter(arrow => !arrows.has(arrow)),
    [],
    'declared, and not used any more',
  )
})
