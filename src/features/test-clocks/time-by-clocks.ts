// The time of tenants where there are test clocks: outside of production.
import type { TenantTime } from '../../kernel/tenant-time.ts'
import type { Clock } from '../../kernel/time.ts'
import { clockOfTenant, clocksOfDeployments } from './store.ts'

export const timeByClocks = (clock: Clock): TenantTime => ({
  async of(executor, tenantId) {
    return (await clockOfTenant(executor, tenantId))?.now ?? clock.now()
  },
  async ofDeployment(executor, id) {
    return (await clocksOfDeployments(executor, [id])).get(id) ?? clock.now()
  },
  apart: clocksOfDeployments,
  async openFrom(executor, tenantId) {
    return (await clockOfTenant(executor, tenantId))?.closed_until
  },
})
