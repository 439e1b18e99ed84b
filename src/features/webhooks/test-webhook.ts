// An event that nothing caused, for one webhook alone: does it arrive?
import type { Deps } from '../../deps.ts'
import { newId } from '../../kernel/ids.ts'
import { insertEvent } from './delivery-repository.ts'
import { TEST_EVENT } from './event-types.ts'
import { type Queued, queueDelivery } from './queue-delivery.ts'
import type { Whose } from './repository.ts'

export const testWebhook = (deps: Deps, whose: Whose, webhookId: string): Promise<Queued> =>
  queueDelivery(deps, whose, webhookId, async (tx, at, owner) => {
    const id = newId()
    const data = JSON.stringify({ tenant_id: owner, webhook_id: webhookId })
    await insertEvent(tx, { id, type: TEST_EVENT, tenant_id: owner, occurred_at: at, data })
    return id
  })
