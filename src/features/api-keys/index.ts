// API keys: what other parts of the service may use.
export { revokeKeysOf, TOLD_UP_TO, tellKeys } from './repository.ts'
export { apiKeyRoutes } from './routes.ts'
export { apiKeyVerifier } from './verify-api-key.ts'
