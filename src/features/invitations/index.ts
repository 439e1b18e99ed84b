// Invitations: what other parts of the service may use.
export { isRolePromised } from './actions.ts'
export { invitationRoutes } from './routes.ts'
