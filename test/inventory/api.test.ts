// GET /inventory, /inventory/:id and its events: what they show, filter, page and refuse.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { CloudResourceRow } from '../../src/features/inventory/resource.ts'
import { writeSeen } from '../../src/features/inventory/write-seen.ts'
import { newId } from '../../src/kernel/ids.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { haveDeployment, haveProject, rowOf, see, sightingOf, sweepOne } from '../support/sweep.ts'

const DEPLOYMENTS = ['0199d2a8-1111-7000-8000-000000000001', '0199d2a8-1111-7000-8000-000000000002'] as const

/** Twelve resources that differ in everything that can be filtered by; two of them deleted. */
async function seed(bundle: Bundle): Promise<{ projects: string[] }> {
  for (const id of DEPLOYMENTS) await haveDeployment(bundle, id, 'acme')
  const ids = ['1', '2', '3', '4', '5', '6']
  const projects = [
    await haveProject(
      bundle,
      'p-acme',
      'acme',
      [...ids.slice(0, 3)].flatMap(id => [
        ['droplet', id],
        ['volume', id],
      ]),
    ),
    await haveProject(
      bundle,
      'p-globex',
      'globex',
      [...ids.slice(3)].flatMap(id => [
        ['droplet', id],
        ['volume', id],
      ]),
    ),
  ]
  for (const kind of ['droplet', 'volume'] as const) {
    const items = ids.map((provider_id, i) => ({
      provider_id,
      name: i % 3 === 0 ? 'web' : `db-${i}`,
      region: i % 2 === 0 ? 'nyc3' : 'fra1',
      status: kind === 'volume' ? null : i < 4 ? 'active' : 'off',
      tags: [
        i % 2 ? 'env:prod' : 'env:dev',
        ...(i % 3 === 0 ? [`deployment:${DEPLOYMENTS[i === 0 ? 0 : 1]}`] : []),
      ],
    }))
    await see(bundle, kind, items)
  }
  await sql`update cloud_resources set deleted_at = last_seen_at, stale_strike_count = 3 where provider_id = '4'`.execute(
    bundle.ctx.db,
  )
  return { projects }
}

test('an item has the contract’s fields and no other', async t => {
  const bundle = await setup(t)
  await haveDeployment(bundle, DEPLOYMENTS[0], 'acme')
  const project_id = await haveProject(bundle, 'p', 'acme', [['droplet', '7']])
  const tags = ['a', `deployment:${DEPLOYMENTS[0]}`]
  await see(bundle, 'droplet', [
    { provider_id: '7', name: 'web', attrs: { memory: 1024, nested: { '"': [1, null, '😀'] } }, tags },
  ])
  const at = bundle.clock.now().toISOString()
  const { body, headers } = await bundle.call('GET', '/api/v1/inventory')
  assert.match(headers.get('content-type')!, /^application\/json/)
  const { id, ...item } = body.data[0]
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.deepEqual(item, {
    provider: 'digitalocean',
    provider_id: '7',
    kind: 'droplet',
    name: 'web',
    region: 'nyc3',
    status: 'active',
    tenant_id: 'acme',
    project_id,
    deployment_id: DEPLOYMENTS[0],
    tags,
    attrs: { memory: 1024, nested: { '"': [1, null, '😀'] } },
    first_seen_at: at,
    last_seen_at: at,
    stale_strike_count: 0,
    missing_since: null,
    deleted_at: null,
  })
  assert.deepEqual([body.data.length, body.next_cursor], [1, null])
})

test('every filter narrows as its name says, alone and with every other', onPostgresAlone, async t => {
  const bundle = await setup(t)
  const { projects } = await seed(bundle)
  const all: CloudResourceRow[] = await bundle.ctx.db
    .selectFrom('cloud_resources')
    .selectAll()
    .orderBy('id')
    .execute()
  assert.equal(all.length, 12)
  const filters: Record<string, { value: string; holds(row: CloudResourceRow): boolean }> = {
    kind: { value: 'droplet', holds: row => row.kind === 'droplet' },
    region: { value: 'nyc3', holds: row => row.region === 'nyc3' },
    status: { value: 'active', holds: row => row.status === 'active' },
    project_id: { value: projects[0]!, holds: row => row.project_id === projects[0] },
    deployment_id: { value: DEPLOYMENTS[0], holds: row => row.deployment_id === DEPLOYMENTS[0] },
    name: { value: 'web', holds: row => row.name === 'web' },
    tag: { value: 'env:dev', holds: row => row.tags.includes('env:dev') },
    tenant_id: { value: 'acme', holds: row => row.tenant_id === 'acme' },
  }
  const names = Object.keys(filters)
  const combinations = [
    [],
    names,
    ...names.map(name => [name]),
    ...names.flatMap((a, i) => names.slice(i + 1).map(b => [a, b])),
  ]
  const found = new Set<number>()
  for (const used of combinations) {
    for (const include_deleted of [false, true]) {
      const query = new URLSearchParams(Object.fromEntries(used.map(name => [name, filters[name]!.value])))
      if (include_deleted) query.set('include_deleted', 'true')
      const { status, body } = await bundle.call('GET', `/api/v1/inventory?${query}`)
      const expected = all.filter(
        row => (include_deleted || row.deleted_at === null) && used.every(name => filters[name]!.holds(row)),
      )
      assert.equal(status, 200)
      assert.deepEqual(
        body.data.map((row: CloudResourceRow) => row.id),
        expected.map(row => row.id),
        String(query),
      )
      found.add(expected.length)
    }
  }
  assert.ok(found.size > 4, 'the seed tells the filters apart')
})

