// Roles: what other parts of the service may use.
export { permissionsOf, RoleName, refuseBuiltIn, unknownRole } from './role.ts'
export { roleRoutes } from './routes.ts'
export { lockRoleShared } from './store.ts'
