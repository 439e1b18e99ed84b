// What the secrets need beside the kernel: the keys they are sealed with, and who is to hear of a new provider token.
import type { Kernel } from '../../kernel/kernel.ts'
import type { ProviderTokens } from './provider-tokens.ts'
import type { Vault } from './vault.ts'

export interface SecretsKernel extends Kernel {
  vault: Vault
  providerTokens: Pick<ProviderTokens, 'refresh'>
}
