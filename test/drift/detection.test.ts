// The drift sweep over a real database: what opens, what is told, what goes stale.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { alike, COLUMNS } from '../../src/features/drift/spec.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { desire, drifts, droplet, loseAll, sweepDrift, toldOf } from '../support/drift.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { setup } from '../support/setup.ts'
import { rowOf, see } from '../support/sweep.ts'

const fieldsOf = (rows: { field: string }[]) => rows.map(({ field }) => field).sort()

test('the life of a drift: open, told once, seen again, told when the live value moves, stale, and open anew', async t => {
  const bundle = await setup(t)
  const id = await droplet(bundle, { provider_id: '1', name: 'web', attrs: { memory: 1024 } })
  await desire(bundle, id, { name: 'web', memory: 512 })

  assert.deepEqual(await sweepDrift(bundle), { open: 1, told: 1, ignored: 0, stale: 0 })
  const [first] = await drifts(bundle)
  assert.deepEqual(
    [first.field, first.desired, first.actual, first.status, first.detected_at, first.last_detected_at],
    ['memory', 512, 1024, 'open', bundle.clock.now().toISOString(), bundle.clock.now().toISOString()],
  )
  assert.deepEqual(await toldOf(bundle, id), [{ memory: { before: 512, after: 1024 } }])

  // The same an hour later: the same row, bumped, and nothing told.
  assert.deepEqual(await sweepDrift(bundle), { open: 1, told: 0, ignored: 0, stale: 0 })
  assert.deepEqual(await drifts(bundle), [{ ...first, last_detected_at: bundle.clock.now().toISOString() }])
  assert.equal((await toldOf(bundle, id)).length, 1)

  // Another live value is news; another desired one is not.
  await droplet(bundle, { provider_id: '1', name: 'web', attrs: { memory: 2048 } })
  assert.equal((await sweepDrift(bundle)).told, 1)
  await desire(bundle, id, { name: 'web', memory: 4096 })
  assert.equal((await sweepDrift(bundle)).told, 0)
  const [moved, ...more] = await drifts(bundle)
  assert.deepEqual([moved.id, moved.desired, moved.actual, more.length], [first.id, 4096, 2048, 0])
  assert.deepEqual((await toldOf(bundle, id))[1], { memory: { before: 512, after: 2048 } })

  await droplet(bundle, { provider_id: '1', name: 'web', attrs: { memory: '4096' } })
  assert.deepEqual(await sweepDrift(bundle), { open: 0, told: 0, ignored: 0, stale: 1 })
  assert.deepEqual(await drifts(bundle), [])
  const [stale] = await drifts(bundle, '?status=stale')
  assert.deepEqual([stale.id, stale.resolved_at], [first.id, bundle.clock.now().toISOString()])
  assert.match(stale.resolved_by, /^drift:/)

  // History stays: what drifts again is a row of its own.
  await droplet(bundle, { provider_id: '1', name: 'web', attrs: { memory: 1 } })
  assert.deepEqual(await sweepDrift(bundle), { open: 1, told: 1, ignored: 0, stale: 0 })
  assert.notEqual((await drifts(bundle))[0].id, first.id)
  assert.equal((await drifts(bundle, '?status=stale')).length, 1)
})

