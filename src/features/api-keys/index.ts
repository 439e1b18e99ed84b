// API keys: what other parts of the service may use.
export { revokeKeysOf, tellKeys, toldUpTo } from './repository.ts'
export { apiKeyRoutes } from './routes.ts'
export { apiKeyVerifier } from './verify-api-key.ts'
