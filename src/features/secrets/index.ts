// Secrets: what other parts of the service may use.

export { createVault } from '../../kernel/vault.ts'
export { encryptedSecrets } from './encrypted-secrets.ts'
export { watchProviderTokens } from './provider-tokens.ts'
export { secretRoutes } from './routes.ts'
export { tokenSecret } from './secret-name.ts'
