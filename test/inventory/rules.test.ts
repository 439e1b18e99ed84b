// The inventory's pure rules: what a sighting becomes, when two values are the same, when deletion is held.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  deploymentOfTags,
  type SeenResource,
  seenResource,
} from '../../src/features/inventory/seen-resource.ts'
import { type KnownResource, type Owners, planSweep, same } from '../../src/features/inventory/sweep-plan.ts'
import { mustHold } from '../../src/features/inventory/sync-run.ts'
import type { MappedItem } from '../../src/integrations/digitalocean/index.ts'
import { onPostgresAlone } from '../support/engine.ts'

const LOOK = 100
const NOW = '2026-11-15T12:15:00.000Z'
const DEPLOYMENT = '0199d2a8-1111-7000-8000-000000000001'

const item: MappedItem = {
  provider_id: '1',
  kind: 'droplet',
  name: 'web-01',
  region: 'nyc3',
  status: 'active',
  tags: ['web'],
  attrs: { memory: 1024, image: { id: 1, slug: 'ubuntu' } },
  urn: 'do:droplet:1',
}
const seen = (change: Partial<MappedItem> = {}): SeenResource => seenResource({ ...item, ...change })
const known = (change: Partial<KnownResource> = {}): KnownResource => ({
  id: '0199d2a8-0000-7000-8000-000000000001',
  provider_id: '1',
  name: 'web-01',
  region: 'nyc3',
  status: 'active',
  tags: ['web'],
  attrs: { memory: 1024, image: { id: 1, slug: 'ubuntu' } },
  project_id: null,
  tenant_id: null,
  deployment_id: null,
  assigned_deployment_id: null,
  deleted_at: null,
  last_look: LOOK - 1,
  ...change,
})
/** The resource `1` is in acme's project, and the deployment is acme's too. */
const ACMES: Owners = {
  places: new Map([['1', { project_id: 'p-acme', tenant_id: 'acme' }]]),
  tenants: new Map([[DEPLOYMENT, 'acme']]),
}
const acmes = (change: Partial<KnownResource> = {}) =>
  known({ project_id: 'p-acme', tenant_id: 'acme', ...change })
const NOBODYS: Owners = { places: new Map(), tenants: new Map() }

/** Parsed, so that a key named `__proto__` is a key. */
const parsed = (text: string) => JSON.parse(text) as Record<string, unknown>

/** The one thing planned for the one resource: its event, or that it was touched. */
function planned(row: KnownResource | null, now: SeenResource, owners = NOBODYS) {
  const { inserts, updates, touches } = planSweep(row ? [row] : [], [now], LOOK, owners)
  assert.equal(inserts.length + updates.length + touches.length, 1)
  if (inserts[0]) return { event: 'discovered', changes: null, row: inserts[0] }
  if (updates[0]) return { event: updates[0].event, changes: updates[0].changes, row: updates[0] }
  return { event: null, changes: null, row: null }
}

describe('the lifecycle table, but for strikes', () => {
  test('absent, seen: discovered', () => {
    assert.equal(planned(null, seen()).event, 'discovered')
  })

  test('present, seen with a meaningful change: updated, with what was and what is', () => {
    const { event, changes, row } = planned(
      known(),
      seen({ name: 'web-02', attrs: { ...item.attrs, memory: 2048 } }),
    )
    assert.equal(event, 'updated')
    assert.deepEqual(changes, {
      name: { before: 'web-01', after: 'web-02' },
      'attrs.memory': { before: 1024, after: 2048 },
    })
    assert.deepEqual([row?.name, row?.attrs.memory, row?.region], ['web-02', 2048, 'nyc3'])
  })

  for (const [field, value] of Object.entries({ name: 'x', region: 'fra1', status: 'off', tags: ['db'] })) {
    test(`a change of ${field} alone is meaningful`, () => {
      const { event, changes } = planned(known(), seen({ [field]: value }))
      assert.equal(event, 'updated')
      assert.deepEqual(Object.keys(changes!), [field])
    })
  }

  test('present, seen unchanged: touched, with the fingerprint of this answer', () => {
    const now = seen()
    assert.deepEqual(planSweep([known()], [now], LOOK, NOBODYS).touches, [
      { id: known().id, fingerprint: now.fingerprint },
    ])
  })

  test('deleted, seen again unchanged: restored, and nothing is said to have changed', () => {
    const { event, changes } = planned(known({ deleted_at: '2026-11-01T00:00:00.000Z' }), seen())
    assert.deepEqual([event, changes], ['restored', null])
  })

  test('deleted, seen again with a change: one event, restored, that names the change', () => {
    const gone = known({ deleted_at: '2026-11-01T00:00:00.000Z' })
    const { event, changes } = planned(gone, seen({ status: 'new' }))
    assert.equal(event, 'restored')
    assert.deepEqual(changes, { status: { before: 'active', after: 'new' } })
  })

  test('each resource of a batch gets what is its own', () => {
    const rows = [
      known(),
      known({ id: 'b', provider_id: '2' }),
      known({ id: 'c', provider_id: '3', deleted_at: 'then' }),
    ]
    const now = ['1', '2', '3', '4'].map(provider_id =>
      seen({ provider_id, ...(provider_id === '2' && { status: 'off' }) }),
    )
    const plan = planSweep(rows, now, LOOK, NOBODYS)
    assert.deepEqual(
      plan.touches.map(t => t.id),
      [known().id],
    )
    assert.deepEqual(
      plan.updates.map(u => [u.id, u.event]),
      [
        ['b', 'updated'],
        ['c', 'restored'],
      ],
    )
    assert.deepEqual(
      plan.inserts.map(i => i.provider_id),
      ['4'],
    )
  })
})

