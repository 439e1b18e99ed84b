// The seed's inventory lifecycle, through the API and the real jobs, against the simulated provider; and the
// specification's own examples.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { kindNames } from '../../src/integrations/digitalocean/index.ts'
import { fixture, serve } from '../integrations/scripted-provider.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { doneBy, NOTHING_DONE, rowOf, sweepAll, sweepOne, sweepProjects } from '../support/sweep.ts'
import { expectedRows, officialExamples } from './official-examples.ts'

const control = async ({ ctx }: Bundle, method: string, path: string, body?: object) => {
  const answer = await fetch(`${ctx.config.DIGITALOCEAN_API_URL}/__sandbox${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`)
}

async function find({ call }: Bundle, name: string) {
  const { body } = await call('GET', `/api/v1/inventory?name=${name}&include_deleted=true`)
  return body.data[0]
}

const eventsOf = async ({ call }: Bundle, id: string) => {
  const { body } = await call('GET', `/api/v1/inventory/${id}/events`)
  return body.data.map((event: { kind: string }) => event.kind).reverse()
}

test('a first sweep discovers every kind, and a second over an unchanged provider makes no event', async t => {
  const bundle = await setup(t, { worker: true, provider: {} })
  const first = await sweepAll(bundle)
  for (const run of first.values()) assert.equal(run.status, 'complete', `${run.kind}: ${run.error}`)
  const { body } = await bundle.call('GET', '/api/v1/inventory?limit=500')
  assert.deepEqual(
    [...new Set(body.data.map((row: { kind: string }) => row.kind))].sort(),
    [...kindNames].sort(),
  )
  assert.deepEqual(Object.keys(body.as_of).sort(), [...kindNames].sort())

  const second = await sweepAll(bundle)
  for (const run of second.values()) {
    assert.deepEqual(doneBy(run), NOTHING_DONE, run.kind)
  }
  const after = await bundle.call('GET', '/api/v1/inventory?limit=500')
  assert.deepEqual(after.body.data.map(withoutLastSeen), body.data.map(withoutLastSeen))
  for (const { id } of after.body.data)
    assert.equal((await eventsOf(bundle, id)).filter(isDiscovery).length, 1)
})

const isDiscovery = (kind: string) => kind === 'discovered'
const withoutLastSeen = ({ last_seen_at: _, ...row }: { last_seen_at: string }) => row

test('the life of a resource: discovered, touched, updated, struck, seen again, struck three times, deleted, restored', async t => {
  const bundle = await setup(t, { worker: true, provider: {} })
  await sweepAll(bundle)
  const { body } = await bundle.call('GET', '/api/v1/inventory?kind=droplet')
  const droplet = body.data[0]
  assert.equal(droplet.first_seen_at, droplet.last_seen_at)
  const start = (await eventsOf(bundle, droplet.id)).length
  const sweep = () => sweepOne(bundle, 'droplet')
  const now = () => bundle.clock.now().toISOString()

  await control(bundle, 'PATCH', `/resources/droplet/${droplet.provider_id}`, { memory: 4242 })
  assert.equal((await sweep()).updated, 1)
  const changed = await bundle.call('GET', `/api/v1/inventory/${droplet.id}`)
  assert.deepEqual(changed.body.data.events.at(-1).changes, {
    'attrs.memory': { before: droplet.attrs.memory, after: 4242 },
  })
  assert.deepEqual([changed.body.data.last_seen_at, changed.body.data.attrs.memory], [now(), 4242])

  const shelf = bundle.sandbox.world.shelves.droplet
  const kept = shelf.remove(droplet.provider_id)!
  const struck = await sweep()
  assert.deepEqual([struck.struck, struck.deleted], [1, 0])
  assert.equal((await find(bundle, droplet.name)).stale_strike_count, 1)
  shelf.insert(kept)
  assert.deepEqual(doneBy(await sweep()), NOTHING_DONE)
  const touched = await find(bundle, droplet.name)
  assert.deepEqual(
    [touched.stale_strike_count, touched.last_seen_at],
    [0, now()],
    'seen again: no strike is left',
  )

  await control(bundle, 'DELETE', `/resources/droplet/${droplet.provider_id}`)
  for (const strikes of [1, 2]) {
    const run = await sweep()
    assert.deepEqual([run.struck, run.deleted], [1, 0])
    const row = await find(bundle, droplet.name)
    assert.deepEqual([row.stale_strike_count, row.deleted_at], [strikes, null])
  }
  assert.equal((await sweep()).deleted, 1)
  const gone = await find(bundle, droplet.name)
  assert.deepEqual([gone.stale_strike_count, gone.deleted_at], [3, now()])
  const listed = await bundle.call('GET', `/api/v1/inventory?name=${droplet.name}`)
  assert.deepEqual(listed.body.data, [])
  assert.deepEqual(doneBy(await sweep()), NOTHING_DONE, 'a deleted resource is not struck again')

  await control(bundle, 'POST', '/resources/droplet', { id: Number(droplet.provider_id), name: droplet.name })
  assert.equal((await sweep()).restored, 1)
  const back = await find(bundle, droplet.name)
  assert.deepEqual([back.id, back.stale_strike_count, back.deleted_at], [droplet.id, 0, null])
  assert.equal(back.first_seen_at, droplet.first_seen_at)
  // The provider put the new droplet into its default project, so it may move after that.
  const events = await eventsOf(bundle, droplet.id)
  assert.deepEqual(events.slice(start, start + 3), ['updated', 'deleted', 'restored'])
})

