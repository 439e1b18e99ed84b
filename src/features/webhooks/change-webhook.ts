// A webhook is pointed elsewhere, made to hear of other things, or switched on and off.
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { checkedUrl } from './create-webhook.ts'
import { type ShownWebhook, updateWebhook, type WebhookChange, type Whose } from './repository.ts'
import type { WebhookKernel } from './webhook-kernel.ts'

export async function changeWebhook(
  kernel: WebhookKernel,
  whose: Whose,
  id: string,
  { url, ...rest }: WebhookChange,
): Promise<ShownWebhook> {
  const change = { ...rest, ...(url !== undefined && { url: checkedUrl(kernel, url) }) }
  const at = kernel.clock.now().toISOString()
  const webhook = await transaction(kernel.db, tx => updateWebhook(tx, whose, id, change, at))
  if (!webhook) throw notFound()
  return webhook
}
