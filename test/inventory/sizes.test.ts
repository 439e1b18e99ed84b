// The provider's sizes and list prices in the mirror, and how prices change over time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sizeSync } from '../../src/features/inventory/index.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { jobPart } from '../support/sweep.ts'

const sync = ({ ctx }: Bundle) => sizeSync(ctx).run({ ...jobPart(), id: 'run', attempt: 1 })
const base = '/api/v1/inventory/sizes'

test('every size of the provider is mirrored page by page, with its list price', async t => {
  const bundle = await setup(t, { provider: {}, providerLimits: { perPage: 5 } })
  bundle.clock.set('2026-11-16T08:00:00Z')
  await sync(bundle)
  const { body } = await bundle.call('GET', base)
  assert.equal(body.data.length, bundle.sandbox.world.sizes.length)
  assert.equal(bundle.sandbox.requests.filter(({ url }) => url?.startsWith('/v2/sizes')).length, 3)
  assert.deepEqual(
    body.data.find(({ slug }: { slug: string }) => slug === 's-2vcpu-4gb'),
    {
      provider: 'digitalocean',
      slug: 's-2vcpu-4gb',
      description: 'Basic',
      vcpus: 2,
      memory_mb: 4096,
      disk_gb: 80,
      transfer_tb: '4',
      price_monthly: '24',
      price_hourly: '0.03571',
      currency: 'USD',
      regions: ['ams3', 'fra1', 'lon1', 'nyc1', 'nyc3', 'sfo3', 'sgp1', 'tor1'],
      available: true,
      first_seen_at: '2026-11-16T08:00:00.000Z',
      last_seen_at: '2026-11-16T08:00:00.000Z',
    },
  )
  const { body: gpus } = await bundle.call('GET', `${base}?region=tor1&available=true&limit=1`)
  assert.deepEqual([gpus.data[0].slug, gpus.next_cursor === null], ['c-2', false])
  const { body: next } = await bundle.call('GET', `${base}?region=tor1&limit=1&cursor=${gpus.next_cursor}`)
  assert.equal(next.data[0].slug, 'c-4')
})

test('a price that changes is another row, what is seen unchanged is not, and what is no longer listed stays', async t => {
  const bundle = await setup(t, { provider: {} })
  const { clock, sandbox, call } = bundle
  const times = ['2026-11-16T08:00:00.000Z', '2026-11-16T09:00:00.000Z', '2026-11-16T10:00:00.000Z'] as const
  const size = sandbox.world.sizes.find(({ slug }) => slug === 's-1vcpu-1gb')!
  clock.set(times[0])
  await sync(bundle)
  clock.set(times[1])
  await sync(bundle)
  clock.set(times[2])
  Object.assign(size, { price_monthly: 7, price_hourly: 0.01042 })
  sandbox.world.sizes.splice(
    sandbox.world.sizes.findIndex(({ slug }) => slug === 'c-2'),
    1,
  )
  await sync(bundle)
  const { body: prices } = await call('GET', `${base}/s-1vcpu-1gb/prices`)
  assert.deepEqual(prices.data, [
    { valid_from: times[2], valid_to: null, price_monthly: '7', price_hourly: '0.01042', currency: 'USD' },
    {
      valid_from: times[0],
      valid_to: times[2],
      price_monthly: '6',
      price_hourly: '0.00893',
      currency: 'USD',
    },
  ])
  const { body } = await call('GET', base)
  const seen = (wanted: string) => {
    const { price_monthly, last_seen_at } = body.data.find(({ slug }: { slug: string }) => slug === wanted)
    return [price_monthly, last_seen_at]
  }
  assert.deepEqual(seen('s-1vcpu-1gb'), ['7', times[2]])
  assert.deepEqual(seen('c-2'), ['42', times[1]])
})

test('a list of sizes that is not whole is kept as far as it came, and the task says so', async t => {
  const bundle = await setup(t, { provider: {} })
  bundle.sandbox.faults.add({ fault: 'wrong_total', by: 1, match: { path: '/v2/sizes' } })
  await assert.rejects(sync(bundle), /the list of sizes is not whole/)
  Object.assign(bundle.sandbox.world.sizes[0]!, { price_monthly: '4' })
  await assert.rejects(
    sync(bundle),
    /a size was left out: size s-1vcpu-512mb-10gb has no usable price_monthly/,
  )
  const { body } = await bundle.call('GET', base)
  assert.equal(body.data.length, bundle.sandbox.world.sizes.length)
})

test('list prices are the operators’, and a size that is not known is not found', async t => {
  const { call, tokens } = await setup(t)
  const token = await tokens.tenant('acme')
  assert.equal((await call('GET', base, { token })).status, 403)
  assert.equal((await call('GET', `${base}/c-2/prices`, { token })).status, 403)
  assert.equal((await call('GET', `${base}/c-2/prices`)).status, 404)
})
