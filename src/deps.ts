// What features work with. Each takes this, or names the parts it needs; none knows the process around it.
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Policy } from './features/findings/index.ts'
import type { Providers } from './integrations/digitalocean/index.ts'
import type { Finance } from './integrations/finance/index.ts'
import type { Storage } from './integrations/storage/index.ts'
import type { WebhookSender } from './integrations/webhooks/index.ts'
import type { AuditKeys } from './kernel/audit-keys.ts'
import type { Encryption } from './kernel/crypto.ts'
import type { Engine } from './kernel/db/engine.ts'
import type { Tables } from './kernel/db/tables.ts'
import type { Metrics } from './kernel/metrics.ts'
import type { Jobs } from './kernel/queue/jobs.ts'
import type { TenantTime } from './kernel/tenant-time.ts'
import type { Clock } from './kernel/time.ts'
import type { Vault } from './kernel/vault.ts'

export interface Deps {
  engine: Engine
  db: Kysely<Tables>
  jobs: Jobs
  clock: Clock
  /** The clock's, but for tenants under a test clock. */
  tenantTime: TenantTime
  log: Logger
  metrics: Metrics
  /** Whose the platform's own project and users are. */
  platformTenantId: string
  /** How long something may be so before it is a finding. */
  findingPolicy: Policy
  providers: Providers
  /** Makes this process use a provider token that was changed just now. */
  providerTokens: { refresh(): Promise<void> }
  /** Undefined when none is configured: then nothing is pushed, and nothing fails. */
  finance: Finance | undefined
  storage: Storage
  storageEncryption: Encryption
  vault: Vault
  webhookSender: WebhookSender
  webhookEncryption: Encryption
  auditKeys: AuditKeys
}
