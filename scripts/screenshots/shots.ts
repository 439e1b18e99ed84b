// Which pages of the console pictures are taken of.
import type { Page } from 'playwright-core'
import type { Story } from './story.ts'

export interface Shot {
  /** Of the file. */
  name: string
  path: string
  /** Seen by a member of a tenant, or by nobody; unless said so by a platform_admin. */
  by?: 'member' | 'nobody'
  /** A button to press first, by its name. */
  press?: string
  /** What is done then. */
  act?: (page: Page) => Promise<unknown>
  /** Looked at, but in no document. */
  review?: true
}

export const shots = (story: Story): Shot[] => [
  ...mirror(story),
  ...deployments(story),
  ...money(story),
  ...administration(story),
]

/** Its heading at the top of the window. */
const scrolledTo = (name: string) => async (page: Page) => {
  await page.getByRole('region', { name, exact: true }).evaluate(element => element.scrollIntoView())
  await page.evaluate('scrollBy(0, -16)')
}

/** The story begins twelve days ago. */
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()

const mirror = ({ resource, related, drift, finding, sweep }: Story): Shot[] => [
  { name: 'sign-in', path: '/', by: 'nobody' },
  { name: 'overview', path: '/' },
  { name: 'overview-of-a-tenant', path: '/', by: 'member', review: true },
  { name: 'inventory', path: '/inventory' },
  { name: 'inventory-of-a-tenant', path: '/inventory', by: 'member', review: true },
  { name: 'inventory-then', path: `/inventory?at=${daysAgo(7)}` },
  { name: 'changes', path: `/inventory/changes?from=${daysAgo(11)}&to=${daysAgo(0)}` },
  { name: 'resource', path: `/inventory/${resource}` },
  { name: 'relations', path: `/inventory/${related}`, act: scrolledTo('What belongs to it') },
  { name: 'resource-then', path: `/inventory/${resource}?at=${daysAgo(7)}`, review: true },
  { name: 'drift', path: '/drift' },
  { name: 'drift-detail', path: `/drift/${drift}`, review: true },
  { name: 'findings', path: '/findings' },
  { name: 'findings-of-a-tenant', path: '/findings', by: 'member', review: true },
  { name: 'finding', path: `/findings/${finding}` },
  { name: 'snooze', path: `/findings/${finding}`, press: 'Snooze…', review: true },
  { name: 'ignore-rules', path: '/drift/ignore-rules', review: true },
  { name: 'projects', path: '/projects', review: true },
  { name: 'assign-project', path: '/projects', press: 'Assign acme' },
  { name: 'sweeps', path: '/sweeps' },
  { name: 'sweep', path: `/sweeps/${sweep}`, review: true },
]

const choosePlan = async (page: Page) => {
  await page.getByRole('dialog').getByLabel('To').selectOption('plan:growth')
  await page.getByRole('button', { name: 'Preview' }).click()
}

const deployments = ({ deployment, wiki, saga }: Story): Shot[] => [
  { name: 'deployments', path: '/deployments', review: true },
  { name: 'new-deployment', path: '/deployments', press: 'New deployment' },
  { name: 'deployment', path: `/deployments/${deployment}` },
  { name: 'deployment-of-a-tenant', path: `/deployments/${deployment}`, by: 'member', review: true },
  { name: 'month', path: `/deployments/${wiki}`, act: scrolledTo('Usage') },
  { name: 'wiki', path: `/deployments/${wiki}`, review: true },
  { name: 'change-plan', path: `/deployments/${deployment}`, press: 'Change plan', act: choosePlan },
  { name: 'add-addon', path: `/deployments/${deployment}`, press: 'Add addon', review: true },
  { name: 'call-off', path: `/deployments/${deployment}`, press: 'Call off: Plan', review: true },
  { name: 'provision', path: `/deployments/${deployment}`, press: 'Provision' },
  { name: 'catalog', path: '/catalog' },
  { name: 'new-meter', path: '/catalog', press: 'New meter', review: true },
  { name: 'plan', path: '/catalog/starter' },
  { name: 'new-draft', path: '/catalog/growth', press: 'New draft' },
  { name: 'publish', path: '/catalog/starter', press: 'Publish' },
  { name: 'sagas', path: '/sagas', review: true },
  { name: 'saga', path: `/sagas/${saga}` },
  { name: 'leaks', path: '/sagas/leaks', review: true },
]

const money = ({ invoice, statement }: Story): Shot[] => [
  { name: 'statements', path: '/money/statements' },
  { name: 'statements-of-a-tenant', path: '/money/statements', by: 'member', review: true },
  { name: 'statement', path: `/money/statements/${statement}` },
  { name: 'costs', path: '/money' },
  { name: 'costs-by-day', path: '/money?granularity=day&from=2026-10&to=2026-10&and_by=kind', review: true },
  { name: 'costs-of-a-tenant', path: '/money', by: 'member' },
  { name: 'invoices', path: '/money/invoices' },
  { name: 'invoice', path: `/money/invoices/${invoice}` },
  { name: 'cost-lines', path: '/money/lines', review: true },
  { name: 'unmatched', path: '/money/unmatched' },
  { name: 'margins', path: '/money/margins' },
  { name: 'budgets', path: '/money/budgets', review: true },
  { name: 'new-budget', path: '/money/budgets', press: 'Create a budget', review: true },
  { name: 'balance', path: '/money/balance' },
]

const administration = ({ webhook, delivery, auditEntry }: Story): Shot[] => [
  { name: 'administration', path: '/admin', review: true },
  { name: 'tasks', path: '/admin/tasks' },
  { name: 'task', path: '/admin/tasks/resource_sync', review: true },
  { name: 'dead-letters', path: '/admin/dead-letters', review: true },
  { name: 'users', path: '/admin/users', review: true },
  { name: 'roles', path: '/admin/roles', review: true },
  { name: 'new-role', path: '/admin/roles', press: 'Create a role', review: true },
  { name: 'invitations', path: '/admin/invitations', review: true },
  { name: 'api-keys', path: '/admin/api-keys', review: true },
  { name: 'secrets', path: '/admin/secrets', review: true },
  { name: 'new-secret', path: '/admin/secrets', press: 'Create a secret' },
  { name: 'webhooks', path: '/admin/webhooks', review: true },
  { name: 'webhook', path: `/admin/webhooks/${webhook}`, review: true },
  { name: 'delivery', path: `/admin/webhooks/${webhook}/${delivery}`, review: true },
  { name: 'storage', path: '/admin/storage', review: true },
  { name: 'audit', path: '/admin/audit', review: true },
  { name: 'audit-entry', path: `/admin/audit/${auditEntry}`, review: true },
  { name: 'checkpoints', path: '/admin/audit/checkpoints', review: true },
  { name: 'administration-of-a-tenant', path: '/admin', by: 'member', review: true },
]
