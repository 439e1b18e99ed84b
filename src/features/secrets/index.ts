// Secrets: what other parts of the service may use.
export { createVault } from '../../kernel/vault.ts'
export { watchProviderTokens } from './provider-tokens.ts'
export { secretRoutes } from './routes.ts'
export { encryptedSecrets, tokenSecret } from './secret.ts'
