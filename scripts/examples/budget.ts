// A budget for the shop is made, looked at and changed; its threshold is reached.
import { runTask } from '../../test/support/billing.ts'
import type { Shop } from './deploy.ts'
import type { Teller } from './recorder.ts'

export async function budget(told: Teller, { deploymentId }: Shop): Promise<void> {
  const { tell, call, tokens } = told
  const base = '/api/v1/budgets'
  const thresholds = [
    { percent: 80, on: 'actual' },
    { percent: 100, on: 'forecast' },
  ]
  const wish = {
    name: 'The shop',
    deployment_id: deploymentId,
    amount_minor: 3000,
    currency: 'USD',
    thresholds,
  }
  const { body: made } = await tell(201, 'POST', base, { body: wish })
  const path = `${base}/${made.data.id}`
  await runTask(told, 'budgets')
  await tell(200, 'GET', base)
  await tell(200, 'GET', path)
  await tell(200, 'GET', `${path}/alerts`)
  await runTask(told, 'unusual_days')
  await tell(200, 'GET', `${base}/unusual-days`)
  await tell(200, 'PATCH', path, { body: { amount_minor: 5000 } })
  await tell(204, 'DELETE', path)

  const own = { name: 'One more', tenant_id: 'acme', amount_minor: 1000 }
  const token = await tokens.tenant('acme')
  for (let count = 0; count < 100; count++) await call('POST', base, { body: own })
  await tell('budget_limit', 'POST', base, { body: own, token })
}
