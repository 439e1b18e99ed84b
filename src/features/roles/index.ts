// Roles: what other parts of the service may use.
export { refuseBuiltIn, unknownRole } from './given-role.ts'
export { isRoleName, permissionsOf, unionOf } from './permissions.ts'
export { holdRole } from './repository.ts'
export { roleRoutes } from './routes.ts'
export { RoleName } from './schemas.ts'
