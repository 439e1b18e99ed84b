// What the rest of the service may use of the sender of webhooks. It knows no feature and no database.
export { createWebhookSender, type Message, type Outcome, type WebhookSender } from './sender.ts'
export { SECRET_PREFIX } from './signature.ts'
