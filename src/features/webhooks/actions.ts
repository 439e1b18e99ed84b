// Creating, changing and testing webhooks, rotating their secrets, and replaying deliveries. A secret is known when it is
// made and never again.
import type { Deps } from '../../deps.ts'
import { recordRequest } from '../../kernel/audit.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { TEST_EVENT } from './events.ts'
import {
  countOwnWebhooks,
  findEventOfDelivery,
  insertDelivery,
  insertEvent,
  insertWebhook,
  lockWebhook,
  type Owner,
  replaceSecret,
  type ShownWebhook,
  showDelivery,
  updateWebhook,
  type WebhookChanges,
} from './store.ts'
import { newSecret, overlapEnd } from './webhook.ts'

export interface CreateWebhook {
  url: string
  events: string[]
  description?: string | null
  tenant_id?: string | null
  enabled?: boolean
}

/** Every event of a tenant is written once more for each of its webhooks. The platform may have any number. */
export const MOST_OF_ONE_TENANT = 10

type WithSecret = ShownWebhook & { secret: string }

export async function createWebhook(
  deps: Deps,
  createdBy: string,
  /** Null: the platform. A tenant's own gets events of that tenant, whatever `tenant_id` says. */
  ownerTenantId: string | null,
  { url, events, description = null, tenant_id = null, enabled = true }: CreateWebhook,
): Promise<WithSecret> {
  const id = newId()
  const at = deps.clock.now().toISOString()
  const secret = newSecret()
  const row = {
    id,
    url: checkedUrl(deps, url),
    events,
    description,
    owner_tenant_id: ownerTenantId,
    tenant_id: ownerTenantId ?? tenant_id,
    enabled,
    disabled_reason: null,
    secret: deps.webhookEncryption.encrypt(secret, id),
    previous_secret: null,
    previous_secret_expires_at: null,
    created_by: createdBy,
    created_at: at,
    updated_at: at,
  }
  const webhook = await transaction(deps.db, async tx => {
    if (ownerTenantId !== null && (await countOwnWebhooks(tx, ownerTenantId)) >= MOST_OF_ONE_TENANT)
      throw conflict('webhook_limit', `A tenant can have ${MOST_OF_ONE_TENANT} webhooks. Delete one first.`)
    return insertWebhook(tx, row)
  })
  return { ...webhook, secret }
}

export async function changeWebhook(
  deps: Deps,
  owner: Owner,
  id: string,
  { url, ...rest }: WebhookChanges,
): Promise<ShownWebhook> {
  const changes = { ...rest, ...(url !== undefined && { url: checkedUrl(deps, url) }) }
  const at = deps.clock.now().toISOString()
  const webhook = await updateWebhook(deps.db, owner, id, changes, at)
  if (!webhook) throw notFound()
  return webhook
}

/** The URL as a program reads it, so that what is shown is what is called. */
function checkedUrl({ webhookSender }: Deps, url: string): string {
  const refusal = webhookSender.refusal(url)
  if (refusal) throw invalid('The body is not acceptable.', [{ pointer: '/url', message: refusal }])
  return new URL(url).href
}

/** The old secret signs beside the new one for a day: receivers can change over in their own time. */
export async function rotateSecret(
  { db, clock, webhookEncryption }: Deps,
  owner: Owner,
  id: string,
): Promise<WithSecret> {
  const secret = newSecret()
  const now = clock.now()
  const times = { at: now.toISOString(), until: overlapEnd(now) }
  const webhook = await replaceSecret(db, owner, id, webhookEncryption.encrypt(secret, id), times)
  if (!webhook) throw notFound()
  return { ...webhook, secret }
}

export interface Queued {
  id: string
  /** As it is shown, as JSON text. */
  json: string
}

/** Queues an event that nothing caused, for this webhook alone. */
export const testWebhook = (deps: Deps, owner: Owner, webhookId: string): Promise<Queued> =>
  queueDelivery(deps, owner, webhookId, async (tx, occurred_at, tenant_id) => {
    const data = JSON.stringify({ tenant_id, webhook_id: webhookId })
    const event = { id: newId(), type: TEST_EVENT, tenant_id, occurred_at, data }
    await insertEvent(tx, event)
    return event
  })

/** Under the same event id, so that a receiver that has it already can tell. */
export const replayDelivery = (
  deps: Deps,
  owner: Owner,
  webhookId: string,
  deliveryId: string,
): Promise<Queued> =>
  queueDelivery(deps, owner, webhookId, tx => findEventOfDelivery(tx, owner, webhookId, deliveryId))

function queueDelivery(
  { db, clock }: Deps,
  owner: Owner,
  webhookId: string,
  findEvent: (tx: Executor, at: string, tenantId: string | null) => Promise<{ id: string } | undefined>,
): Promise<Queued> {
  return transaction(db, async tx => {
    const at = clock.now().toISOString()
    const webhook = await lockWebhook(tx, owner, webhookId)
    if (!webhook) throw notFound()
    const event = await findEvent(tx, at, webhook.owner_tenant_id)
    if (!event) throw notFound()
    if (!webhook.enabled)
      throw conflict('webhook_disabled', 'Nothing is sent while this webhook is switched off.')
    const id = newId()
    await recordRequest(tx, {
      subjectType: 'webhook_deliveries',
      subjectId: id,
      details: { webhook_id: webhookId, event_id: event.id },
    })
    await insertDelivery(tx, { id, webhook_id: webhookId, event_id: event.id, created_at: at })
    return { id, json: (await showDelivery(tx, owner, webhookId, id))! }
  })
}
