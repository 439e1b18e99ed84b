// A deployment is sold and provisioned; another one is told to stop half-way and ends.
import { eventually } from '../../test/support/eventually.ts'
import { ended } from '../../test/support/sagas.ts'
import type { Teller } from './recorder.ts'

export interface Shop {
  deploymentId: string
  resourceId: string
  dropletId: string
}

const base = '/api/v1/deployments'
const droplet = { size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64', name: 'shop-web-1' }

export async function deploy(told: Teller): Promise<Shop> {
  const { tell, call } = told
  const order = { tenant_id: 'acme', slug: 'shop' }
  const { body: made } = await tell(201, 'POST', base, { body: order })
  await tell('slug_taken', 'POST', base, { body: order })
  await tell('validation_failed', 'POST', base, {
    body: { tenant_id: 'acme', slug: 'My shop', colour: 'red' },
  })
  const deploymentId: string = made.data.id
  const path = `${base}/${deploymentId}`
  await tell('not_subscribed', 'POST', `${path}/change-plan-version`, { body: { plan_code: 'growth' } })
  const subscription = { plan_code: 'starter', addons: ['extra-droplet', { code: 'seat-pack', quantity: 2 }] }
  await tell(200, 'POST', `${path}/subscribe`, { body: { ...subscription, preview: true } })
  await tell(201, 'POST', `${path}/subscribe`, { body: subscription })
  await tell('already_subscribed', 'POST', `${path}/subscribe`, { body: subscription })
  await tell(200, 'PATCH', path, { body: { display_name: 'The shop' } })
  await tell(200, 'POST', `${path}/change-plan-version`, { body: { plan_code: 'growth', preview: true } })
  const pack = { code: 'volume-pack', quantity: 2, effective_from: 'next_period' }
  await tell(200, 'POST', `${path}/addons`, { body: { ...pack, preview: true } })
  const { body: extra } = await tell(201, 'POST', `${path}/addons`, { body: pack })
  await tell('addon_attached', 'POST', `${path}/addons`, { body: { code: 'extra-droplet' } })
  await tell(200, 'DELETE', `${path}/addons/${extra.data.id}?preview=true`)
  await tell(204, 'DELETE', `${path}/addons/${extra.data.id}`)
  for (const plan_code of ['growth', 'starter'])
    await call('POST', `${path}/change-plan-version`, { body: { plan_code } })
  await tell(200, 'GET', base)
  await tell(200, 'GET', `${base}/lifecycle`)

  const { body: run } = await tell(202, 'POST', `${path}/provision`, { body: droplet })
  await ended(told, run.data)
  await tell(200, 'GET', `/api/v1/sagas/${run.data.id}`)
  await tell(200, 'GET', `/api/v1/sagas/${run.data.id}/steps`)
  await tell(200, 'GET', '/api/v1/sagas')
  await tell('saga_ended', 'POST', `/api/v1/sagas/${run.data.id}/cancel`, { body: {} })
  await tell('name_taken', 'POST', `${path}/provision`, { body: droplet })

  const { body: held } = await call('GET', `/api/v1/inventory?deployment_id=${deploymentId}`)
  const { id: resourceId, provider_id: dropletId } = held.data[0]
  await tell(200, 'GET', `/api/v1/inventory/${resourceId}`)
  const { body: balancers } = await call('GET', '/api/v1/inventory?tenant_id=acme&kind=load_balancer')
  const balancer = `/api/v1/inventory/${balancers.data[0].id}`
  await tell(200, 'PATCH', balancer, { body: { deployment_id: deploymentId } })
  await tell(200, 'PATCH', balancer, { body: { deployment_id: null } })
  await tell('tied_by_tag', 'PATCH', `/api/v1/inventory/${resourceId}`, { body: { deployment_id: null } })
  await endAnother(told)
  await tell(200, 'POST', `${path}/transition`, { body: { state: 'paused', reason: 'Stocktaking' } })
  await tell('invalid_transition', 'POST', `${path}/transition`, { body: { state: 'archived' } })
  await tell(200, 'POST', `${path}/transition`, { body: { state: 'active' } })
  const member = await told.tokens.tenant('acme')
  await tell('operator_only', 'POST', `${path}/transition`, { token: member, body: { state: 'past_due' } })
  const hold = { billing_action_suspended: true, billing_action_suspended_reason: 'Disputed invoice' }
  await call('PATCH', path, { body: hold })
  await tell('billing_action_suspended', 'POST', `${path}/transition`, { body: { state: 'suspended' } })
  await call('PATCH', path, { body: { billing_action_suspended: false } })
  await tell(200, 'GET', `${path}/events`)
  await tell(200, 'GET', path)
  return { deploymentId, resourceId, dropletId }
}

/** Cancelled while the provider is busy, then taken down and archived. */
async function endAnother(told: Teller): Promise<void> {
  const { tell, call, sandbox } = told
  const { body } = await call('POST', base, { body: { tenant_id: 'acme', slug: 'blog' } })
  const path = `${base}/${body.data.id}`
  await call('POST', `${path}/subscribe`, { body: { plan_code: 'growth' } })
  const inputs = { deployment_id: body.data.id, size: droplet.size, image: droplet.image }
  const busy = () =>
    sandbox.faults.add({
      fault: 'too_many_requests',
      seconds: 1,
      times: 1,
      match: { path: '/v2/droplets', method: 'POST' },
    })
  busy()
  const { body: run } = await tell(202, 'POST', '/api/v1/sagas', {
    body: { kind: 'provision_deployment', inputs },
  })
  await tell(202, 'POST', `/api/v1/sagas/${run.data.id}/cancel`, { body: {} })
  await ended(told, run.data)

  const { body: down } = await tell(202, 'POST', `${path}/deprovision`, { body: {} })
  await ended(told, down.data)
  await call('POST', `${path}/transition`, { body: { state: 'cancelled' } })
  await tell('deployment_not_provisionable', 'POST', `${path}/provision`, { body: droplet })
  await eventually('nothing is left of it', async () => {
    const left = await call('GET', `/api/v1/inventory?deployment_id=${body.data.id}`)
    return left.body.data.length === 0
  })
}