describe('an answer asked for before the row was last seen', () => {
  const off = seen({ status: 'off' })
  const events = (last_look: number) => planSweep([known({ last_look })], [off], LOOK, NOBODYS).updates.length

  test('is older news and changes nothing', () => {
    assert.equal(events(LOOK + 1), 0)
  })

  test('does not bring back what was found to be gone since', () => {
    const restores = (last_look: number) =>
      planSweep([known({ last_look, deleted_at: NOW })], [seen()], LOOK, NOBODYS).updates.filter(
        ({ event }) => event === 'restored',
      ).length
    assert.equal(restores(LOOK + 1), 0)
    assert.equal(restores(LOOK), 1)
    assert.equal(restores(LOOK - 1), 1)
  })

  test('counts when it was asked for by the same look or later', () => {
    assert.equal(events(LOOK), 1)
    assert.equal(events(LOOK - 1), 1)
    assert.equal(events(0), 1, 'a row from before looks were counted')
  })
})

describe('what is not a change', () => {
  test('an answer without tags leaves the tags, and the deployment they tied', () => {
    const { tags: _, ...untagged } = item
    const row = acmes({ tags: [`deployment:${DEPLOYMENT}`], deployment_id: DEPLOYMENT })
    assert.equal(planned(row, seenResource(untagged), ACMES).event, null)
  })

  test('attributes missing from the answer stay, also beside one that changed', () => {
    assert.equal(planned(known(), seen({ attrs: { memory: 1024 } })).event, null)
    const { changes, row } = planned(known(), seen({ attrs: { memory: 2048 } }))
    assert.deepEqual(Object.keys(changes!), ['attrs.memory'])
    assert.deepEqual(row?.attrs, { memory: 2048, image: { id: 1, slug: 'ubuntu' } })
  })

  test('region, status and name missing from the answer stay', () => {
    const { region: _r, status: _s, name: _n, ...rest } = item
    assert.equal(planned(known(), seenResource(rest)).event, null)
    assert.deepEqual(planned(null, seenResource(rest)).row?.name, '1', 'a new one is called by its id')
  })

  test('the order of keys, at any depth', () => {
    const attrs = { image: { slug: 'ubuntu', id: 1 }, memory: 1024 }
    assert.equal(planned(known(), seen({ attrs })).event, null)
  })

  test('an attribute that is null where it was not there before', () => {
    assert.equal(planned(known(), seen({ attrs: { ...item.attrs, kernel: null } })).event, null)
  })

  test('null is a change where there was a value', () => {
    const { changes } = planned(known(), seen({ region: null, attrs: { ...item.attrs, memory: null } }))
    assert.deepEqual(changes, {
      region: { before: 'nyc3', after: null },
      'attrs.memory': { before: 1024, after: null },
    })
  })
})

