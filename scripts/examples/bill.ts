// The provider's invoices: listed, their lines matched and assigned, pushed to finance; one that cannot be fetched.
import { sql } from 'kysely'
import { runTask, whenFetched } from '../../test/support/billing.ts'
import { eventually } from '../../test/support/eventually.ts'
import type { Shop } from './deploy.ts'
import type { Teller } from './recorder.ts'

const base = '/api/v1/billing'

export async function bill(told: Teller, { deploymentId }: Shop): Promise<void> {
  const { tell, call, sandbox } = told
  await runTask(told, 'balance')
  await tell(200, 'GET', `${base}/balance`)
  await tell(200, 'GET', `${base}/balance/history`)

  const oldest = sandbox.world.billing.invoices(sandbox.clock.now()).at(-1)!
  const path = `/v2/customers/my/invoices/${oldest.uuid}/csv`
  sandbox.faults.add({ fault: 'server_error', times: 1_000, match: { path } })
  await runTask(told, 'billing_history')
  const { body: listed } = await call('GET', `${base}/invoices`)
  const lost = listed.data.find(({ invoice_uuid }: { invoice_uuid: string }) => invoice_uuid === oldest.uuid)
  await tell('not_ingested', 'POST', `${base}/invoices/${lost.id}/push`, { body: {} })
  await deadLetter(told)
  sandbox.faults.clear()
  await whenFetched(told)

  const newest = `${base}/invoices/${listed.data[0].id}`
  await eventually('finance knows it', async () => {
    const { body } = await call('GET', newest)
    return body.data.finance_action === 'created'
  })
  await tell(200, 'GET', `${base}/invoices`)
  const { body: invoice } = await tell(200, 'GET', newest)
  await tell(202, 'POST', `${newest}/ingest`, { body: {} })
  await tell(202, 'POST', `${newest}/push`, { body: {} })

  const { period } = invoice.data
  await tell(200, 'GET', `${base}/cost-lines?kind=droplet&matched=true`)
  await tell(200, 'GET', `${base}/cost-lines?kind=droplet`, { headers: { accept: 'text/csv' } })
  const { body: unmatched } = await call('GET', `${base}/cost-lines?matched=false`)
  const line = `${base}/cost-lines/${unmatched.data[0].id}/assign`
  await tell(200, 'POST', line, { body: { deployment_id: deploymentId } })
  await tell(200, 'GET', `${base}/summary?period=${period}`)
  await tell(200, 'GET', `${base}/focus?period=${period}`)
  await tell(200, 'GET', `${base}/costs?to=${period}&group_by=kind`)
  await tell(200, 'GET', `${base}/costs?to=${period}&group_by=kind`, { headers: { accept: 'text/csv' } })
  // The same, as tenants have it.
  await runTask(told, 'cost_estimate')
  await tell(200, 'GET', `${base}/costs/estimate`)
  await tell(200, 'GET', `${base}/costs/estimates`)
  await tell(200, 'GET', '/api/v1/costs/estimate')
  await tell(200, 'GET', '/api/v1/costs/lines?kind=droplet&limit=2')
  await tell(200, 'GET', '/api/v1/costs/lines?kind=droplet', { headers: { accept: 'text/csv' } })
  await tell(200, 'GET', `/api/v1/costs/summary?period=${period}`)
  await tell(200, 'GET', `/api/v1/costs/focus?period=${period}`)
  await tell(200, 'GET', `/api/v1/costs?to=${period}&group_by=tenant`)
  await tell(200, 'GET', `/api/v1/costs?to=${period}&group_by=tenant`, { headers: { accept: 'text/csv' } })
  await tell(200, 'DELETE', line)
}

/** The job that fetches fails until it is given up; an operator puts it back. */
async function deadLetter({ tell, call, ctx, sandbox }: Teller): Promise<void> {
  const letters = '/api/v1/admin/dead_letters'
  await eventually(
    'the job is given up',
    async () => {
      await sql`update pgboss.job set start_after = now() - interval '1 hour' where state = 'retry'`.execute(
        ctx.db,
      )
      return (await call('GET', letters)).body.data.length > 0
    },
    60_000,
  )
  const { body } = await tell(200, 'GET', letters)
  sandbox.faults.clear()
  await tell(204, 'POST', `${letters}/${body.data[0].id}/retry`, { body: {} })
}
