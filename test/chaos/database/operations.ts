// Every operation of the API that writes, and what it leaves behind when it is done: an entry of the audit log, and often
// a row. Method, path and whether it honours an Idempotency-Key are read from the API's description.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Effect {
  table: string
  action: 'created' | 'updated' | 'deleted' | 'requested'
  /** The row's key as the audit log has it; null: the log knows it by another one. */
  id: string | null
  /** The row's key as the API has it. */
  row: string
  /** It need not have changed anything: what it asks for may have been so. */
  maybe: boolean
}

interface Sent {
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  data: any
  params: Record<string, string>
  subject?: string
  action?: Effect['action']
}

interface Operation {
  effects?: ((sent: Sent) => Effect)[]
  /** Of what takes no key: codes that, after an attempt with an unknown outcome, mean that it was that one that did it. */
  already?: string[]
  /** Why no story sends it. */
  left_out?: string
}

const of =
  (
    table: string,
    action: Effect['action'],
    { unlogged = false, maybe = false, answered = action === 'created' } = {},
  ) =>
  ({ data, params, subject, action: said }: Sent): Effect => {
    const own = data?.key_id ?? data?.id ?? data?.name
    const row = subject ?? (answered ? own : (Object.values(params).at(-1) ?? own))
    return { table, action: said ?? action, id: unlogged ? null : row, row, maybe }
  }
const made = (table: string, how?: { unlogged?: boolean }): Operation => ({
  effects: [of(table, 'created', how)],
})
const changed = (table: string, how?: { maybe?: boolean; unlogged?: boolean }): Operation => ({
  effects: [of(table, 'updated', how)],
})
const ended = (table: string, how?: { unlogged?: boolean }): Operation => ({
  effects: [of(table, 'deleted', how)],
  already: ['not_found'],
})

const newUser = ({ data }: Sent): Effect => ({
  ...{ table: 'users', action: 'created', id: null, row: data?.id, maybe: false },
})