test('all filters at once page as well, and differ from all but one', async t => {
  const bundle = await setup(t)
  const { projects } = await seed(bundle)
  const every = {
    kind: 'droplet',
    region: 'nyc3',
    status: 'active',
    project_id: projects[0]!,
    deployment_id: DEPLOYMENTS[0],
    name: 'web',
    tag: 'env:dev',
    tenant_id: 'acme',
  }
  const cursor = Buffer.from(JSON.stringify(['inventory', '00000000-0000-0000-0000-000000000000'])).toString(
    'base64url',
  )
  for (const left of [undefined, ...Object.keys(every)]) {
    for (const extra of [{}, { cursor }, { cursor, include_deleted: 'true' }] as Record<string, string>[]) {
      const asked = Object.fromEntries(Object.entries(every).filter(([name]) => name !== left))
      const query = new URLSearchParams({ ...asked, ...extra })
      const { status, body } = await bundle.call('GET', `/api/v1/inventory?${query}`)
      assert.deepEqual([status, body.data?.length >= 1], [200, true], String(query))
    }
  }
})

test('a name or tag is taken as it is, not as a pattern', async t => {
  const bundle = await setup(t)
  await see(bundle, 'droplet', [
    { provider_id: '1', name: 'web_1', tags: ['a,b', '{x}'] },
    { provider_id: '2', name: 'webx1', tags: ['a'] },
  ])
  for (const [query, ids] of [
    ['name=web_1', ['1']],
    ['name=web%251', []],
    ['name=WEB_1', []],
    ['tag=a', ['2']],
    ['tag=a%2Cb', ['1']],
    ['tag=%7Bx%7D', ['1']],
    ["name='%3B--", []],
  ] as const) {
    const { body } = await bundle.call('GET', `/api/v1/inventory?${query}`)
    assert.deepEqual(
      body.data.map((row: CloudResourceRow) => row.provider_id),
      ids,
      query,
    )
  }
})

test('a query that cannot be meant is refused, naming the parameter', async t => {
  const bundle = await setup(t)
  for (const query of [
    'limit=0',
    'limit=501',
    'limit=-1',
    'limit=x',
    'limit=1.5',
    'kind=spaceship',
    'project_id=1',
    'deployment_id=x',
    'region=',
    'include_deleted=perhaps',
    'colour=red',
    'cursor=x',
    `tag=${'x'.repeat(256)}`,
    `tenant_id=${'x'.repeat(129)}`,
  ]) {
    const { status, body } = await bundle.call('GET', `/api/v1/inventory?${query}`)
    assert.equal(status, 422, query)
    assert.ok(body.errors[0].pointer.includes(query.split('=')[0]!), JSON.stringify(body.errors))
  }
})

test('a page holds 100 unless asked otherwise, and at most 500', async t => {
  const bundle = await setup(t)
  await see(
    bundle,
    'volume',
    Array.from({ length: 501 }, (_, i) => ({ provider_id: String(i) })),
  )
  for (const [query, length] of [
    ['', 100],
    ['?limit=1', 1],
    ['?limit=500', 500],
  ] as const) {
    const { body } = await bundle.call('GET', `/api/v1/inventory${query}`)
    assert.deepEqual([body.data.length, body.next_cursor !== null], [length, true])
  }
})

