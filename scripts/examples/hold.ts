// A listing that suddenly lacks a hundred snapshots: their deletion is held until an operator confirms it. There is no
// finance service here.
import { haveIngested } from '../../test/support/billing.ts'
import { see, sweepAll } from '../../test/support/sweep.ts'
import type { Teller } from './recorder.ts'

const SNAPSHOTS = 120

export async function hold(told: Teller): Promise<void> {
  const { tell } = told
  const snapshots = Array.from({ length: SNAPSHOTS }, (_, index) => ({ provider_id: `snapshot-${index}` }))
  await see(told, 'snapshot', snapshots)
  const confirm = (run?: { id: string }) => `/api/v1/inventory/sync-runs/${run?.id}/confirm`
  const sweep = async () => (await sweepAll(told)).get('snapshot')
  await sweep()
  await sweep()
  const third = await sweep()
  const fourth = await sweep()
  await tell('superseded', 'POST', confirm(third), { body: {} })
  await tell(200, 'POST', confirm(fourth), { body: {} })
  await tell('already_confirmed', 'POST', confirm(fourth), { body: {} })
  const invoice = await haveIngested(told)
  await tell('finance_not_configured', 'POST', `/api/v1/billing/invoices/${invoice}/push`, { body: {} })
}
