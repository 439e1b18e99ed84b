// Every page: its path, the file it is in, and the operation without which it shows nothing. Those with `nav` are in the
// navigation, in this order, for whoever may call the operation; the first of them is where `/` leads. The command palette
// has all of them.
import type { ComponentType } from 'preact'
import { administration } from './pages/admin/routes.ts'
import type { OperationId } from './session.tsx'

/** What a page is given: the parts of its path. */
export interface PageProps {
  params: Record<string, string>
}

export interface Route {
  path: string
  /** Several: one of them is enough, as where tenants have a path of their own. */
  operation: OperationId | OperationId[]
  nav?: string
  /** The page under which the navigation has it, while that or one of its pages is open. */
  within?: string
  /** What a page with an id in its path shows: the command palette opens it by a typed id. */
  shows?: string
  load: () => Promise<{ default: ComponentType<PageProps> }>
}

export const routes: Route[] = [
  { path: '/', nav: 'Overview', operation: 'getOverview', load: () => import('./pages/overview.tsx') },
  {
    path: '/inventory',
    nav: 'Inventory',
    operation: 'listResources',
    load: () => import('./pages/inventory.tsx'),
  },
  {
    path: '/inventory/changes',
    nav: 'What changed',
    within: '/inventory',
    operation: 'listResourceChanges',
    load: () => import('./pages/changes.tsx'),
  },
  {
    path: '/inventory/:id',
    shows: 'resource',
    operation: 'getResource',
    load: () => import('./pages/resource.tsx'),
  },
  {
    path: '/deployments',
    nav: 'Deployments',
    operation: 'listDeployments',
    load: () => import('./pages/deployments.tsx'),
  },
  {
    path: '/deployments/:id',
    shows: 'deployment',
    operation: 'getDeployment',
    load: () => import('./pages/deployment.tsx'),
  },
  { path: '/catalog', nav: 'Catalog', operation: 'listPlans', load: () => import('./pages/catalog.tsx') },
  { path: '/catalog/:code', operation: 'getPlan', load: () => import('./pages/plan.tsx') },
  { path: '/drift', nav: 'Drift', operation: 'listDrift', load: () => import('./pages/drift.tsx') },
  {
    path: '/drift/ignore-rules',
    operation: 'listIgnoreRules',
    load: () => import('./pages/ignore-rules.tsx'),
  },
  {
    path: '/drift/:id',
    shows: 'drift',
    operation: 'getDrift',
    load: () => import('./pages/drift-detail.tsx'),
  },
  {
    path: '/findings',
    nav: 'Findings',
    operation: 'listFindings',
    load: () => import('./pages/findings.tsx'),
  },
  {
    path: '/findings/:id',
    shows: 'finding',
    operation: 'getFinding',
    load: () => import('./pages/finding.tsx'),
  },
  { path: '/sagas', nav: 'Sagas', operation: 'listSagas', load: () => import('./pages/sagas.tsx') },
  { path: '/sagas/leaks', operation: 'listSagaLeaks', load: () => import('./pages/leaks.tsx') },
  { path: '/sagas/:id', shows: 'saga', operation: 'getSaga', load: () => import('./pages/saga.tsx') },
  {
    path: '/projects',
    nav: 'Projects',
    operation: 'listProjects',
    load: () => import('./pages/projects.tsx'),
  },
  { path: '/sweeps', nav: 'Sweeps', operation: 'listSyncRuns', load: () => import('./pages/sweeps.tsx') },
  { path: '/sweeps/:id', shows: 'sweep', operation: 'getSyncRun', load: () => import('./pages/sweep.tsx') },
  {
    path: '/money',
    nav: 'Money',
    operation: ['listCosts', 'listOwnCosts'],
    load: () => import('./pages/costs.tsx'),
  },
  {
    path: '/money/statements',
    nav: 'Statements',
    within: '/money',
    operation: 'listAllStatements',
    load: () => import('./pages/statements.tsx'),
  },
  {
    path: '/money/statements/:id',
    shows: 'statement',
    operation: 'getStatement',
    load: () => import('./pages/statement.tsx'),
  },
  {
    path: '/money/invoices',
    nav: 'Invoices',
    within: '/money',
    operation: 'listInvoices',
    load: () => import('./pages/invoices.tsx'),
  },
  {
    path: '/money/invoices/:id',
    shows: 'invoice',
    operation: 'getInvoice',
    load: () => import('./pages/invoice.tsx'),
  },
  {
    path: '/money/lines',
    nav: 'Cost lines',
    within: '/money',
    operation: ['listCostLines', 'listOwnCostLines'],
    load: () => import('./pages/cost-lines.tsx'),
  },
  {
    path: '/money/unmatched',
    nav: 'Unmatched lines',
    within: '/money',
    operation: 'listCostLines',
    load: () => import('./pages/cost-lines.tsx'),
  },
  {
    path: '/money/margins',
    nav: 'Margins',
    within: '/money',
    operation: 'listMargins',
    load: () => import('./pages/margins.tsx'),
  },
  {
    path: '/money/budgets',
    nav: 'Budgets',
    within: '/money',
    operation: 'listBudgets',
    load: () => import('./pages/budgets.tsx'),
  },
  {
    path: '/money/budgets/:id',
    shows: 'budget',
    operation: 'getBudget',
    load: () => import('./pages/budget.tsx'),
  },
  {
    path: '/money/balance',
    nav: 'Balance',
    within: '/money',
    operation: 'getBalance',
    load: () => import('./pages/balance.tsx'),
  },
  ...administration,
]
