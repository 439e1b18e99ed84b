// The provider is mirrored, and a tenant gets its project.
import { runTask } from '../../test/support/billing.ts'
import { sweepAll } from '../../test/support/sweep.ts'
import type { Teller } from './recorder.ts'

export async function mirror(told: Teller): Promise<void> {
  const { tell, tokens, call } = told
  await tell(200, 'GET', '/api/health', { token: null })
  const token = await tokens.tenant('acme')
  const { headers } = await tell(200, 'POST', '/api/v1/session', { token, body: {} })
  await tell(200, 'GET', '/api/v1/session', { token })
  const cookie = headers.get('set-cookie')!.split(';')[0]!
  await tell(204, 'DELETE', '/api/v1/session', { token, body: {}, headers: { cookie } })

  const sync = '/api/v1/admin/scheduled_tasks/resource_sync'
  const runs = await sweepAll(told)
  const { body: swept } = await tell(200, 'GET', `${sync}/runs`)
  await tell(200, 'GET', `${sync}/runs/${swept.data[0].id}`)
  await runTask(told, 'size_sync')
  await tell(200, 'GET', '/api/v1/inventory/sizes')
  await tell(200, 'GET', '/api/v1/inventory/sizes/s-1vcpu-1gb/prices')
  await tell(200, 'GET', '/api/v1/inventory/sync-runs?kind=droplet')
  const droplets = runs.get('droplet')!
  await tell(200, 'GET', `/api/v1/inventory/sync-runs/${droplets.id}`)
  await tell('nothing_held', 'POST', `/api/v1/inventory/sync-runs/${droplets.id}/confirm`, { body: {} })

  const { body: projects } = await call('GET', '/api/v1/projects')
  const { id } = projects.data.find(({ name }: { name: string }) => name === 'acme')
  const path = `/api/v1/projects/${id}`
  await tell(200, 'PATCH', path, { body: { tenant_id: 'acme', purpose: 'tenant' } })
  const acme = await tokens.tenant('acme')
  await tell(200, 'GET', '/api/v1/projects', { token: acme })
  await tell(200, 'GET', path, { token: acme })
  const { body: droplet } = await tell(200, 'GET', '/api/v1/inventory?kind=droplet', { token: acme })
  await tell(200, 'GET', `/api/v1/inventory/${droplet.data[0].id}/owners`, { token: acme })
  await tell(200, 'GET', `/api/v1/inventory/${droplet.data[0].id}/relations?depth=2`)
  const day = 'from=2026-11-15T00:00:00Z&to=2026-11-16T00:00:00Z'
  await tell(200, 'GET', `/api/v1/inventory/changes?${day}&limit=2`)
  await tell('forbidden', 'PATCH', path, { token: acme, body: { purpose: 'shared' } })
  await tell('unauthenticated', 'GET', path, { token: null })
  await tell('not_found', 'GET', '/api/v1/projects/01980000-0000-7000-8000-000000000000')
}
