// Deliveries that an operator asks for: a test, or an event once more.
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { eventOf, holdWebhook, insertDelivery, insertEvent, showDelivery } from './delivery-repository.ts'
import { TEST_EVENT } from './event-types.ts'

export interface Queued {
  id: string
  /** As it is shown, as JSON text. */
  json: string
}

/** An event that nothing caused, for this webhook alone. */
export function testWebhook(kernel: Kernel, webhookId: string): Promise<Queued> {
  return queueDelivery(kernel, webhookId, async (tx, at) => {
    const id = newId()
    const data = JSON.stringify({ tenant_id: null, webhook_id: webhookId })
    await insertEvent(tx, { id, type: TEST_EVENT, tenant_id: null, occurred_at: at, data })
    return id
  })
}

/** The same event under the same id, so that a receiver that has it already can tell. */
export function replayDelivery(kernel: Kernel, webhookId: string, deliveryId: string): Promise<Queued> {
  return queueDelivery(kernel, webhookId, tx => eventOf(tx, webhookId, deliveryId))
}

function queueDelivery(
  { db, clock }: Kernel,
  webhookId: string,
  findEvent: (tx: Executor, at: string) => Promise<string | undefined>,
): Promise<Queued> {
  return transaction(db, async tx => {
    const at = clock.now().toISOString()
    const enabled = await holdWebhook(tx, webhookId)
    if (enabled === undefined) throw notFound()
    const eventId = await findEvent(tx, at)
    if (eventId === undefined) throw notFound()
    if (!enabled) throw conflict('webhook_disabled', 'Nothing is sent while this webhook is switched off.')
    const id = newId()
    await insertDelivery(tx, { id, webhook_id: webhookId, event_id: eventId, created_at: at })
    return { id, json: (await showDelivery(tx, webhookId, id))! }
  })
}