for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
  test(`an attribute named ${key} is an attribute like any other`, () => {
    const attrs = (value: number) => parsed(`{"${key}":${value}}`)
    assert.equal(planned(known({ attrs: attrs(1) }), seen({ attrs: attrs(1) })).event, null)
    const { changes } = planned(known({ attrs: attrs(1) }), seen({ attrs: attrs(2) }))
    assert.deepEqual(changes, { [`attrs.${key}`]: { before: 1, after: 2 } })
    const { row } = planned(known({ attrs: {} }), seen({ attrs: attrs(2) }))
    assert.ok(Object.hasOwn(row!.attrs, key))
    assert.equal(planned(null, seen({ attrs: attrs(2) })).row?.attrs[key], 2)
  })
}

describe('tags tie a resource to a deployment', () => {
  const tie = `deployment:${DEPLOYMENT}`

  test('one tie is taken, whatever the case of the id', () => {
    assert.equal(deploymentOfTags(['web', tie]), DEPLOYMENT)
    assert.equal(deploymentOfTags([`deployment:${DEPLOYMENT.toUpperCase()}`]), DEPLOYMENT)
  })

  test('none, two that contradict, or one that is no id tie nothing', () => {
    for (const tags of [
      [],
      ['web'],
      ['deployment:'],
      ['deployment:web'],
      ['Deployment:x'],
      [tie, `${tie.slice(0, -1)}2`],
    ])
      assert.equal(deploymentOfTags(tags), null, String(tags))
  })

  test('the same tie in both cases is one tie', () => {
    assert.equal(deploymentOfTags([tie, `deployment:${DEPLOYMENT.toUpperCase()}`]), DEPLOYMENT)
  })

  test('tags that are not known say nothing', () => {
    assert.equal(deploymentOfTags(undefined), undefined)
  })

  test('a tag that comes ties and one that goes unties, and both are changes', () => {
    const tied = planned(acmes(), seen({ tags: [tie] }), ACMES)
    assert.deepEqual(tied.changes?.deployment_id, { before: null, after: DEPLOYMENT })
    assert.equal(tied.row?.deployment_id, DEPLOYMENT)
    const untied = planned(acmes({ tags: [tie], deployment_id: DEPLOYMENT }), seen({ tags: [] }), ACMES)
    assert.deepEqual(untied.changes?.deployment_id, { before: DEPLOYMENT, after: null })
    assert.equal(planned(null, seen({ tags: [tie] }), ACMES).row?.deployment_id, DEPLOYMENT)
  })

  test('a tag that names another tenant’s deployment, or none there is, ties nothing; nor does one on what is nobody’s', () => {
    const { places, tenants } = ACMES
    for (const owners of [
      { places, tenants: new Map([[DEPLOYMENT, 'globex']]) },
      { places, tenants: new Map() },
      { places: new Map([['1', { project_id: 'p', tenant_id: null }]]), tenants },
      { places: new Map(), tenants },
    ])
      assert.equal(planned(null, seen({ tags: [tie] }), owners).row?.deployment_id, null)
  })

  test('a resource that changes hands is told with its old and new owner, and its tie ends or begins with them', () => {
    const toGlobex: Owners = { ...ACMES, places: new Map([['1', { project_id: 'p', tenant_id: 'globex' }]]) }
    const { tags: _, ...untagged } = item
    const away = planned(
      acmes({ tags: [tie], deployment_id: DEPLOYMENT, deleted_at: NOW }),
      seen({ tags: [tie] }),
      toGlobex,
    )
    assert.equal(away.event, 'restored')
    assert.deepEqual(away.changes, {
      project_id: { before: 'p-acme', after: 'p' },
      tenant_id: { before: 'acme', after: 'globex' },
      deployment_id: { before: DEPLOYMENT, after: null },
    })
    const back = planned(
      known({ tags: [tie], project_id: 'p', tenant_id: 'globex' }),
      seenResource(untagged),
      ACMES,
    )
    assert.deepEqual(
      back.changes?.deployment_id,
      { before: null, after: DEPLOYMENT },
      'by the tags that are known',
    )
  })

  test('what no list places stays where it is known to be, with its tie', () => {
    const row = acmes({ tags: ['web'], deployment_id: DEPLOYMENT })
    const { tags: _, ...untagged } = item
    const owners = { ...ACMES, places: new Map() }
    assert.equal(planned(row, seenResource(untagged), owners).event, null)
    assert.deepEqual(Object.keys(planned(row, seen({ name: 'x' }), owners).changes!).sort(), [
      'deployment_id',
      'name',
    ])
  })
})

