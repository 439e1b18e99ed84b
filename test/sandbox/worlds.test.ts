// The seeds: a small company that is the same at every start, and worlds of any size that cost no memory.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Collection, type LazyBase } from '../../sandbox/world/collection.ts'
import { generated } from '../../sandbox/world/generated.ts'
import { kindNames, parseUrn, urnOf } from '../../sandbox/world/kinds.ts'
import { smallCompany } from '../../sandbox/world/small-company.ts'
import type { World } from '../../sandbox/world/world.ts'

const everything = (world: World) => JSON.stringify(kindNames.map(kind => [...world.shelves[kind]]))

test('the small company is the same at every start', () => {
  const later = smallCompany({ startedAt: new Date('2027-03-01T00:00:00Z') })
  assert.equal(everything(smallCompany()), everything(later))
})

test('the small company has every kind, some forty resources, and each assignable one in one project', () => {
  const world = smallCompany()
  const total = kindNames.reduce((sum, kind) => sum + world.shelves[kind].size, 0)
  assert.ok(total >= 38 && total <= 48, `${total} resources`)
  const urns = [...world.projectResources.values()].flatMap(resources => [...resources].map(item => item.urn))
  assert.equal(new Set(urns).size, urns.length)
  for (const kind of kindNames) {
    assert.ok(world.shelves[kind].size > 0, kind)
    for (const item of world.shelves[kind]) {
      const urn = urnOf(kind, world.shelves[kind].idOf(item as never))
      if (urn !== undefined) assert.ok(urns.includes(urn), urn)
    }
  }
})

