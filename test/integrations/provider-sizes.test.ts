// The provider's sizes and list prices: numbers read as the decimals they are, and what cannot be read left out with words.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decimalOf, listPriceOf } from '../../src/integrations/digitalocean/index.ts'
import { setup } from './scripted-provider.ts'

const SIZE = {
  slug: 's-1vcpu-1gb',
  memory: 1024,
  vcpus: 1,
  disk: 25,
  transfer: 0.5,
  price_monthly: 6,
  price_hourly: 0.00743999984115362,
  regions: ['nyc1', 'ams3'],
  available: true,
  description: 'Basic',
}

const page = (sizes: unknown[]) => ({ body: { sizes, meta: { total: sizes.length }, links: {} } })

test('a price that has been through 32 bits is the decimal that was meant, any other is what it says', () => {
  for (const [number, decimal] of [
    [0.00743999984115362, '0.00744'],
    [0.00893, '0.00893'],
    [3.39, '3.39'],
    [2522.16, '2522.16'],
    [5, '5'],
    [0, '0'],
    [0.125, '0.125'],
    [0.1, '0.1'],
    [Math.fround(0.1), '0.1'],
    [16_777_217, '16777217'],
    [Math.fround(123.456789), '123.45679'],
    [0.0000001, '0.0000001'],
    [0.123456789012345, '0.123456789012345'],
  ] as const)
    assert.equal(decimalOf(number), decimal)
})

test('sizes are read with their prices as exact decimals and their regions in order', async t => {
  const { provider } = await setup(t, () => page([SIZE]))
  const { items, complete, odd } = await provider.sizes()
  assert.deepEqual(items, [
    {
      slug: 's-1vcpu-1gb',
      description: 'Basic',
      vcpus: 1,
      memory_mb: 1024,
      disk_gb: 25,
      transfer_tb: '0.5',
      price_monthly: '6',
      price_hourly: '0.00744',
      regions: ['ams3', 'nyc1'],
      available: true,
    },
  ])
  assert.deepEqual([complete, odd], [true, null])
})

test('a size that makes no sense is left out and named, and the others are read', async t => {
  for (const [wrong, why] of [
    [{ price_monthly: '6' }, 'size odd has no usable price_monthly'],
    [{ price_hourly: -1 }, 'size odd has no usable price_hourly'],
    [{ price_monthly: 1_000_000_001 }, 'size odd has no usable price_monthly'],
    [{ memory: 0.5 }, 'size odd has no usable memory'],
    [{ vcpus: 2_000_000_001 }, 'size odd has no usable vcpus'],
    [{ disk: -1 }, 'size odd has no usable disk'],
    [{ slug: 'two words' }, 'a size has a slug that cannot be used'],
  ] as const) {
    const { provider } = await setup(t, () => page([{ ...SIZE, slug: 'odd', ...wrong }, SIZE]))
    const { items, odd } = await provider.sizes()
    assert.deepEqual([items.map(({ slug }) => slug), odd], [['s-1vcpu-1gb'], why])
  }
})

test('a size may lack what is not a number, and the limits are included', async t => {
  const bare = { ...SIZE, description: 7, regions: null, available: 'yes', disk: 2_000_000_000, transfer: 0 }
  const { provider } = await setup(t, () => page([{ ...bare, price_monthly: 1_000_000_000 }]))
  const { items } = await provider.sizes()
  const { description, regions, available, disk_gb, transfer_tb, price_monthly } = items[0]!
  assert.deepEqual(
    [description, regions, available, disk_gb, transfer_tb, price_monthly],
    [null, [], false, 2_000_000_000, '0', '1000000000'],
  )
})

test('resources are priced by what the provider counts of them, and what is free or has other plans is not', () => {
  const custom = { type: 'custom', size_gigabytes: 2.34 }
  for (const [kind, attrs, priced, name = 'name'] of [
    ['volume', { size_gigabytes: 100 }, ['volume-gib', '100']],
    ['volume', {}, null],
    ['volume', { size_gigabytes: 0 }, null],
    ['volume', { size_gigabytes: 1_000_000_001 }, null],
    ['volume', { size_gigabytes: 1_000_000_000 }, ['volume-gib', '1000000000']],
    ['snapshot', { size_gigabytes: 2.34 }, ['snapshot-gib', '2.34']],
    ['image', custom, ['image-gib', '2.34']],
    ['image', { ...custom, type: 'snapshot' }, null],
    ['load_balancer', { size_unit: 3 }, ['load-balancer-node', '3']],
    ['load_balancer', {}, ['load-balancer-node', '1']],
    ['load_balancer', { type: 'REGIONAL_NETWORK', size_unit: 2 }, ['network-load-balancer-node', '2']],
    ['load_balancer', { type: 'GLOBAL', size_unit: 2 }, ['global-load-balancer', '1']],
    ['reserved_ip', { droplet: null }, ['reserved-ip-unassigned', '1'], '45.55.96.47'],
    ['reserved_ip', { droplet: { id: 1 } }, null, '45.55.96.47'],
    ['reserved_ip', { droplet: null }, null, '2409:40d0::1'],
    ['kubernetes_cluster', { ha: true }, ['kubernetes-ha', '1']],
    ['kubernetes_cluster', { ha: false }, null],
    ['registry', { subscription: { tier: { slug: 'basic' } } }, ['registry-basic', '1']],
    ['registry', { subscription: { tier: { slug: 'professional' } } }, ['registry-professional', '1']],
    ['registry', { subscription: { tier: { slug: 'starter' } } }, null],
    ['registry', {}, null],
    ['droplet', { size_slug: 's-1vcpu-1gb' }, null],
    ['database', { size: 'db-s-1vcpu-1gb' }, null],
  ] as const) {
    const found = listPriceOf(kind, attrs, name)
    assert.deepEqual(found && [found.sku, found.quantity], priced, `${kind} ${JSON.stringify(attrs)}`)
  }
})