test('one kind’s failure touches no other', async t => {
  const bundle = await setup(t, { worker: true, provider: {} })
  const { faults } = bundle.sandbox
  faults.add({ fault: 'html', times: 'always', match: { path: '/v2/volumes' } })
  faults.add({ fault: 'cut_json', times: 'always', match: { path: '/v2/projects' } })
  const runs = await sweepAll(bundle)
  for (const { kind, status, error } of runs.values()) {
    const broken = kind === 'volume' || kind === 'project'
    assert.equal(status === 'complete', !broken, `${kind}: ${status} ${error}`)
    assert.equal(error !== null, broken, kind)
  }
})

test(
  'every kind of the official examples lands as it is, secrets left out, and a second sweep has nothing to tell',
  onPostgresAlone,
  async t => {
    const env = { DIGITALOCEAN_API_URL: await serve(t, officialExamples), DIGITALOCEAN_TOKEN: 'a-token' }
    const bundle = await setup(t, { env })
    const { db } = bundle.ctx
    await sweepProjects(bundle)
    for (const kind of kindNames) {
      const run = await sweepOne(bundle, kind)
      assert.deepEqual(
        [run.status, run.error, run.inserted],
        ['complete', null, expectedRows[kind].length],
        kind,
      )
      const rows = await db
        .selectFrom('cloud_resources')
        .selectAll()
        .where('kind', '=', kind)
        .orderBy('provider_id')
        .execute()
      assert.equal(rows.length, expectedRows[kind].length)
      for (const [provider_id, name, region, status, attrs] of expectedRows[kind]) {
        const row = rows.find(found => found.provider_id === provider_id)!
        assert.deepEqual(
          [row.provider_id, row.name, row.region, row.status],
          [provider_id, name, region, status],
        )
        for (const [key, value] of Object.entries(attrs))
          assert.deepEqual(row.attrs[key], value, `${kind} ${key}`)
      }
    }
    assert.deepEqual((await rowOf(bundle, 'droplet', '3164444')).tags, ['env:prod', 'web'])
    const { project_id } = await rowOf(bundle, 'domain', 'example.com')
    const project = await bundle.call('GET', `/api/v1/projects/${project_id}`)
    assert.equal(project.body.data?.name, 'my-web-api', 'it is in the project whose list names it')

    const eventCount = async () =>
      (await sql<{ n: number }>`select count(*)::int as n from cloud_resource_events`.execute(db)).rows[0]!.n
    const first = await eventCount()
    assert.deepEqual(doneBy(await sweepProjects(bundle)), NOTHING_DONE)
    for (const kind of kindNames) assert.deepEqual(doneBy(await sweepOne(bundle, kind)), NOTHING_DONE, kind)
    assert.equal(await eventCount(), first)

    const { rows } = await sql<{ text: string }>`
    select (select string_agg(r::text, '') from cloud_resources r) || (select string_agg(e::text, '') from cloud_resource_events e)
      || (select string_agg(s::text, '') from sync_runs s) || (select string_agg(p::text, '') from cloud_projects p) as text`.execute(
      db,
    )
    const secrets = JSON.stringify(fixture('databases.list')).match(/"(?:password|uri)":"[^"]+"/g)!
    assert.ok(secrets.length >= 5)
    for (const secret of secrets) {
      const value = secret.slice(secret.indexOf(':') + 2, -1)
      assert.ok(!rows[0]!.text.includes(value) && !bundle.logged().includes(value), secret)
    }
    assert.doesNotMatch(rows[0]!.text, /postgres:\/\/|"password"|kubeconfig|a-token/)
  },
)
