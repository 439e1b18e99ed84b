// Invitations: what other parts of the service may use.
export { isRolePromised } from './is-role-promised.ts'
export { invitationRoutes } from './routes.ts'
