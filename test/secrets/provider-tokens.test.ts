// A provider token for each queue, seen from the provider: which token each job comes with.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SANDBOX_TOKEN } from '../../sandbox/provider/server.ts'
import { createContext } from '../../src/context.ts'
import { recordBalance } from '../../src/features/billing/index.ts'
import { QUEUE_NAMES } from '../../src/kernel/queue/queues.ts'
import { buildManagement } from '../../src/management.ts'
import { runTask } from '../support/billing.ts'
import { provision } from '../support/provisioning.ts'
import { ended } from '../support/sagas.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { jobPart, refresh, sweepOne, sweepProjects } from '../support/sweep.ts'

const secret = (queue: string) => `/api/v1/admin/secrets/provider_token/${queue}`
const token = (queue: string) => `dop_v1_of_${queue}`

/** Which tokens came since last time, and the paths they asked for. */
function seen({ sandbox }: Bundle): Record<string, string[]> {
  const found: Record<string, string[]> = {}
  for (const request of sandbox.requests.splice(0)) {
    const [token, path] = [request.token ?? 'none', request.url.split('?')[0]!]
    found[token] = [...new Set([...(found[token] ?? []), path])]
  }
  return found
}

test('each job asks with the token of its queue: balance, sweep, projects, refresh and provisioning', async t => {
  const bundle = await setup(t, { worker: true, provider: { anyToken: true } })
  const { call, sandbox } = bundle
  for (const queue of QUEUE_NAMES)
    assert.equal((await call('PUT', secret(queue), { body: { value: token(queue) } })).status, 201)

  assert.equal((await runTask(bundle, 'balance')).status, 'completed')
  assert.deepEqual(seen(bundle), { [token('cloud_billing')]: ['/v2/customers/my/balance'] })

  await sweepOne(bundle, 'volume')
  assert.deepEqual(seen(bundle), { [token('cloud_sync_full')]: ['/v2/projects/default', '/v2/volumes'] })
  await sweepProjects(bundle)
  const projects = seen(bundle)
  assert.deepEqual(Object.keys(projects), [token('cloud_sync_slow')])
  assert.equal(projects[token('cloud_sync_slow')]![0], '/v2/projects')
  await refresh(bundle, 'droplet', sandbox.world.shelves.droplet.at(0)!.id)
  assert.deepEqual(Object.keys(seen(bundle)), [token('cloud_sync_fast')])

  await call('POST', '/api/v1/catalog/plans', { body: { code: 'pro', name: 'Pro' } })
  const items = [{ resource_kind: 'droplet', included_qty: 1 }]
  await call('POST', '/api/v1/catalog/plans/pro/versions', {
    body: { base_price_cents: 1, currency: 'USD', items },
  })
  await call('POST', '/api/v1/catalog/plans/pro/versions/1/publish')
  const { body } = await call('POST', '/api/v1/deployments', { body: { slug: 'shop', tenant_id: 'acme' } })
  await call('POST', `/api/v1/deployments/${body.data.id}/subscribe`, { body: { plan_code: 'pro' } })
  const run = await ended(bundle, await provision(bundle, body.data.id))
  assert.equal(run.status, 'completed', JSON.stringify(run.error))
  assert.deepEqual(Object.keys(seen(bundle)), [token('provisioning')])
})

test('a new token is used by every process without a restart, and after its deletion the common one again', async t => {
  const bundle = await setup(t, { provider: { token: [SANDBOX_TOKEN, token('cloud_billing')] } })
  const { ctx, call, logged } = bundle
  const { config, engine, clock, log } = ctx
  const other = await createContext({ config, worker: false, engine, clock, log })
  t.after(() => other.jobs.stop(1_000))
  t.after(() => other.providers.close())
  const asked = async () => {
    for (const process of [ctx, other])
      await recordBalance(process).run({ ...jobPart(), id: 'run', attempt: 1 })
    return bundle.sandbox.requests.splice(0).map(request => request.token)
  }
  const common = [SANDBOX_TOKEN, SANDBOX_TOKEN]
  const own = token('cloud_billing')
  assert.deepEqual(await asked(), common)
  await call('PUT', secret('cloud_billing'), { body: { value: own } })
  assert.deepEqual(await asked(), [own, SANDBOX_TOKEN], 'the other process has not looked yet')
  await other.providerTokens.refresh()
  assert.deepEqual(await asked(), [own, own])
  await call('DELETE', secret('cloud_billing'))
  await other.providerTokens.refresh()
  assert.deepEqual(await asked(), common)

  // Sealed under a key that is gone.
  await call('POST', '/api/v1/admin/secrets', { body: { name: 'provider_token/cloud_billing', value: own } })
  await ctx.db.updateTable('secrets').set({ sealed: 'v1.AAAA' }).execute()
  await ctx.providerTokens.refresh()
  assert.deepEqual((await asked())[0], SANDBOX_TOKEN)
  assert.match(logged(), /A PROVIDER TOKEN CANNOT BE READ/)
  assert.ok(!logged().includes(own))
})

test('without DIGITALOCEAN_TOKEN a queue’s own token makes a provider of what was none, and without it there is none again', async t => {
  const bundle = await setup(t, { provider: { anyToken: true }, env: { DIGITALOCEAN_TOKEN: '' } })
  const { call, ctx } = bundle
  const balance = () => recordBalance(ctx).run({ ...jobPart(), id: 'run', attempt: 1 })
  const none = /DIGITALOCEAN_TOKEN is not set, nor the secret provider_token\/cloud_billing/
  await assert.rejects(balance(), none)
  await call('PUT', secret('cloud_billing'), { body: { value: 'only-this-one' } })
  await balance()
  assert.deepEqual(seen(bundle), { 'only-this-one': ['/v2/customers/my/balance'] })
  assert.match(ctx.providers.for('cloud_sync_full').absent ?? '', /provider_token\/cloud_sync_full$/)
  const management = await buildManagement({ ctx, api: undefined, isReady: () => true })
  t.after(() => management.close())
  const left = async () => {
    const { body } = await management.inject({ url: '/metrics', headers: { host: 'localhost' } })
    return body.match(/^cloudops_provider_requests_left\{.*$/gm)
  }
  assert.deepEqual(await left(), ['cloudops_provider_requests_left{queue="cloud_billing"} 5000'])
  await call('DELETE', secret('cloud_billing'))
  assert.equal(await left(), null)
  await assert.rejects(balance(), none)
})
