// API keys: what other parts of the service may use.
export { knowOthersThan, revokeKeysOf, tellKeys, tellKeysOfEqual, toldUpTo } from './repository.ts'
export { apiKeyRoutes } from './routes.ts'
export { apiKeyVerifier } from './verify-api-key.ts'
