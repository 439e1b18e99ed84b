// Hours go by and are metered: what the deployment has used, and what is left of what it pays. When the month is over, its
// prices stay; three days later it is closed.
import { runTask } from '../../test/support/billing.ts'
import type { Shop } from './deploy.ts'
import type { Teller } from './recorder.ts'

export async function meter(told: Teller, { deploymentId }: Shop): Promise<void> {
  const { tell, call, clock } = told
  clock.advance(3 * 3_600_000)
  const event = (id: string, type: string, value: number) => ({
    ...{ specversion: '1.0', id, source: '/gateway/fra1', type, subject: deploymentId },
    ...{ time: clock.now().toISOString(), data: { value } },
  })
  const events = [
    event('0001', 'llm_tokens', 1_250_000),
    event('0002', 'seats', 4),
    event('0003', 'words', 1),
  ]
  await tell(202, 'POST', '/api/v1/usage-events', { body: events })
  await runTask(told, 'metering')
  await tell(200, 'GET', `/api/v1/deployments/${deploymentId}/usage`)
  await tell(200, 'GET', `/api/v1/deployments/${deploymentId}/usage/days`)
  await tell(200, 'GET', '/api/v1/billing/margins')

  const now = clock.now().toISOString()
  clock.set('2026-12-01T09:00:00Z')
  const prices = '/api/v1/catalog/resource-prices'
  const { body } = await call('GET', `${prices}?resource_kind=droplet&on=2026-11-15`)
  const { id, created_at, ...price } = body.data[0]
  await tell('month_finished', 'PATCH', `${prices}/${id}`, { body: { effective_to: '2026-11-10' } })
  await tell('month_finished', 'POST', prices, { body: { ...price, currency: 'EUR' } })

  clock.set('2026-12-04T09:00:00Z')
  await runTask(told, 'metering')
  const { body: closed } = await tell(200, 'GET', `/api/v1/deployments/${deploymentId}/statements`)
  await tell(200, 'GET', '/api/v1/statements?period=2026-11')
  const statement = `/api/v1/statements/${closed.data[0].id}`
  await tell(200, 'GET', statement)
  await tell(200, 'GET', statement, { headers: { accept: 'text/csv' } })
  const version = { base_price_cents: 2400, currency: 'USD', items: [] }
  const catalog = { plans: [{ code: 'starter', name: 'Starter', version }] }
  await tell(200, 'POST', '/api/v1/catalog/backtest', { body: { catalog, months: 1 } })
  const late = { tenant_id: 'acme', slug: 'moved-in' }
  await tell('month_closed', 'POST', '/api/v1/deployments', { body: { ...late, created_at: '2026-11-20' } })
  const { body: made } = await call('POST', '/api/v1/deployments', { body: late })
  await tell('month_closed', 'POST', `/api/v1/deployments/${made.data.id}/subscribe`, {
    body: { plan_code: 'starter', effective_from: '2026-11-20' },
  })
  clock.set(now)
}
