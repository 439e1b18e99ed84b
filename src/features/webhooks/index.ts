// Webhooks: what other parts of the service may use.
export { countPending } from './delivery-store.ts'
export { forgetWebhookEvents, runDeliveries } from './delivery-worker.ts'
export { type EventType, publishEvent, publishEvents, publishing, REASON_FOR_TENANTS } from './events.ts'
export { webhookRoutes } from './routes.ts'
export { encryptedWebhooks, webhookEncryptionOf } from './webhook.ts'