test('a field is looked for among the resource’s own, then in its attributes, and missing is null', async t => {
  const bundle = await setup(t)
  const id = await droplet(bundle, {
    provider_id: '7',
    name: 'web',
    tags: ['b', 'a'],
    attrs: JSON.parse(
      '{"kind": "not this one", "vcpus": 2, "locked": false, "image": {"id": 1, "slug": "ubuntu"}, "features": ["x", "y"], "__proto__": {"a": 1}}',
    ),
  })
  const met = `"name": "web", "kind": "droplet", "provider": "digitalocean", "region": "nyc3", "status": "active",
    "tags": ["a", "b", "a"], "tenant_id": null, "vcpus": "2", "locked": "false", "image": {"slug": "ubuntu", "id": "1"},
    "features": ["y", "x"], "nowhere": null, "__proto__": {"a": "1"}, "constructor": null, "toString": null`
  await desire(bundle, id, {}, `{"spec": {${met}}}`)
  assert.deepEqual(await sweepDrift(bundle), { open: 0, told: 0, ignored: 0, stale: 0 })

  await desire(
    bundle,
    id,
    {},
    `{"spec": {"name": "db", "kind": "volume", "region": null, "tags": ["a"], "vcpus": 3, "locked": true,
      "image": {"slug": "debian"}, "features": ["x"], "nowhere": 1, "__proto__": {"a": 2}, "constructor": "x"}}`,
  )
  await sweepDrift(bundle)
  const rows = await drifts(bundle)
  const actual = (field: string) => rows.find(row => row.field === field)?.actual
  assert.deepEqual(fieldsOf(rows), [
    '__proto__',
    'constructor',
    'features',
    'image',
    'kind',
    'locked',
    'name',
    'nowhere',
    'region',
    'tags',
    'vcpus',
  ])
  assert.deepEqual(actual('__proto__'), { a: 1 })
  assert.equal(actual('constructor'), null)
  assert.equal(actual('kind'), 'droplet')
  assert.deepEqual(actual('tags'), ['b', 'a'])
  const { text } = await bundle.call('GET', `/api/v1/inventory/${id}/events`)
  assert.match(text, /"changes":\{"__proto__":\{"before":\{"a":2\},"after":\{"a":1\}\}\}/)
})

test(
  'for any specs and live values the sweep opens what the loose comparison tells apart, no more and no less',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const scalar = fc.constantFrom(null, true, 'true', 1, '1', 1.5, 'a', '["a"]', '', 'web')
    const value = fc.oneof(
      { weight: 3, arbitrary: scalar },
      fc.array(scalar, { maxLength: 3 }),
      fc.array(fc.array(scalar, { maxLength: 2 }), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('x', 'y'), scalar),
    )
    const text = fc.constantFrom('web', '1', '["a"]', 'true')
    const field = fc.constantFrom(
      'name',
      'region',
      'status',
      'tags',
      'kind',
      'tenant_id',
      'one',
      'two',
      '__proto__',
    )
    const live = fc.record({
      name: text,
      region: fc.option(text),
      status: fc.option(text),
      tags: fc.array(fc.constantFrom('a', 'b', '1'), { maxLength: 2 }),
      attrs: fc.dictionary(fc.constantFrom('one', 'two', 'region', '__proto__'), value),
    })
    const spec = fc.dictionary(field, value, { maxKeys: 6 })
    const seed = Date.now() % 2 ** 31
    const cases = fc.sample(fc.record({ live, spec }), { numRuns: 400, seed })
    await see(
      bundle,
      'droplet',
      cases.map(({ live: { attrs, ...rest } }, i) => ({
        provider_id: `${i}`,
        attrs: Object.fromEntries(Object.entries(attrs)),
        ...rest,
      })),
    )
    const rows = await bundle.ctx.db.selectFrom('cloud_resources').selectAll().execute()
    const byProvider = new Map(rows.map(row => [row.provider_id, row]))
    await bundle.ctx.db
      .insertInto('cloud_provisioned')
      .values(
        cases.map(({ spec }, i) => ({
          resource_id: byProvider.get(`${i}`)!.id,
          spec: JSON.stringify(spec) as never,
          spec_version: 1,
          saga_id: null,
          created_at: bundle.clock.now().toISOString(),
          updated_at: bundle.clock.now().toISOString(),
        })),
      )
      .execute()
    const expected = cases.flatMap(({ spec }, i) => {
      const row = byProvider.get(`${i}`)! as Record<string, unknown> & { attrs: object }
      const attrs = new Map(Object.entries(row.attrs))
      const columns = new Map(Object.entries(row))
      return Object.entries(spec)
        .filter(([field, desired]) => !alike(desired, columns.get(field) ?? attrs.get(field)))
        .map(([field]) => `${i} ${field}`)
    })
    await sweepDrift(bundle)
    const open = await bundle.ctx.db
      .selectFrom('cloud_drift')
      .innerJoin('cloud_resources as r', 'r.id', 'resource_id')
      .select(['r.provider_id', 'field'])
      .execute()
    const found = open.map(({ provider_id, field }) => `${provider_id} ${field}`)
    assert.deepEqual(found.sort(), expected.sort(), `seed ${seed}`)
    assert.ok(expected.length > 100 && expected.length < 2_000)
  },
)

