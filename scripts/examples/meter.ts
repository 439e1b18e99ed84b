// Hours go by and are metered: what the deployment has used, and what is left of what it pays.
import { runTask } from '../../test/support/billing.ts'
import type { Shop } from './deploy.ts'
import type { Teller } from './recorder.ts'

export async function meter(told: Teller, { deploymentId }: Shop): Promise<void> {
  const { tell, clock } = told
  clock.advance(3 * 3_600_000)
  await runTask(told, 'metering')
  await tell(200, 'GET', `/api/v1/deployments/${deploymentId}/usage`)
  await tell(200, 'GET', '/api/v1/billing/margins')
}
