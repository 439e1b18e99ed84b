// A new webhook, and the one moment its secret is known. The platform may have any number, a tenant ten.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { countOwnWebhooks, insertWebhook, type ShownWebhook } from './repository.ts'
import { newSecret, sealSecret } from './webhook-secret.ts'

export interface CreateWebhook {
  url: string
  events: string[]
  description?: string | null
  tenant_id?: string | null
  enabled?: boolean
}

/** Every event of a tenant is written once more for each of them. */
export const MOST_OF_ONE_TENANT = 10

export type WebhookWithSecret = ShownWebhook & { secret: string }

export async function createWebhook(
  deps: Deps,
  createdBy: string,
  /** Null: the platform. A tenant's own hears of that tenant, whatever `tenant_id` says. */
  owner: string | null,
  { url, events, description = null, tenant_id = null, enabled = true }: CreateWebhook,
): Promise<WebhookWithSecret> {
  const at = deps.clock.now().toISOString()
  const webhook: ShownWebhook = {
    id: newId(),
    url: checkedUrl(deps, url),
    events,
    description,
    tenant_id: owner ?? tenant_id,
    enabled,
    disabled_reason: null,
    previous_secret_expires_at: null,
    created_by: createdBy,
    created_at: at,
    updated_at: at,
  }
  const secret = newSecret()
  const sealed = sealSecret(deps.webhookEncryption, webhook.id, secret)
  const row = { ...webhook, owner_tenant_id: owner, secret: sealed, previous_secret: null }
  await transaction(deps.db, async tx => {
    if (owner !== null && (await countOwnWebhooks(tx, owner)) >= MOST_OF_ONE_TENANT)
      throw conflict('webhook_limit', `A tenant can have ${MOST_OF_ONE_TENANT} webhooks. Delete one first.`)
    await insertWebhook(tx, row)
  })
  return { ...webhook, secret }
}

/** The address as a program reads it, so that what is shown is what is called. */
export function checkedUrl({ webhookSender }: Deps, url: string): string {
  const refusal = webhookSender.refusal(url)
  if (refusal) throw invalid('The body is not acceptable.', [{ pointer: '/url', message: refusal }])
  return new URL(url).href
}
