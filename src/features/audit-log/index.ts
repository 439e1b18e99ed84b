// The audit log: what other parts of the service may use.
export { auditKeys } from '../../kernel/audit-keys.ts'
export { auditSeal } from './chain-entries.ts'
export { type Document, documentIn, unlikeCopy } from './checkpoint.ts'
export { auditLogRoutes } from './routes.ts'
