// Somebody changes a droplet by hand: drift is found and accepted. One is lost, one is left behind by nobody's saga.
import { runTask } from '../../test/support/billing.ts'
import { sweepAll } from '../../test/support/sweep.ts'
import type { Shop } from './deploy.ts'
import type { Teller } from './recorder.ts'

export async function drift(told: Teller, { resourceId, dropletId }: Shop): Promise<void> {
  const { tell, call, ctx } = told
  const simulated = (method: string, path: string, body?: object) =>
    fetch(`${ctx.config.DIGITALOCEAN_API_URL}/__sandbox/resources/droplet${path}`, {
      method,
      headers: body && { 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    })

  await simulated('PATCH', `/${dropletId}`, { memory: 4096 })
  await simulated('POST', '', { name: 'left-behind', tags: ['saga:01980000-0000-7000-8000-000000000000'] })
  await sweepAll(told)
  await runTask(told, 'drift_detection')
  const { body: found } = await tell(200, 'GET', '/api/v1/drift')
  const path = `/api/v1/drift/${found.data[0].id}`
  await tell(200, 'GET', path)
  await tell(200, 'POST', `${path}/accept`, { body: {} })
  await tell('drift_not_open', 'POST', `${path}/accept`, { body: {} })
  await tell(200, 'GET', `/api/v1/inventory/${resourceId}/events`)
  await tell(200, 'GET', '/api/v1/sagas/leaks')

  const rules = '/api/v1/drift/ignore-rules'
  const rule = { kind: 'droplet', field: 'tags', reason: 'Tags are the autoscaler’s.' }
  const { body: made } = await tell(201, 'POST', rules, { body: rule })
  await tell(200, 'GET', rules)
  await tell(200, 'GET', `${rules}/${made.data.id}`)
  await tell(204, 'DELETE', `${rules}/${made.data.id}`)

  const { body: left } = await call('GET', '/api/v1/inventory?name=left-behind')
  const adopted = `/api/v1/inventory/${left.data[0].id}/desired-state`
  const spec = { name: 'left-behind', region: 'nyc3', memory: 1024 }
  await tell(200, 'PUT', adopted, { body: { spec } })
  await tell(204, 'DELETE', adopted)
  await simulated('DELETE', `/${left.data[0].provider_id}`)
  for (let sweep = 0; sweep < 3; sweep++) await sweepAll(told)
  await tell('resource_gone', 'PUT', adopted, { body: { spec } })
  await tell('resource_gone', 'PATCH', `/api/v1/inventory/${left.data[0].id}`, {
    body: { deployment_id: null },
  })
}
