// The events that webhooks can hear of, and the patterns that choose among them.

/** What happens in the service. The triggers of the outbox write these names, and `publishEvent` the last. */
export const EVENT_TYPES = [
  'deployment.transitioned',
  'resource.discovered',
  'resource.updated',
  'resource.deleted',
  'resource.restored',
  'resource.drift_detected',
  'resource.tagged',
  'drift.opened',
  'drift.accepted',
  'drift.stale',
  'saga.completed',
  'saga.failed',
  'saga.rolled_back',
  'invoice.ingested',
  'invoice.ingest_failed',
  'invoice.pushed',
  'audit.checkpoint',
] as const

/** Sent when an operator asks for it, to one webhook, whatever that one chose. */
export const TEST_EVENT = 'webhook.test'

/** What happens in the platform as a whole, and is no tenant's. */
const PLATFORM_FAMILIES = ['invoice', 'audit']

const FAMILIES = [...new Set(EVENT_TYPES.map(type => type.slice(0, type.indexOf('.'))))]

/** `*` for all, `drift.*` for a family, or one type. */
export const PATTERNS = ['*', ...FAMILIES.map(family => `${family}.*`), ...EVENT_TYPES]

/** Those that can be a tenant's; `*` is all of these. */
export const TENANT_PATTERNS = PATTERNS.filter(pattern => !PLATFORM_FAMILIES.includes(pattern.split('.')[0]!))
