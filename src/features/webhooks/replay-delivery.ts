// An event once more: under the same id, so that a receiver that has it already can tell.
import type { Kernel } from '../../kernel/kernel.ts'
import { eventOf } from './delivery-repository.ts'
import { type Queued, queueDelivery } from './queue-delivery.ts'
import type { Whose } from './repository.ts'

export const replayDelivery = (
  kernel: Kernel,
  whose: Whose,
  webhookId: string,
  deliveryId: string,
): Promise<Queued> => queueDelivery(kernel, whose, webhookId, tx => eventOf(tx, webhookId, deliveryId))
