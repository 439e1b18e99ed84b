// Webhooks: what other parts of the service may use.
import './tables.ts'

export { countPending } from './dispatch-repository.ts'
export { REASON_FOR_TENANTS } from './event-for-tenant.ts'
export { forgetWebhookEvents } from './forget-events.ts'
export { type EventType, publishEvent, publishEvents, publishing } from './publish-events.ts'
export { webhookRoutes } from './routes.ts'
export { watchOutbox } from './watch-outbox.ts'
export { encryptedWebhooks, webhookEncryptionOf } from './webhook-secret.ts'
