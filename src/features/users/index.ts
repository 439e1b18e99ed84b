// The directory of users: what other features may use.
export { callerAccess } from './access.ts'
export { userRoutes } from './routes.ts'
export { upsertUser } from './store.ts'
export { Email, shownUser, User, type UserRow } from './user.ts'
