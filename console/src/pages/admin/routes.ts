// The pages of administration, in the order of the navigation.
import type { Route } from '../../routes.ts'

const within = '/admin'

export const administration: Route[] = [
  { path: '/admin', nav: 'Administration', operation: 'getSession', load: () => import('./admin.tsx') },
  {
    path: '/admin/tasks',
    nav: 'Scheduled tasks',
    within,
    operation: 'listScheduledTasks',
    load: () => import('./tasks.tsx'),
  },
  { path: '/admin/tasks/:name', operation: 'getScheduledTask', load: () => import('./task.tsx') },
  {
    path: '/admin/dead-letters',
    nav: 'Dead letters',
    within,
    operation: 'listDeadLetters',
    load: () => import('./dead-letters.tsx'),
  },
  { path: '/admin/users', nav: 'Users', within, operation: 'listUsers', load: () => import('./users.tsx') },
  { path: '/admin/roles', nav: 'Roles', within, operation: 'listRoles', load: () => import('./roles.tsx') },
  {
    path: '/admin/invitations',
    nav: 'Invitations',
    within,
    operation: 'listInvitations',
    load: () => import('./invitations.tsx'),
  },
  {
    path: '/admin/api-keys',
    nav: 'API keys',
    within,
    operation: 'listApiKeys',
    load: () => import('./api-keys.tsx'),
  },
  {
    path: '/admin/secrets',
    nav: 'Secrets',
    within,
    operation: 'listSecrets',
    load: () => import('./secrets.tsx'),
  },
  {
    path: '/admin/webhooks',
    nav: 'Webhooks',
    within,
    operation: 'listOwnWebhooks',
    load: () => import('./webhooks.tsx'),
  },
  { path: '/admin/webhooks/:id', operation: 'getOwnWebhook', load: () => import('./webhook.tsx') },
  {
    path: '/admin/webhooks/:id/:delivery',
    operation: 'getOwnWebhookDelivery',
    load: () => import('./delivery.tsx'),
  },
  {
    path: '/admin/storage',
    nav: 'Storage backends',
    within,
    operation: 'listStorageBackends',
    load: () => import('./storage.tsx'),
  },
  {
    path: '/admin/audit',
    nav: 'Audit log',
    within,
    operation: 'listAuditLog',
    load: () => import('./audit.tsx'),
  },
  {
    path: '/admin/audit/checkpoints',
    nav: 'Checkpoints',
    within: '/admin/audit',
    operation: 'listAuditCheckpoints',
    load: () => import('./checkpoints.tsx'),
  },
  {
    path: '/admin/audit/:id',
    shows: 'audit entry',
    operation: 'getAuditEntry',
    load: () => import('./audit-entry.tsx'),
  },
]