describe('what an operator has assigned', () => {
  const OTHER = '0199d2a8-2222-7000-8000-00000000000b'
  const tie = `deployment:${DEPLOYMENT}`
  const owners: Owners = {
    ...ACMES,
    tenants: new Map([
      [DEPLOYMENT, 'acme'],
      [OTHER, 'acme'],
    ]),
  }
  const assigned = (change: Partial<KnownResource> = {}) =>
    acmes({ deployment_id: OTHER, assigned_deployment_id: OTHER, ...change })
  const { tags: _, ...untagged } = item
  const ties = ({ row }: ReturnType<typeof planned>) => [row?.deployment_id, row?.assigned_deployment_id]

  test('stays in every sighting, whether or not it says anything of tags', () => {
    assert.equal(planned(assigned(), seen(), owners).event, null)
    assert.equal(planned(assigned(), seenResource(untagged), owners).event, null)
    for (const other of [seen({ name: 'x' }), seenResource({ ...untagged, name: 'x' })])
      assert.deepEqual(ties(planned(assigned(), other, owners)), [OTHER, OTHER])
    const back = planned(assigned({ deleted_at: NOW }), seen(), owners)
    assert.deepEqual([back.event, ...ties(back)], ['restored', OTHER, OTHER])
  })

  test('ends with a tag that ties, also to the same deployment, and not with one that ties nothing', () => {
    const tagged = planned(assigned(), seen({ tags: [tie] }), owners)
    assert.deepEqual(ties(tagged), [DEPLOYMENT, null])
    assert.deepEqual(tagged.changes?.deployment_id, { before: OTHER, after: DEPLOYMENT })
    assert.deepEqual(ties(planned(assigned(), seen({ tags: [`deployment:${OTHER}`] }), owners)), [
      OTHER,
      null,
    ])
    // By the tags that are known.
    const known = assigned({ tags: [tie], deployment_id: null })
    assert.deepEqual(ties(planned(known, seenResource(untagged), owners)), [DEPLOYMENT, null])
    const foreign = { ...owners, tenants: new Map([[DEPLOYMENT, 'globex']]) }
    assert.deepEqual(ties(planned(assigned(), seen({ tags: [tie] }), foreign)), [OTHER, OTHER])
    assert.deepEqual(ties(planned(assigned(), seen({ tags: [tie, `deployment:${OTHER}`] }), owners)), [
      OTHER,
      OTHER,
    ])
  })

  test('is all that ties what is in no project', () => {
    const nowhere = { ...owners, places: new Map() }
    const row = assigned({ project_id: null })
    assert.deepEqual(ties(planned(row, seen({ tags: [tie] }), nowhere)), [OTHER, OTHER])
    const free = acmes({ project_id: null })
    assert.deepEqual(ties(planned(free, seen({ tags: [tie] }), nowhere)), [null, null])
  })

  test('ends when the resource is another tenant’s, and is not there again when it comes back', () => {
    const toGlobex: Owners = { ...owners, places: new Map([['1', { project_id: 'p', tenant_id: 'globex' }]]) }
    const away = planned(assigned(), seen(), toGlobex)
    assert.deepEqual(ties(away), [null, null])
    assert.deepEqual(away.changes?.deployment_id, { before: OTHER, after: null })
  })
})

describe('what the database cannot hold', () => {
  test('NUL and halves of surrogate pairs are replaced wherever they stand, keys included', () => {
    const odd = seen({ name: 'a\0b', tags: ['\ud800'], attrs: { 'k\0': ['x\udfff', { y: '\0' }] } })
    assert.equal(odd.name, 'a\ufffdb')
    assert.deepEqual(odd.tags, ['\ufffd'])
    assert.deepEqual(odd.attrs, { 'k\ufffd': ['x\ufffd', { y: '\ufffd' }] })
  })

  test('whole surrogate pairs and text that only looks like an escape stay as they are', () => {
    const name = 'emoji 😀, C:\\udata, \\u0000, \\\\ud800, \\\\\\udfff'
    assert.equal(seen({ name }).name, name)
    assert.equal(seen({ name: `${name}\0` }).name, `${name}\ufffd`)
  })

  test('any text survives as the same text but for what cannot be stored', onPostgresAlone, () => {
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom('\\', 'u', '0', 'd', '8', '\0', '\ud800', '"'),
        fc.string({ unit: 'binary', maxLength: 1 }),
      ),
    })
    fc.assert(
      fc.property(text, name => {
        const stored = seen({ name, attrs: { [name]: name } })
        const expected = name.toWellFormed().replaceAll('\0', '\ufffd')
        assert.equal(stored.name, expected)
        assert.deepEqual(Object.entries(stored.attrs), [[expected, expected]])
      }),
      { seed: 3 },
    )
  })

  test('an id that cannot be stored cannot be asked for either: it is refused', () => {
    for (const provider_id of ['a\0b', '\ud800'])
      assert.throws(() => seen({ provider_id }), /cannot be stored/)
  })

  test('equal answers have equal fingerprints, others have others', () => {
    assert.equal(seen().fingerprint, seen().fingerprint)
    const { tags: _, ...untagged } = item
    const all = [
      seen(),
      seen({ name: 'x' }),
      seen({ region: null }),
      seen({ tags: [] }),
      seenResource(untagged),
      seen({ attrs: {} }),
    ]
    assert.equal(new Set(all.map(s => s.fingerprint)).size, all.length)
  })
})