test('pages show each row once while others are inserted, changed and deleted in between', async t => {
  const bundle = await setup(t)
  const ids = Array.from({ length: 23 }, (_, i) => String(i))
  await see(
    bundle,
    'droplet',
    ids.map(provider_id => ({ provider_id })),
  )
  const deleted = ['1', '2']
  const shownIds: string[] = []
  let path = '/api/v1/inventory?limit=5&kind=droplet'
  for (let page = 0; path; page++) {
    const { body, headers } = await bundle.call('GET', path)
    shownIds.push(...body.data.map((row: CloudResourceRow) => row.provider_id))
    const link = /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
    assert.equal(link === undefined, body.next_cursor === null)
    path = link ?? ''
    if (page < 3)
      await see(bundle, 'droplet', [
        { provider_id: `new-${page}` },
        { provider_id: '0', name: `changed-${page}` },
      ])
    if (page === 1)
      await sql`update cloud_resources set deleted_at = now() where provider_id = any(${deleted}::text[])`.execute(
        bundle.ctx.db,
      )
  }
  assert.equal(new Set(shownIds).size, shownIds.length, 'none twice')
  assert.deepEqual(
    ids.filter(id => !deleted.includes(id) && !shownIds.includes(id)),
    [],
    'none that lived is left out',
  )
})

test('as_of names the start of each kind’s last whole sweep, and only of the kind asked for', async t => {
  const bundle = await setup(t, { provider: {} })
  const asOf = async (query = '') => (await bundle.call('GET', `/api/v1/inventory${query}`)).body.as_of
  assert.deepEqual(await asOf(), {})
  const droplets = await sweepOne(bundle, 'droplet')
  const volumes = await sweepOne(bundle, 'volume')
  assert.deepEqual(await asOf(), { droplet: droplets.started_at, volume: volumes.started_at })
  bundle.sandbox.faults.add({ fault: 'html', match: { path: '/v2/droplets' } })
  assert.equal((await sweepOne(bundle, 'droplet')).status, 'partial')
  assert.deepEqual(await asOf('?kind=droplet'), { droplet: droplets.started_at })
  const later = await sweepOne(bundle, 'droplet')
  assert.deepEqual(await asOf('?kind=droplet'), { droplet: later.started_at })
  assert.deepEqual(await asOf('?kind=app'), {})
})

test(
  'a resource shows its latest 50 events, newest last, and its events page through all of them, newest first',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    for (let i = 0; i < 61; i++) await see(bundle, 'droplet', [{ provider_id: '7', attrs: { memory: i } }])
    const { id } = await rowOf(bundle, 'droplet', '7')
    const { body } = await bundle.call('GET', `/api/v1/inventory/${id}`)
    assert.equal(body.data.id, id)
    assert.deepEqual([body.data.desired_state, body.data.drift, body.data.events.length], [null, [], 50])
    const { id: eventId, created_at, ...latest } = body.data.events[49]
    assert.match(eventId, /^[0-9a-f-]{36}$/)
    assert.equal(created_at, bundle.clock.now().toISOString())
    assert.deepEqual(latest, {
      kind: 'updated',
      resource_id: id,
      changes: { 'attrs.memory': { before: 59, after: 60 } },
      actor: 'sync:test',
      action: null,
    })

    const events: { kind: string; changes: { 'attrs.memory': { after: number } } | null }[] = []
    let path = `/api/v1/inventory/${id}/events?limit=25`
    let pages = 0
    for (; path; pages++) {
      const page = await bundle.call('GET', path)
      events.push(...page.body.data)
      path = /<(.+)>/.exec(page.headers.get('link') ?? '')?.[1] ?? ''
    }
    assert.equal(pages, 3)
    assert.deepEqual(
      events.slice(0, 60).map(e => e.changes?.['attrs.memory'].after),
      Array.from({ length: 60 }, (_, i) => 60 - i),
    )
    assert.deepEqual([events.length, events[60]?.kind, events[60]?.changes], [61, 'discovered', null])
    assert.deepEqual(body.data.events, events.slice(0, 50).reverse())
  },
)

test('a deleted resource can still be looked at by its id', async t => {
  const bundle = await setup(t)
  await see(bundle, 'droplet', [{ provider_id: '7' }])
  await sql`update cloud_resources set deleted_at = now()`.execute(bundle.ctx.db)
  const { id } = await rowOf(bundle, 'droplet', '7')
  assert.notEqual((await bundle.call('GET', `/api/v1/inventory/${id}`)).body.data.deleted_at, null)
})

test('an id that is unknown or none at all is 404', async t => {
  const { call } = await setup(t)
  for (const id of [newId(), 'x', '%00', '1']) {
    for (const path of [
      `/inventory/${id}`,
      `/inventory/${id}/events`,
      `/projects/${id}`,
      `/inventory/sync-runs/${id}`,
    ]) {
      const { status, body } = await call('GET', `/api/v1${path}`)
      assert.deepEqual([status, body.code], [404, 'not_found'], path)
    }
  }
})