test('every volume and every line of the small company’s invoice speaks of something that exists, but one', () => {
  const world = smallCompany()
  for (const volume of world.shelves.volume) {
    const [droplet] = volume.droplet_ids ?? []
    const holder =
      world.shelves.droplet.get(String(droplet)) ?? world.shelves.gpu_droplet.get(String(droplet))
    assert.ok(holder?.volume_ids.includes(volume.id), volume.name)
  }
  const names = new Set(
    kindNames.flatMap(kind =>
      [...world.shelves[kind]].map(item =>
        'spec' in item ? item.spec.name : 'name' in item ? item.name : '',
      ),
    ),
  )
  const strangers = []
  for (const line of world.billing.invoices(new Date('2026-09-15'))[0]!.lines) {
    const name = /^(\S+) \(/.exec(line.description)?.[1]
    if (name !== undefined && !names.has(name)) strangers.push(name)
  }
  assert.deepEqual(strangers, ['acme-old-batch-01'])
})

const counts = {
  droplets: 30,
  gpuDroplets: 3,
  volumes: 20,
  snapshots: 5,
  images: 5,
  loadBalancers: 5,
  reservedIps: 300,
  reservedIpv6: 20,
  firewalls: 5,
  vpcs: 5,
  domains: 5,
  sshKeys: 5,
  databases: 5,
  clusters: 5,
  apps: 5,
  registries: 2,
}

test('a generated world follows from its seed alone', () => {
  assert.equal(everything(generated({ ...counts, seed: 4 })), everything(generated({ ...counts, seed: 4 })))
  assert.notEqual(
    everything(generated({ ...counts, seed: 4 })),
    everything(generated({ ...counts, seed: 5 })),
  )
})

test('in a generated world every id leads back to its item, and every item is in one project', () => {
  const world = generated({ ...counts, projects: 7 })
  for (const kind of kindNames) {
    const shelf = world.shelves[kind] as unknown as Collection<object>
    for (const item of shelf) assert.deepEqual(shelf.get(shelf.idOf(item)), item)
    assert.equal(shelf.get('nothing'), undefined)
    assert.equal(shelf.get('999999999999'), undefined)
  }
  const seen = new Map<string, string>()
  for (const [project, resources] of world.projectResources) {
    for (const { urn } of resources) {
      assert.equal(resources.get(urn)?.urn, urn)
      assert.equal(seen.get(urn), undefined, urn)
      seen.set(urn, project)
    }
  }
  const assignable = kindNames.filter(kind => urnOf(kind, 'x') !== undefined)
  assert.equal(
    seen.size,
    assignable.reduce((sum, kind) => sum + world.shelves[kind].size, 0),
  )
  for (const urn of seen.keys()) assert.ok(parseUrn(urn), urn)
})

test('a share of a generated world can be changed, and removed, exactly', () => {
  const world = generated({ droplets: 1000, volumes: 200 })
  const sizes = () => [...world.shelves.droplet].map(droplet => droplet.size_slug)
  const before = sizes()
  assert.equal(world.change({ percent: 2.5 }), 25)
  const after = sizes()
  assert.equal(after.filter((size, index) => size !== before[index]).length, 25)
  assert.equal(world.change({ percent: 10, kind: 'volume' }), 20)
  assert.equal(world.remove({ percent: 5 }), 50)
  assert.equal(world.shelves.droplet.size, 950)
  assert.equal(
    [...world.projectResources.values()].reduce((sum, resources) => sum + resources.size, 0),
    950 + 200,
  )
})

test('a million droplets can be read from end to end without keeping them', () => {
  const world = generated({ droplets: 1_000_000, invoiceLines: 10 })
  const before = process.memoryUsage().heapUsed
  let seen = 0
  // Every hundredth page of 200: the same work for each page, in a hundredth of the time.
  for (let offset = 0; offset < 1_000_000; offset += 20_000) {
    for (const droplet of world.shelves.droplet.slice(offset, 200)) seen += droplet.name === '' ? 0 : 1
  }
  assert.equal(seen, 10_000)
  assert.equal(world.shelves.droplet.at(999_999)?.name, 'vm-0999999')
  assert.equal(
    world.shelves.droplet.filter(item => item.tags.includes('saga:1'), { tag: 'saga:1' }).length,
    0,
  )
  const grown = (process.memoryUsage().heapUsed - before) / 1024 / 1024
  assert.ok(grown < 64, `${grown.toFixed(1)} MB`)
})

test('an invoice of a hundred thousand generated lines adds up without being held', () => {
  const world = generated({ droplets: 10, invoiceLines: 100_000 })
  const [billed] = world.billing.invoices(new Date('2026-09-15'))
  assert.equal(billed?.lines.length, 100_000)
  let sum = 0
  for (const line of billed!.lines) sum += line.cents
  assert.equal(sum, billed!.cents)
})

test('a collection over a lazy base behaves as a plain list does', () => {
  type Item = { id: string; version: number }
  const command = fc.oneof(
    fc.record({ do: fc.constant('insert' as const), id: fc.nat(40), first: fc.boolean() }),
    fc.record({ do: fc.constant('replace' as const), id: fc.nat(40), version: fc.nat(9) }),
    fc.record({ do: fc.constant('remove' as const), id: fc.nat(40) }),
  )
  const property = fc.property(fc.nat(20), fc.array(command, { maxLength: 40 }), (count, commands) => {
    const base: LazyBase<Item> = {
      count,
      at: index => ({ id: String(index), version: 0 }),
      indexOf: id => (Number(id) < count ? Number(id) : -1),
      candidates: ({ name }) =>
        name === undefined ? undefined : [Number(name)].filter(index => index < count),
    }
    const collection = new Collection<Item>(item => item.id, base)
    let model: Item[] = Array.from({ length: count }, (_, index) => base.at(index))
    for (const step of commands) {
      const id = String(step.id)
      const known = model.some(item => item.id === id)
      if (step.do === 'insert' && !known) {
        collection.insert({ id, version: 0 }, step.first ? 'first' : 'last')
        model = step.first ? [{ id, version: 0 }, ...model] : [...model, { id, version: 0 }]
      }
      if (step.do === 'replace' && known) {
        collection.replace({ id, version: step.version })
        model = model.map(item => (item.id === id ? { id, version: step.version } : item))
      }
      if (step.do === 'remove') {
        assert.equal(collection.remove(id) !== undefined, known)
        model = model.filter(item => item.id !== id)
      }
    }
    assert.deepEqual([...collection], model)
    assert.equal(collection.size, model.length)
    assert.deepEqual(collection.slice(3, 4), model.slice(3, 7))
    for (const item of model) {
      assert.deepEqual(collection.get(item.id), item)
      assert.deepEqual(
        collection.filter(each => each.id === item.id, { name: item.id }),
        [item],
      )
    }
  })
  fc.assert(property, { numRuns: 300 })
})