describe('the brake', () => {
  const cases: [doomed: number, living: number, held: boolean, why: string][] = [
    [24, 24, false, 'fewer than 25 rows are never held, be they all'],
    [25, 25, true, '25 rows and all of them'],
    [90, 90, true, 'a small account that is listed empty'],
    [25, 49, true, 'just more than half'],
    [25, 50, false, 'exactly half is not more than half'],
    [26, 50, true, 'one more than half'],
    [25, 51, false, 'just less than half'],
    [99, 198, false, 'exactly half, and fewer than 100'],
    [99, 197, true, 'more than half, and fewer than 100'],
    [100, 100, true, '100 rows and all of them'],
    [100, 499, true, 'just more than 20 %'],
    [100, 500, false, 'exactly 20 % is not more than 20 %'],
    [101, 505, false, 'exactly 20 % of an uneven number'],
    [102, 505, true, 'one more than 20 %'],
    [100, 501, false, 'just less than 20 %'],
    [0, 0, false, 'nothing'],
    [20_000, 100_000, false, 'exactly 20 % of many'],
    [20_001, 100_000, true, 'one more than 20 % of many'],
  ]
  for (const [doomed, living, held, why] of cases) {
    test(`${doomed} of ${living} are ${held ? 'held' : 'deleted'}: ${why}`, () => {
      assert.equal(mustHold(doomed, living), held)
    })
  }

  test('exactly a fifth is never held, one more always is, whatever the size', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 10_000_000 }), fifth => {
        assert.equal(mustHold(fifth, fifth * 5), false)
        assert.equal(mustHold(fifth + 1, fifth * 5), true)
      }),
      { seed: 3 },
    )
  })
})

describe('sameness of JSON values', () => {
  const json = () => fc.jsonValue({ maxDepth: 4 })
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, inner]) => [key, shuffled(inner)]),
    )
  }
  /** A text that is the same for the same values: the slow definition. */
  const canonical = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(canonical)}]`
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    return `{${Object.entries(value)
      .map(([k, v]) => `${JSON.stringify(k)}:${canonical(v)}`)
      .sort()}}`
  }

  test('a value is the same as its copy, however its keys are ordered', () => {
    fc.assert(
      fc.property(json(), value => same(value, shuffled(JSON.parse(JSON.stringify(value))))),
      { seed: 3 },
    )
  })

  test('two values are the same exactly when their canonical texts are', () => {
    const small = fc.jsonValue({ maxDepth: 2, stringUnit: fc.constantFrom('a', '__proto__') })
    fc.assert(
      fc.property(fc.oneof(json(), small), fc.oneof(json(), small), (a, b) => {
        assert.equal(same(a, b), canonical(a) === canonical(b))
        assert.equal(same(a, b), same(b, a))
      }),
      { seed: 3, numRuns: 500 },
    )
  })

  test('the order of an array, a list for an object, and null for a missing key are differences', () => {
    assert.equal(same([1, 2], [2, 1]), false)
    assert.equal(same([], {}), false)
    assert.equal(same({ a: null }, {}), false)
    assert.equal(same({ a: null }, { b: null }), false)
    assert.equal(same(1, '1'), false)
    assert.equal(same(parsed('{"__proto__":1}'), {}), false)
    assert.equal(same({ constructor: 1 }, parsed('{"__proto__":1}')), false)
  })
})