test(
  'a resource that is gone is one row that says so, whatever its fields were; it ends when it is restored or dropped',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const id = await droplet(bundle, { provider_id: '1', name: 'web', attrs: { memory: 1 } })
    const other = await droplet(bundle, { provider_id: '2' })
    await desire(bundle, id, { name: 'other', memory: 2, status: 'off' })
    await desire(bundle, other, {})
    await bundle.call('POST', '/api/v1/drift/ignore-rules', { body: { field: '*', reason: 'noise' } })
    await sweepDrift(bundle)
    assert.equal((await drifts(bundle, '?ignored=true')).length, 3)

    await loseAll(bundle, 'droplet')
    const { deleted_at } = await rowOf(bundle, 'droplet', '1')
    assert.deepEqual(await sweepDrift(bundle), { open: 2, told: 2, ignored: 0, stale: 0 })
    await sweepDrift(bundle)
    const [gone, ...more] = await drifts(bundle, `?resource_id=${id}`)
    assert.deepEqual(
      [gone.field, gone.desired, gone.actual, gone.resource_deleted_at, more.length],
      ['deleted_at', null, deleted_at, deleted_at, 0],
    )
    assert.deepEqual(await toldOf(bundle, id), [{ deleted_at: { before: null, after: deleted_at } }])
    assert.equal((await drifts(bundle, '?ignored=true')).length, 0)
    const refused = await bundle.call('POST', `/api/v1/drift/${gone.id}/accept`)
    assert.deepEqual([refused.status, refused.body.code], [409, 'resource_gone'])
    const late = await bundle.call('PUT', `/api/v1/inventory/${id}/desired-state`, { body: { spec: {} } })
    assert.deepEqual([late.status, late.body.code], [409, 'resource_gone'])

    await droplet(bundle, { provider_id: '1', name: 'web', attrs: { memory: 1 } })
    const dropped = await bundle.call('DELETE', `/api/v1/inventory/${other}/desired-state`)
    assert.equal(dropped.status, 204)
    assert.deepEqual(await sweepDrift(bundle), { open: 0, told: 0, ignored: 3, stale: 1 })
    assert.deepEqual(fieldsOf(await drifts(bundle, '?status=stale')), ['deleted_at', 'deleted_at'])
  },
)

test('an ignored mismatch is listed but not open and not told; it opens when its rule expires or is deleted', async t => {
  const bundle = await setup(t)
  const first = await droplet(bundle, {
    provider_id: '1',
    name: 'web',
    attrs: { size_slug: 'a', size_gb: 1, memory: 1 },
  })
  const second = await droplet(bundle, {
    provider_id: '2',
    name: 'web',
    attrs: { size_slug: 'a', size_gb: 1 },
  })
  const spec = { name: 'x', size_slug: 'b', size_gb: 2, 'odd\\%_*': 1 }
  for (const id of [first, second]) await desire(bundle, id, spec)
  await sweepDrift(bundle)
  assert.equal((await drifts(bundle)).length, 8)

  const rule = async (body: object) => {
    const made = await bundle.call('POST', '/api/v1/drift/ignore-rules', {
      body: { reason: 'known', ...body },
    })
    assert.equal(made.status, 201, made.text)
    return made.body.data.id as string
  }
  const expires_at = new Date(bundle.clock.now().getTime() + 5_400_000).toISOString()
  const sizes = await rule({ kind: 'droplet', field: 'size*_s*' })
  await rule({ resource_id: first, field: 'name', expires_at })
  await rule({ kind: 'volume', field: '*' })
  await rule({ field: '%' })
  await rule({ field: '_ame' })
  await rule({ field: 'od*\\%_*' })

  // What was open and is covered now goes stale; what else is open stays as it is.
  assert.deepEqual(await sweepDrift(bundle), { open: 3, told: 0, ignored: 5, stale: 5 })
  const ignored = await drifts(bundle, '?ignored=true')
  assert.deepEqual(fieldsOf(ignored), ['name', 'odd\\%_*', 'odd\\%_*', 'size_slug', 'size_slug'])
  assert.deepEqual(new Set(ignored.map(row => row.status)), new Set(['ignored']))
  assert.deepEqual(fieldsOf(await drifts(bundle, `?ignored=true&resource_id=${second}`)), [
    'odd\\%_*',
    'size_slug',
  ])
  assert.equal((await drifts(bundle, '?ignored=true&kind=volume')).length, 0)
  assert.equal((await toldOf(bundle, first)).length, 4)
  const [{ id }] = ignored
  assert.equal((await bundle.call('GET', `/api/v1/drift/${id}`)).body.data.status, 'ignored')
  const refused = await bundle.call('POST', `/api/v1/drift/${id}/accept`)
  assert.deepEqual([refused.status, refused.body.code], [409, 'drift_not_open'])

  // An hour later the rule on the name has expired.
  assert.deepEqual(await sweepDrift(bundle), { open: 4, told: 1, ignored: 4, stale: 0 })
  assert.equal((await bundle.call('DELETE', `/api/v1/drift/ignore-rules/${sizes}`)).status, 204)
  assert.equal((await drifts(bundle, '?ignored=true')).length, 4)
  assert.deepEqual(await sweepDrift(bundle), { open: 6, told: 2, ignored: 2, stale: 0 })
  assert.equal((await drifts(bundle, '?ignored=true')).length, 2)
})

