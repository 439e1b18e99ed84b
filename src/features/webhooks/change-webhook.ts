// A webhook is pointed elsewhere, made to hear of other things, or switched on and off.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { checkedUrl } from './create-webhook.ts'
import { type ShownWebhook, updateWebhook, type WebhookChange, type Whose } from './repository.ts'

export async function changeWebhook(
  deps: Deps,
  whose: Whose,
  id: string,
  { url, ...rest }: WebhookChange,
): Promise<ShownWebhook> {
  const change = { ...rest, ...(url !== undefined && { url: checkedUrl(deps, url) }) }
  const at = deps.clock.now().toISOString()
  const webhook = await transaction(deps.db, tx => updateWebhook(tx, whose, id, change, at))
  if (!webhook) throw notFound()
  return webhook
}
