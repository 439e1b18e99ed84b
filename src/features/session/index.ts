// Browser sessions: what other parts of the service may use.
import './tables.ts'

export { sessionRoutes } from './routes.ts'
export { createSessions, encryptedSessions, forgetSessions, sessionEncryptionOf } from './sessions.ts'
