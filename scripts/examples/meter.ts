// Hours go by and are metered: what the deployment has used, and what is left of what it pays. When the month is over, its
// prices stay.
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
  await tell(200, 'GET', '/api/v1/billing/margins')

  const now = clock.now().toISOString()
  clock.set('2026-12-01T09:00:00Z')
  const prices = '/api/v1/catalog/resource-prices'
  const { body } = await call('GET', `${prices}?resource_kind=droplet&on=2026-11-15`)
  const { id, created_at, ...price } = body.data[0]
  await tell('month_finished', 'PATCH', `${prices}/${id}`, { body: { effective_to: '2026-11-10' } })
  await tell('month_finished', 'POST', prices, { body: { ...price, currency: 'EUR' } })
  clock.set(now)
}
