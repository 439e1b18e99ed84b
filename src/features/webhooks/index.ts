// Webhooks: what other parts of the service may use.
import './tables.ts'

export { countPending } from './dispatch-repository.ts'
export { forgetWebhookEvents } from './forget-events.ts'
export { webhookRoutes } from './routes.ts'
export { tellWebhooks } from './tell-webhooks.ts'
export { watchOutbox } from './watch-outbox.ts'
export type { WebhookKernel } from './webhook-kernel.ts'
export { encryptedWebhooks, webhookEncryptionOf } from './webhook-secret.ts'
