// Secrets: what other parts of the service may use.
export { encryptedSecrets } from './encrypted-secrets.ts'
export { watchProviderTokens } from './provider-tokens.ts'
export { secretRoutes } from './routes.ts'
export { tokenSecret } from './secret-name.ts'
export type { SecretsKernel } from './secrets-kernel.ts'
export { createVault } from './vault.ts'
