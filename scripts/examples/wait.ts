// No worker runs here: what was asked for stays queued, and what may not go beside it is refused.
import { haveIngested } from '../../test/support/billing.ts'
import { see } from '../../test/support/sweep.ts'
import type { Teller } from './recorder.ts'

const droplet = { size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' }

export async function wait(told: Teller): Promise<void> {
  const { tell, call } = told
  const run = '/api/v1/admin/scheduled_tasks/resource_sync/run'
  await tell(202, 'POST', run, { body: {} })
  await tell('already_running', 'POST', run, { body: {} })
  const ingest = `/api/v1/billing/invoices/${await haveIngested(told)}/ingest`
  await call('POST', ingest)
  await tell('already_running', 'POST', ingest, { body: {} })

  const deployment = async (slug: string) => {
    const { body } = await call('POST', '/api/v1/deployments', { body: { tenant_id: 'acme', slug } })
    return `/api/v1/deployments/${body.data.id}`
  }
  const shop = await deployment('shop')
  await call('POST', `${shop}/provision`, { body: droplet })
  await tell('provisioning_under_way', 'POST', `${shop}/deprovision`, { body: {} })
  const wiki = await deployment('wiki')
  await see(told, 'droplet', [{ provider_id: '1', tags: [`deployment:${wiki.split('/').at(-1)}`] }])
  await tell('tag_on_other_resources', 'POST', `${wiki}/deprovision`, { body: {} })
  const blog = await deployment('blog')
  await call('POST', `${blog}/deprovision`)
  await tell('deprovisioning_under_way', 'POST', `${blog}/provision`, { body: droplet })
}
