// Before the faults begin: something to sell, the provider mirrored, its invoices fetched, and somebody who listens.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually } from '../../support/eventually.ts'
import type { Owner } from '../../support/lasting.ts'
import type { Client, Json } from './client.ts'
import type { World } from './story.ts'

export interface Receiver {
  url: string
  /** Ids of the events that have arrived. */
  events: Set<string>
}

export async function startReceiver(owner: Owner): Promise<Receiver> {
  const events = new Set<string>()
  const server = createServer((request, response) => {
    events.add(String(request.headers['webhook-id']))
    request.resume().on('end', () => response.writeHead(204).end())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  owner.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, events }
}

export async function prepare({ send, get }: Client, receiver: Receiver): Promise<World> {
  const items = [{ resource_kind: 'droplet', included_qty: 50 }]
  const plans = ['chaos-small', 'chaos-large']
  for (const code of plans) {
    await send('createPlan', { body: { code, name: code } })
    const version = { base_price_cents: 1_000, currency: 'USD', items }
    const { data } = await send('createPlanVersion', { params: { code }, body: version })
    await send('publishPlanVersion', { params: { code, version: String(data.version) }, subject: data.id })
  }
  const events = ['deployment.*', 'saga.*']
  await send('createWebhook', { body: { url: receiver.url, events } })

  const { data: sweep } = await send('runTask', { params: { name: 'resource_sync' } })
  await send('runTask', { params: { name: 'billing_history' }, refusals: ['already_running'] })
  await eventually('the provider is mirrored', async () => {
    const { data } = await get(`/api/v1/inventory/sync-runs?sweep_id=${sweep.id}`)
    return data.length >= 14 && data.every(({ status }: Json) => status === 'complete')
  })
  const invoices = await eventually('the invoices are at finance', async () => {
    const { data } = await get('/api/v1/billing/invoices')
    return data.length > 0 && data.every((one: Json) => one.pushed_to_finance_at) && data
  })
  const ids = async (path: string, which: (row: Json) => boolean = () => true): Promise<string[]> =>
    (await get(path)).data.filter(which).map(({ id }: Json) => id)
  return {
    hook: receiver.url,
    plans,
    invoices: invoices.map(({ id }: Json) => id),
    projects: await ids('/api/v1/projects', ({ purpose }) => purpose === 'unassigned'),
    resources: await ids('/api/v1/inventory?kind=droplet'),
    costLines: await ids('/api/v1/billing/cost-lines?matched=false&limit=20'),
  }
}