test('a cursor of another listing is refused', async t => {
  const bundle = await setup(t)
  await see(bundle, 'droplet', [{ provider_id: '1' }, { provider_id: '2' }])
  const { id } = await rowOf(bundle, 'droplet', '1')
  const { body } = await bundle.call('GET', '/api/v1/inventory?limit=1')
  for (const path of [`/inventory/${id}/events`, '/projects', '/inventory/sync-runs']) {
    assert.equal((await bundle.call('GET', `/api/v1${path}?cursor=${body.next_cursor}`)).status, 422, path)
  }
})

test('the event log cannot be rewritten, shortened or emptied in the database itself', async t => {
  const bundle = await setup(t)
  const { db } = bundle.ctx
  await see(bundle, 'droplet', [{ provider_id: '7' }])
  const refused = { message: /cloud_resource_events is append-only/ }
  await assert.rejects(sql`update cloud_resource_events set actor = 'nobody'`.execute(db), refused)
  await assert.rejects(sql`delete from cloud_resource_events`.execute(db), refused)
  await assert.rejects(sql`truncate cloud_resource_events`.execute(db), refused)
  await assert.rejects(sql`truncate cloud_resources cascade`.execute(db), refused)
  await assert.rejects(sql`delete from cloud_resources`.execute(db), 'a resource with events cannot go')
  await assert.rejects(
    sql`insert into cloud_resource_events values (uuid_v7(), (select id from cloud_resources), 'renamed', null, 'x', now())`.execute(
      db,
    ),
  )
  const { rows } = await sql<{
    kind: string
    actor: string
  }>`select kind, actor from cloud_resource_events`.execute(db)
  assert.deepEqual(rows, [{ kind: 'discovered', actor: 'sync:test' }])
})

test('a write that is rolled back leaves neither row nor event', async t => {
  const bundle = await setup(t)
  const { db } = bundle.ctx
  const resource = {
    provider_id: '1',
    name: 'x',
    region: null,
    status: null,
    tags: [],
    attrs: {},
    fingerprint: 'f',
  }
  const sighting = await sightingOf(bundle, 'droplet', 'x')
  await assert.rejects(
    db.transaction().execute(async tx => {
      assert.equal((await writeSeen(tx, sighting, resource)).inserted, 1)
      throw new Error('no')
    }),
  )
  const { rows } = await sql<{
    n: number
  }>`select (select count(*) from cloud_resources) + (select count(*) from cloud_resource_events) as n`.execute(
    db,
  )
  assert.equal(Number(rows[0]?.n), 0)
})

test('sweeps are listed newest first, by kind, status and sweep, page by page, and shown one by one', async t => {
  const bundle = await setup(t, { provider: {} })
  const sweepId = newId()
  const runs = [
    await sweepOne(bundle, 'droplet'),
    await sweepOne(bundle, 'volume', sweepId),
    await sweepOne(bundle, 'droplet', sweepId),
  ]
  bundle.sandbox.faults.add({ fault: 'html', match: { path: '/v2/volumes' } })
  runs.push(await sweepOne(bundle, 'volume'))
  const list = async (query: string) =>
    (await bundle.call('GET', `/api/v1/inventory/sync-runs?${query}`)).body
  const found = async (query: string) =>
    (await list(query)).data.map((run: { id: string }) => runs.findIndex(({ id }) => id === run.id))
  assert.deepEqual(await found(''), [3, 2, 1, 0])
  assert.deepEqual(await found('kind=volume'), [3, 1])
  assert.deepEqual(await found('kind=project'), [])
  assert.deepEqual(await found('status=failed'), [3])
  assert.deepEqual(await found('status=complete&kind=volume'), [1])
  assert.deepEqual(await found(`sweep_id=${sweepId}`), [2, 1])
  const first = await list('limit=3')
  assert.deepEqual(await found(`limit=3&cursor=${first.next_cursor}`), [0])
  for (const query of ['kind=x', 'status=done', 'sweep_id=1', 'limit=501', 'colour=red'])
    assert.equal((await bundle.call('GET', `/api/v1/inventory/sync-runs?${query}`)).status, 422, query)

  const { attempt: _, look: __, ...record } = runs[0]!
  assert.deepEqual((await bundle.call('GET', `/api/v1/inventory/sync-runs/${record.id}`)).body.data, record)
  assert.deepEqual(
    [record.pages, record.seen, record.total, record.inserted, record.status],
    [2, 9, 9, 9, 'complete'],
  )
})
