// The audit log: what other parts of the service may use.
import './tables.ts'

export type { AuditKernel } from './audit-kernel.ts'
export { auditKeys } from './audit-keys.ts'
export { type Document, documentIn, unlikeCopy } from './checkpoint.ts'
export { auditSeal } from './jobs.ts'
export { auditLogRoutes } from './routes.ts'
