// The audit log: what other parts of the service may use.
export { auditLogRoutes } from './routes.ts'
export { auditSeal } from './seal-entries.ts'
