// Every page: its path, the file it is in, and the operation without which it shows nothing. Those with `nav` are in the
// navigation, in this order, for whoever may call the operation; the first of them is where `/` leads.
import type { ComponentType } from 'preact'
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
  { path: '/inventory/:id', operation: 'getResource', load: () => import('./pages/resource.tsx') },
  {
    path: '/deployments',
    nav: 'Deployments',
    operation: 'listDeployments',
    load: () => import('./pages/deployments.tsx'),
  },
  { path: '/deployments/:id', operation: 'getDeployment', load: () => import('./pages/deployment.tsx') },
  { path: '/catalog', nav: 'Catalog', operation: 'listPlans', load: () => import('./pages/catalog.tsx') },
  { path: '/catalog/:code', operation: 'getPlan', load: () => import('./pages/plan.tsx') },
  {
    path: '/money',
    nav: 'Money',
    operation: ['listCosts', 'listOwnCosts'],
    load: () => import('./pages/costs.tsx'),
  },
  { path: '/money/invoices', operation: 'listInvoices', load: () => import('./pages/invoices.tsx') },
  { path: '/money/invoices/:id', operation: 'getInvoice', load: () => import('./pages/invoice.tsx') },
  {
    path: '/money/lines',
    operation: ['listCostLines', 'listOwnCostLines'],
    load: () => import('./pages/cost-lines.tsx'),
  },
  { path: '/money/margins', operation: 'listMargins', load: () => import('./pages/margins.tsx') },
  { path: '/money/balance', operation: 'getBalance', load: () => import('./pages/balance.tsx') },
]
