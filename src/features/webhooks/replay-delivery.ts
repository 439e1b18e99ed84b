// An event once more: under the same id, so that a receiver that has it already can tell.
import type { Deps } from '../../deps.ts'
import { eventOf } from './delivery-repository.ts'
import { type Queued, queueDelivery } from './queue-delivery.ts'
import type { Whose } from './repository.ts'

export const replayDelivery = (
  deps: Deps,
  whose: Whose,
  webhookId: string,
  deliveryId: string,
): Promise<Queued> => queueDelivery(deps, whose, webhookId, tx => eventOf(tx, webhookId, deliveryId))