test('the task drift_detection sweeps, hourly at minute 20, and may run while a sync writes', async t => {
  const bundle = await setup(t, { worker: true })
  const id = await droplet(bundle, { provider_id: '1', name: 'web' })
  await desire(bundle, id, { name: 'db' })
  const { body } = await bundle.call('GET', '/api/v1/admin/scheduled_tasks/drift_detection')
  assert.deepEqual([body.data.cron, body.data.queue], ['20 * * * *', 'metering'])
  const run = await bundle.call('POST', '/api/v1/admin/scheduled_tasks/drift_detection/run')
  assert.equal(run.status, 202, run.text)
  for (let look = 0; look < 5; look++)
    await droplet(bundle, { provider_id: '1', name: 'web', attrs: { look } })
  await eventually('the task is done', async () => {
    const { body } = await bundle.call('GET', run.headers.get('location') ?? '')
    return body.data.status === 'completed'
  })
  assert.deepEqual(fieldsOf(await drifts(bundle)), ['name'])
  assert.match(bundle.logged(), /"open":1,"told":1,"ignored":0,"stale":0.*drift swept/)
})

test('fields that a spec of before may name and none may now are compared with nothing, and their drift ends', async t => {
  const bundle = await setup(t)
  const { db } = bundle.ctx
  const id = await droplet(bundle, { provider_id: '1', name: 'web', attrs: { vcpus: 1 } })
  await desire(bundle, id, { name: 'db' })
  const old = {
    attrs: { vcpus: 1 },
    'attrs.vcpus': 1,
    stale_strike_count: 0,
    first_seen_at: 'x',
    last_seen_at: 'x',
  }
  await sql`update cloud_provisioned set spec = spec || ${JSON.stringify(old)}::jsonb`.execute(db)
  for (const field of Object.keys(old))
    await sql`
      insert into cloud_drift (id, resource_id, kind, field, desired, actual, status, detected_at, last_detected_at)
      values (uuid_v7(), ${id}, 'droplet', ${field}, '0', 'null', 'open', now(), now())`.execute(db)
  assert.deepEqual(await sweepDrift(bundle), { open: 1, told: 1, ignored: 0, stale: 5 })
  await droplet(bundle, { provider_id: '1', name: 'db', attrs: { vcpus: 1 } })
  assert.deepEqual(await sweepDrift(bundle), { open: 0, told: 0, ignored: 0, stale: 1 })
})

test('what is looked for among a resource’s columns is never checked as an attribute', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<{ field: string }>`
    select field from unnest(${[...COLUMNS]}::text[]) as field where drift_check(field, '"x"') = 'attribute'`.execute(
    ctx.db,
  )
  assert.deepEqual(rows, [])
})

test('one open row for a field of a resource, by the database itself', async t => {
  const bundle = await setup(t)
  const id = await droplet(bundle, { provider_id: '1', name: 'web' })
  await desire(bundle, id, { name: 'db' })
  await sweepDrift(bundle)
  const [row] = await bundle.ctx.db.selectFrom('cloud_drift').selectAll().execute()
  const copy = { ...row!, id: crypto.randomUUID(), desired: '"db"', actual: '"web"' }
  const again = transaction(bundle.ctx.db, tx => tx.insertInto('cloud_drift').values(copy).execute())
  await assert.rejects(again, { code: '23505' })
})
