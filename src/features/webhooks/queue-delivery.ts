// A delivery that somebody asks for, of whichever event: due at once, and only while the webhook is switched on.
import type { Deps } from '../../deps.ts'
import { recordRequest } from '../../kernel/audit.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { holdWebhook, insertDelivery, showDelivery } from './delivery-repository.ts'
import type { Whose } from './repository.ts'

export interface Queued {
  id: string
  /** As it is shown, as JSON text. */
  json: string
}

export function queueDelivery(
  { db, clock }: Deps,
  whose: Whose,
  webhookId: string,
  findEvent: (tx: Executor, at: string, owner: string | null) => Promise<string | undefined>,
): Promise<Queued> {
  return transaction(db, async tx => {
    const at = clock.now().toISOString()
    const webhook = await holdWebhook(tx, whose, webhookId)
    if (!webhook) throw notFound()
    const eventId = await findEvent(tx, at, webhook.owner_tenant_id)
    if (eventId === undefined) throw notFound()
    if (!webhook.enabled)
      throw conflict('webhook_disabled', 'Nothing is sent while this webhook is switched off.')
    const id = newId()
    await recordRequest(tx, {
      subjectType: 'webhook_deliveries',
      subjectId: id,
      details: { webhook_id: webhookId, event_id: eventId },
    })
    await insertDelivery(tx, { id, webhook_id: webhookId, event_id: eventId, created_at: at })
    return { id, json: (await showDelivery(tx, whose, webhookId, id))! }
  })
}
