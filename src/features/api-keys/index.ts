// API keys: what other features may use.
export { apiKeyRoutes } from './routes.ts'
export {
  correctOwnerRoles,
  ownerRolesDiffer,
  ownerTokenSeen,
  revokeKeysOf,
  updateOwnerRoles,
} from './store.ts'
export { apiKeyVerifier } from './verify.ts'
