// The directory of users: what other parts of the service may use.
export { callerAccess } from './caller-access.ts'
export { upsertUser } from './repository.ts'
export { shownUser, userRoutes } from './routes.ts'
export { Email, User } from './schemas.ts'
export type { UserRow } from './tables.ts'
