// What the rest of the service may use of the sender of webhooks. It knows no feature and no database.
export {
  createWebhookSender,
  type DeliveryOutcome,
  SECRET_PREFIX,
  type WebhookMessage,
  type WebhookSender,
} from './sender.ts'
