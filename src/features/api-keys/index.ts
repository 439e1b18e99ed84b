// API keys: what other parts of the service may use.
export { apiKeyRoutes } from './routes.ts'
export { apiKeyVerifier } from './verify-api-key.ts'
