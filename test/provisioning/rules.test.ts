// The rules of provisioning, without a database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  defaultDropletName,
  desiredSpec,
  HOSTNAME,
  LONGEST_HOSTNAME,
  planFull,
  planLimit,
  refusedState,
  sagaActor,
  sagaTag,
  tenantProjectName,
} from '../../src/features/provisioning/provisioning.ts'

const item = (included_qty: number, overage: boolean, hard_cap_qty: number | null) => ({
  resource_kind: 'droplet',
  included_qty,
  overage_unit: overage ? 'hour' : null,
  overage_price_cents: overage ? 2 : null,
  hard_cap_qty,
})

test('a plan allows what is paid for and overage, and never more than the hard cap, whatever addons there are', () => {
  assert.equal(planLimit(undefined), null, 'no subscription')
  assert.equal(planLimit({ item: null, addon_qty: 3 }), null, 'a plan that does not speak of the kind')
  assert.equal(planLimit({ item: item(2, false, null), addon_qty: 3 }), 5)
  assert.equal(
    planLimit({ item: item(2, false, 9), addon_qty: 0 }),
    9,
    'a cap holds without overage terms too',
  )
  assert.equal(planLimit({ item: item(2, true, null), addon_qty: 0 }), null)
  assert.equal(planLimit({ item: item(2, true, 4), addon_qty: 1 }), 4)
  assert.equal(planLimit({ item: item(2, true, 4), addon_qty: 3 }), 4, 'addons never raise the cap')
  fc.assert(
    fc.property(fc.nat(100), fc.nat(100), fc.boolean(), fc.nat(100), (included, more, overage, addons) => {
      const limit = planLimit({ item: item(included, overage, included + more), addon_qty: addons })
      assert.equal(limit, included + more)
    }),
  )
})

test('a tenant’s project is always called the same, as no other’s, and fits', () => {
  assert.equal(tenantProjectName('acme'), 'tenant acme')
  const tenant = fc.string({ minLength: 1, maxLength: 128, unit: 'binary' })
  fc.assert(
    fc.property(tenant, tenant, (a, b) => {
      const [one, other] = [tenantProjectName(a), tenantProjectName(b)]
      assert.equal(one, tenantProjectName(a))
      assert.ok(one.length <= 175 && /^[\x20-\x7e]+$/.test(one), one)
      // Also where the provider takes no notice of case.
      assert.equal(one.toLowerCase() === other.toLowerCase(), a === b)
    }),
    {
      examples: [
        ['Acme', 'acme'],
        ['a b', 'a-b'],
        ['é', 'è'],
      ],
    },
  )
})

test('a droplet’s default name is one hostname label, whatever the slug', () => {
  const slug = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)
  fc.assert(
    fc.property(slug, text => {
      const name = defaultDropletName(text)
      assert.ok(name.length <= 63)
      assert.match(name, new RegExp(HOSTNAME))
      assert.match(name, /-[0-9a-f]{8}$/)
    }),
  )
})

test('droplets are for deployments that are on trial, active or past due', () => {
  for (const state of ['trial', 'active', 'past_due'] as const) assert.equal(refusedState(state), null)
  for (const state of ['paused', 'suspended', 'cancelled', 'archived'] as const)
    assert.equal(
      refusedState(state),
      `a deployment that is ${state} is given no droplets; it has to be trial, active or past_due`,
    )
})

test('what is desired of a droplet is what was asked for and what that came to, and nothing the answer lacked', () => {
  const order = { name: 'web-1', region: 'nyc3', size: 's-1vcpu-1gb' }
  const seen = {
    provider_id: '1',
    kind: 'droplet' as const,
    urn: null,
    attrs: { vcpus: 1, memory: 1024, locked: false },
  }
  assert.deepEqual(desiredSpec(order, ['saga:1', 'deployment:2'], seen), {
    name: 'web-1',
    region: 'nyc3',
    size_slug: 's-1vcpu-1gb',
    tags: ['deployment:2', 'saga:1'],
    vcpus: 1,
    memory: 1024,
  })
})

test('a full plan says how many it allows and how many there are', () => {
  assert.equal(planFull('droplet', 2, 1), 'the plan allows 2 of droplet, and 1 is there or being made')
  assert.equal(planFull('droplet', 2, 2), 'the plan allows 2 of droplet, and 2 are there or being made')
})

test('what belongs to a saga is known by its tag, and what a saga does by its name', () => {
  assert.deepEqual([sagaTag('1'), sagaActor('1')], ['saga:1', 'saga:1'])
})

test('a hostname is labels of at most 63 characters, and a default name cuts the slug and no more', () => {
  const hostname = new RegExp(HOSTNAME)
  const label = 'a'.repeat(63)
  for (const good of ['a', 'a.b.c', 'web-1', 'A0', `${label}.${label}`]) assert.match(good, hostname)
  for (const bad of ['', '-a', 'a-', 'a..b', 'a.', '.a', 'a_b', 'a b', 'é', `${label}a`, 'a\n'])
    assert.doesNotMatch(bad, hostname)
  assert.equal(LONGEST_HOSTNAME, 253)
  const cut = (slug: string) => defaultDropletName(slug).slice(0, -9)
  assert.equal(cut('a--b'), 'a--b')
  assert.equal(cut('a'.repeat(54)), 'a'.repeat(54))
  assert.equal(cut('a'.repeat(55)), 'a'.repeat(54))
  assert.equal(cut(`${'a'.repeat(52)}--b`), 'a'.repeat(52))
})

test('an order comes to cores, memory, disk and image, and nothing else that the answer says', () => {
  const attrs = { vcpus: 1, memory: 2, disk: 3, image: { id: 4 }, locked: true }
  const seen = { provider_id: '1', kind: 'droplet' as const, urn: null, attrs }
  const spec = desiredSpec({ name: 'n', region: 'r', size: 's' }, [], seen)
  const { locked: _, ...delivered } = attrs
  assert.deepEqual(spec, { name: 'n', region: 'r', size_slug: 's', tags: [], ...delivered })
})

test('a tenant’s project is called by the tenant where that is plain, else by what is left of it and a hash', () => {
  const plain = `a${'._-9'.repeat(31)}xyz`
  assert.equal(tenantProjectName(plain), `tenant ${plain}`)
  const named: [tenant: string, name: string][] = [
    ['Acme  & Co', 'tenant Acme-Co 476aa56a10904a7b'],
    ['-acme', 'tenant -acme e4ee5a9b6cd0eac4'],
    ['acme\n', 'tenant acme- fb5aaab08a41b991'],
    ['A'.repeat(128), `tenant ${'A'.repeat(100)} b6ac3cc10386331c`],
  ]
  for (const [tenant, name] of named) assert.equal(tenantProjectName(tenant), name)
})
