// A webhook of the platform, then one of a tenant, is made and tried, its secret rotated, an event delivered, and delivered once more.
import { deliverDue } from '../../src/features/webhooks/delivery-worker.ts'
import type { Teller } from './recorder.ts'

export async function notify(teller: Teller): Promise<void> {
  await notifyAt(teller, '/api/v1/admin/webhooks', 'shop')
  const own = '/api/v1/webhooks'
  await notifyAt(teller, own, 'shop-2')
  const wish = { url: 'https://hooks.example.com/cloudops', events: ['*'], tenant_id: 'acme' }
  for (let made = 0; made < 10; made++) await teller.call('POST', own, { body: wish })
  await teller.tell('webhook_limit', 'POST', own, { body: wish })
}

async function notifyAt({ tell, call, ctx }: Teller, base: string, slug: string): Promise<void> {
  const url = 'https://hooks.example.com/cloudops'
  const wish = { url, events: ['deployment.*', 'drift.opened'], description: 'Operations', tenant_id: 'acme' }
  const { body: made } = await tell(201, 'POST', base, { body: wish })
  const path = `${base}/${made.data.id}`
  await tell(200, 'GET', base)
  await tell(200, 'POST', `${path}/rotate-secret`, { body: {} })

  const order = { tenant_id: 'acme', slug }
  const { body: shop } = await call('POST', '/api/v1/deployments', { body: order })
  await call('POST', `/api/v1/deployments/${shop.data.id}/transition`, { body: { state: 'paused' } })
  // Nobody is called: the answer is made up.
  const answer = { status_code: 200, error: null, response_body: 'thank you', duration_ms: 84 }
  await deliverDue({ ...ctx, webhookSender: { ...ctx.webhookSender, send: async () => answer } })
  const { body: listed } = await tell(200, 'GET', `${path}/deliveries`)
  const delivery = `${path}/deliveries/${listed.data[0].id}`
  await tell(200, 'GET', delivery)
  await tell(202, 'POST', `${delivery}/replay`, { body: {} })
  await tell(202, 'POST', `${path}/test`, { body: {} })

  await tell(200, 'PATCH', path, { body: { enabled: false } })
  await tell(200, 'GET', path)
  await tell('webhook_disabled', 'POST', `${path}/test`, { body: {} })
  await tell(204, 'DELETE', path)
}
