// The audit log: what other parts of the service may use.
import './tables.ts'

export { auditKeys } from '../../kernel/audit-keys.ts'
export { type Document, documentIn, unlikeCopy } from './checkpoint.ts'
export { auditSeal } from './jobs.ts'
export { auditLogRoutes } from './routes.ts'
