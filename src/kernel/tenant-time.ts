// What time it is for a tenant: the service's time, but for tenants under a test clock. Everything that counts by a tenant's time
// (deployments, subscriptions, usage, statements) asks here; what really happened (audit log, resources, jobs) has the service's.
import type { Executor } from './db/tables.ts'
import type { Clock } from './time.ts'

export interface TenantTime {
  of(executor: Executor, tenantId: string): Promise<Date>
  /** For the tenant of a deployment. */
  ofDeployment(executor: Executor, deploymentId: string): Promise<Date>
  /** Of the deployments those whose tenant has a clock of its own. All hours before its time are metered. */
  apart(executor: Executor, deploymentIds: readonly string[]): Promise<ReadonlyMap<string, Date>>
  /** The first moment in no closed month of the tenant's clock, null where none is closed; undefined: it has none. */
  openFrom(executor: Executor, tenantId: string): Promise<string | null | undefined>
}

const NOBODY: ReadonlyMap<string, Date> = new Map()

/** In production there is one time for all, and nothing is asked of the database. */
export const oneTimeForAll = (clock: Clock): TenantTime => ({
  of: async () => clock.now(),
  ofDeployment: async () => clock.now(),
  apart: async () => NOBODY,
  openFrom: async () => undefined,
})
