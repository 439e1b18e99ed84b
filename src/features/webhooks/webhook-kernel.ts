// What webhooks need beside the kernel: the way out, and what seals their secrets.
import type { WebhookSender } from '../../integrations/webhooks/index.ts'
import type { Encryption } from '../../kernel/crypto.ts'
import type { Kernel } from '../../kernel/kernel.ts'

export interface WebhookKernel extends Kernel {
  webhookSender: WebhookSender
  webhookEncryption: Encryption
}
