// Browser sessions: what other features may use.
export { sessionRoutes } from './routes.ts'
export { createSessions, encryptedSessions, forgetSessions, sessionEncryptionOf } from './sessions.ts'
