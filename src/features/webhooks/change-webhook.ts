// A webhook is pointed elsewhere, made to hear of other things, or switched on and off.
import { notFound } from '../../kernel/errors.ts'
import { checkedUrl } from './create-webhook.ts'
import { type ShownWebhook, updateWebhook, type WebhookChange } from './repository.ts'
import type { WebhookKernel } from './webhook-kernel.ts'

export async function changeWebhook(
  kernel: WebhookKernel,
  id: string,
  { url, ...rest }: WebhookChange,
): Promise<ShownWebhook> {
  const change = { ...rest, ...(url !== undefined && { url: checkedUrl(kernel, url) }) }
  const webhook = await updateWebhook(kernel.db, id, change, kernel.clock.now().toISOString())
  if (!webhook) throw notFound()
  return webhook
}
