// A provider that answers with what nobody would: single items cost the others nothing, and none is lost because of it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { generated } from '../../sandbox/world/generated.ts'
import type { Items } from '../../sandbox/world/kinds.ts'
import { addResource, removeResource } from '../../sandbox/world/world.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { doneBy, eventsOf, NOTHING_DONE, rowOf, sweepOne, sweepProjects } from '../support/sweep.ts'

type Volume = Items['volume']

const nested = (levels: number): unknown => {
  let value: unknown = 'bottom'
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { value }
  return value
}

/** Four volumes, and a way to bend one of them into what the provider's documents rule out. */
async function volumes(t: Parameters<typeof setup>[0]) {
  const seed = generated({ droplets: 0, volumes: 4, projects: 1 })
  const bundle = await setup(t, { provider: { seed } })
  const { world } = bundle.sandbox
  const [first] = [...world.shelves.volume]
  const bend = (change: object, volume: Volume = first!) =>
    world.shelves.volume.replace({ ...volume, ...change } as Volume)
  return { bundle, world, first: first!, bend }
}

const living = async ({ ctx }: Bundle) => {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from cloud_resources where deleted_at is null and kind = 'volume'`.execute(
    ctx.db,
  )
  return rows[0]!.n
}

describe('an item that is more than can be stored', () => {
  const long = 'x'.repeat(100_000)
  const cases: [what: string, change: object, remark: RegExp | null][] = [
    ['a name of 100,000 characters', { name: long }, /its name was cut to 255 characters/],
    ['a name of half a million astral characters', { name: '😀'.repeat(500_000) }, /its name was cut/],
    ['a region of 100,000 characters', { region: { slug: long } }, /its region was cut/],
    ['a tag of 100,000 characters', { tags: ['a', long, 'b'] }, /2 of its 3 tags were kept/],
    ['thousands of tags', { tags: Array.from({ length: 9_000 }, (_, n) => `t${n}`) }, /500 of its 9000 tags/],
    [
      'an attribute of a megabyte',
      { description: 'y'.repeat(1_000_000) },
      /its largest attributes were left out \(1\)/,
    ],
    [
      'an attribute nested 3,000 levels deep',
      { filesystem: nested(3_000) },
      /its attribute filesystem is nested too deep/,
    ],
    [
      'values of other types',
      { name: 7, region: [], tags: 'a', size_gigabytes: 'many', created_at: 'never' },
      null,
    ],
    ['numbers that are none', { size_gigabytes: -1e308, droplet_ids: [1e300, -0, 'x', null] }, null],
    [
      'NUL and halves of characters',
      { name: 'a\0\ud800', tags: ['\0'], description: { '\0': '\udc00' } },
      null,
    ],
    ['keys of every object', JSON.parse('{"__proto__":{"a":1},"constructor":1,"toString":null}'), null],
  ]
  test('is stored as far as it can be, the run says what was cut, and the others are as always', async t => {
    const { bundle, world, first, bend } = await volumes(t)
    await sweepOne(bundle, 'volume')
    for (const [what, change, remark] of cases) {
      bend(change)
      const run = await sweepOne(bundle, 'volume')
      assert.deepEqual(
        [run.status, run.seen, run.struck, run.set_aside, run.error],
        ['complete', 4, 0, 0, null],
        what,
      )
      assert.equal(run.cut, remark ? 1 : 0, what)
      if (remark) assert.match(run.remarks ?? '', remark)
      assert.ok(run.remarks === null || run.remarks.length < 1_000, what)
      assert.deepEqual(
        doneBy(await sweepOne(bundle, 'volume')),
        NOTHING_DONE,
        `${what}: seen again, it is no news`,
      )
      assert.equal(await living(bundle), 4)
    }
    bend({ name: 'plain' }, first)
    assert.equal((await sweepOne(bundle, 'volume')).remarks, null)
    assert.equal((await rowOf(bundle, 'volume', first.id)).name, 'plain')
    assert.equal(world.shelves.volume.size, 4)
  })

  test('keeps the tag that ties it to its deployment among thousands of others', async t => {
    const { bundle, first, bend } = await volumes(t)
    const tie = 'deployment:0199d2a8-1111-7000-8000-000000000001'
    bend({ tags: [...Array.from({ length: 9_000 }, (_, n) => `a${n}`), tie] })
    await sweepOne(bundle, 'volume')
    const { tags } = await rowOf(bundle, 'volume', first.id)
    assert.deepEqual([tags.length, tags.includes(tie)], [500, true])
  })
})

describe('an item that cannot be stored at all', () => {
  for (const [what, id] of [
    ['an id with a NUL', 'odd\0id'],
    ['an id of 100,000 characters', 'i'.repeat(100_000)],
  ] as const) {
    test(`is set aside, told, and counts as seen: ${what}`, async t => {
      const { bundle, world, first } = await volumes(t)
      addResource(world, 'volume', { ...first, id }, { now: new Date() })
      const run = await sweepOne(bundle, 'volume')
      assert.deepEqual([run.status, run.inserted, run.seen, run.total], ['complete', 4, 5, 5])
      assert.deepEqual([run.set_aside, run.error], [1, null])
      assert.match(run.remarks ?? '', /^(odd.id|i{64}…): set aside, its id cannot be stored$/)
      const [gone] = [...world.shelves.volume].filter(volume => volume.id !== id)
      removeResource(world, 'volume', gone!.id)
      assert.equal((await sweepOne(bundle, 'volume')).struck, 1, 'the listing is whole all the same')
    })
  }

  test('is never struck nor deleted for it: what is known of it stays, and its strikes are taken back', async t => {
    const { bundle, first } = await volumes(t)
    await sweepOne(bundle, 'volume')
    // The database alone finds fault with it, as with whatever no rule of ours has thought of.
    await sql`
      create function refuse() returns trigger language plpgsql as
      'begin if new.name = ''refused'' then raise sqlstate ''22000'' using message = ''secret words''; end if; return new; end'`.execute(
      bundle.ctx.db,
    )
    await sql`create trigger refuse before insert or update on cloud_resources for each row execute function refuse()`.execute(
      bundle.ctx.db,
    )
    await sql`update cloud_resources set stale_strike_count = 2 where provider_id = ${first.id}`.execute(
      bundle.ctx.db,
    )
    const { shelves } = bundle.sandbox.world
    const others = [...shelves.volume].filter(volume => volume.id !== first.id)
    shelves.volume.replace({ ...first, name: 'refused' })
    for (const volume of others) shelves.volume.replace({ ...volume, name: `new-${volume.name}` })
    for (let sweep = 0; sweep < 4; sweep++) {
      const run = await sweepOne(bundle, 'volume')
      assert.deepEqual([run.status, run.set_aside, run.struck, run.deleted], ['complete', 1, 0, 0])
      assert.equal(run.updated, sweep === 0 ? 3 : 0, 'the others are written')
      assert.equal(run.remarks, `${first.id}: set aside, the database cannot hold its values`)
    }
    const row = await rowOf(bundle, 'volume', first.id)
    assert.deepEqual([row.name, row.stale_strike_count, row.deleted_at], [first.name, 0, null])
    assert.equal((await eventsOf(bundle, 'volume', first.id)).length, 1)
  })

  test('and cannot be told from others leaves the rest to be written, and strikes nothing', async t => {
    const { bundle, world, first } = await volumes(t)
    await sweepOne(bundle, 'volume')
    const others = [...world.shelves.volume].filter(volume => volume.id !== first.id)
    removeResource(world, 'volume', first.id)
    addResource(world, 'volume', { ...first, id: { not: 'an id' } as unknown as string }, { now: new Date() })
    for (const volume of others) world.shelves.volume.replace({ ...volume, name: `new-${volume.name}` })
    const run = await sweepOne(bundle, 'volume')
    assert.deepEqual([run.status, run.updated, run.struck], ['partial', 3, 0])
    assert.match(run.error ?? '', /has no usable id/)
  })
})

test('projects with names and lists that cannot be stored cost the other projects nothing', async t => {
  const { bundle, world } = await volumes(t)
  const [project] = [...world.projects]
  world.projects.insert({
    ...project!,
    id: 'long',
    name: 'n'.repeat(100_000),
    description: 'a\0',
    is_default: false,
  })
  world.projects.insert({ ...project!, id: 'odd\0', is_default: false })
  world.projectResources.get(project!.id)!.insert({
    urn: `do:volume:${'v'.repeat(100_000)}`,
    assigned_at: '',
    status: 'ok',
    links: { self: '' },
  })
  const run = await sweepProjects(bundle)
  assert.deepEqual([run.cut, run.set_aside], [1, 1], run.error ?? '')
  assert.match(run.remarks ?? '', /long: its name was cut to 255 characters; odd : set aside/)
  const { body } = await bundle.call('GET', '/api/v1/projects')
  assert.equal(body.data.length, world.projects.size - 1)
})
