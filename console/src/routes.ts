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
  operation: OperationId
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
  { path: '/drift', nav: 'Drift', operation: 'listDrift', load: () => import('./pages/drift.tsx') },
  {
    path: '/drift/ignore-rules',
    operation: 'listIgnoreRules',
    load: () => import('./pages/ignore-rules.tsx'),
  },
  { path: '/drift/:id', operation: 'getDrift', load: () => import('./pages/drift-detail.tsx') },
  { path: '/sagas', nav: 'Sagas', operation: 'listSagas', load: () => import('./pages/sagas.tsx') },
  { path: '/sagas/leaks', operation: 'listSagaLeaks', load: () => import('./pages/leaks.tsx') },
  { path: '/sagas/:id', operation: 'getSaga', load: () => import('./pages/saga.tsx') },
  {
    path: '/projects',
    nav: 'Projects',
    operation: 'listProjects',
    load: () => import('./pages/projects.tsx'),
  },
  { path: '/sweeps', nav: 'Sweeps', operation: 'listSyncRuns', load: () => import('./pages/sweeps.tsx') },
  { path: '/sweeps/:id', operation: 'getSyncRun', load: () => import('./pages/sweep.tsx') },
]
