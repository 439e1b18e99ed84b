// What webhooks need beside the kernel: the way out, and what seals their secrets.
import type { WebhookSender } from '../../integrations/webhooks/index.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import type { Seal } from '../../kernel/sealed.ts'

export interface WebhookKernel extends Kernel {
  webhookSender: WebhookSender
  webhookSeal: Seal
}