const table = {
  startSession: {},
  endSession: {},
  confirmHeldDeletions: {
    left_out: 'Deletions are held after three sweeps that miss a hundred resources: chaos:sweeps does that.',
  },
  assignResource: {
    left_out: 'It needs resources in a tenant’s project and without a tag: chaos:tenancy has those.',
  },
  assignProject: changed('cloud_projects'),
  acceptDrift: changed('cloud_drift'),
  createIgnoreRule: made('drift_ignore_rules'),
  deleteIgnoreRule: ended('drift_ignore_rules'),
  putDesiredState: changed('cloud_provisioned'),
  deleteDesiredState: ended('cloud_provisioned'),
  createPlan: made('plans'),
  renamePlan: changed('plans'),
  createPlanVersion: made('plan_versions'),
  replacePlanVersion: changed('plan_versions'),
  deletePlanVersion: ended('plan_versions'),
  publishPlanVersion: changed('plan_versions'),
  createAddon: made('addons'),
  changeAddon: changed('addons'),
  createMeter: made('meters'),
  renameMeter: changed('meters'),
  createResourcePrice: made('resource_prices'),
  endResourcePrice: changed('resource_prices'),
  backtestCatalog: { left_out: 'It writes nothing.' },
  createDeployment: made('cloud_deployments'),
  changeDeployment: changed('cloud_deployments'),
  transitionDeployment: changed('cloud_deployments'),
  subscribeDeployment: made('subscriptions'),
  changePlanVersion: changed('subscriptions'),
  addAddon: made('subscription_addons'),
  removeAddon: { ...changed('subscription_addons'), already: ['not_found'] },
  startSaga: made('saga_runs'),
  // A run that is turning back by itself is not told to.
  cancelSaga: changed('saga_runs', { maybe: true }),
  provisionDeployment: made('saga_runs'),
  deprovisionDeployment: made('saga_runs'),
  ingestInvoice: { effects: [of('cloud_invoices', 'requested')] },
  pushInvoice: { effects: [of('cloud_invoices', 'requested')] },
  assignCostLine: made('cloud_line_assignments', { unlogged: true }),
  unassignCostLine: {
    effects: [of('cloud_line_assignments', 'deleted', { unlogged: true })],
    already: ['not_found'],
  },
  // Its events are known by their own names: sent again, they change nothing and leave no entry.
  sendUsageEvents: {},
  createTestClock: made('test_clocks'),
  advanceTestClock: changed('test_clocks'),
  deleteTestClock: { ...changed('test_clocks'), already: ['not_found'] },
  createBudget: made('budgets'),
  changeBudget: changed('budgets'),
  deleteBudget: ended('budgets'),
  snoozeFinding: changed('findings'),
  // Tried again, it finds the snooze ended.
  endFindingSnooze: changed('findings', { maybe: true }),
  runTask: made('task_runs'),
  pauseTask: changed('scheduled_tasks'),
  resumeTask: changed('scheduled_tasks'),
  retryDeadLetter: { left_out: 'There are no dead letters here: one would be a finding.' },
  createApiKey: made('api_keys'),
  revokeApiKey: changed('api_keys'),
  rotateApiKey: made('api_keys'),
  testWebhook: { effects: [of('webhook_deliveries', 'requested', { answered: true })] },
  replayWebhookDelivery: { effects: [of('webhook_deliveries', 'requested', { answered: true })] },
  createWebhook: made('webhooks'),
  changeWebhook: changed('webhooks'),
  deleteWebhook: ended('webhooks'),
  rotateWebhookSecret: changed('webhooks'),
  testOwnWebhook: { effects: [of('webhook_deliveries', 'requested', { answered: true })] },
  replayOwnWebhookDelivery: { effects: [of('webhook_deliveries', 'requested', { answered: true })] },
  createOwnWebhook: made('webhooks'),
  changeOwnWebhook: changed('webhooks'),
  deleteOwnWebhook: ended('webhooks'),
  rotateOwnWebhookSecret: changed('webhooks'),
  createSecret: made('secrets'),
  putSecret: changed('secrets'),
  deleteSecret: ended('secrets'),
  createStorageBackend: made('storage_backends'),
  changeStorageBackend: changed('storage_backends'),
  deleteStorageBackend: ended('storage_backends'),
  activateStorageBackend: changed('storage_backends'),
  deactivateStorageBackend: changed('storage_backends'),
  // It changes nothing, and takes no key: asked twice, it is recorded twice.
  checkStorageBackend: {},
  createRole: made('roles'),
  changeRole: changed('roles'),
  deleteRole: ended('roles'),
  createUser: made('users', { unlogged: true }),
  changeUser: changed('users', { unlogged: true }),
  deleteUser: ended('users', { unlogged: true }),
  createInvitation: made('invitations'),
  revokeInvitation: changed('invitations'),
  acceptInvitation: { effects: [of('invitations', 'updated'), newUser] },
} satisfies Record<string, Operation>

export type OperationName = keyof typeof table
export const OPERATIONS: Record<OperationName, Operation> = table

interface Described {
  method: string
  path: string
  keyed: boolean
}

interface Document {
  paths: Record<string, Record<string, { operationId: string; parameters?: { in: string; name: string }[] }>>
}

const described = new Map<string, Described>()

export function describedWrites(): ReadonlyMap<string, Described> {
  if (described.size > 0) return described
  const file = join(import.meta.dirname, '../../../docs/openapi.json')
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as Document
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { operationId, parameters = [] }] of Object.entries(methods)) {
      if (method === 'get') continue
      const keyed = parameters.some(({ in: place, name }) => place === 'header' && name === 'Idempotency-Key')
      described.set(operationId, { method: method.toUpperCase(), path, keyed })
    }
  }
  return described
}

export const operationOf = (name: OperationName): Described => describedWrites().get(name)!
