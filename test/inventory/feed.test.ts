// Between the sweeps: the provider's actions are followed, kinds without actions are listed in turn, and nothing is struck.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { SANDBOX_TOKEN } from '../../sandbox/provider/server.ts'
import { addResource, destroyDroplet, removeResource } from '../../sandbox/world/world.ts'
import { driftOfChanged } from '../../src/features/drift/index.ts'
import { type Followed, followActions } from '../../src/features/inventory/follow-actions.ts'
import { inventoryHandlers } from '../../src/features/inventory/jobs.ts'
import { shareOfLooking } from '../../src/features/inventory/look-spending.ts'
import { type DropletActionInput, kindNames } from '../../src/integrations/digitalocean/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { desire, drifts } from '../support/drift.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { send } from '../support/http.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { eventsOf, jobPart, rowOf, sweepOne } from '../support/sweep.ts'
import { allowPrivate, webhook } from '../support/webhook-receiver.ts'

/** So many seconds later: one look. */
async function look(bundle: Bundle, seconds = 15): Promise<Followed> {
  bundle.clock.advance(seconds * 1_000)
  const followed = await followActions(bundle.ctx, jobPart())
  assert.ok(followed, 'nobody else has just looked')
  return followed
}

/** A first look, after which every kind was listed and the position is known. */
async function followed(bundle: Bundle): Promise<void> {
  const first = await look(bundle)
  assert.deepEqual([...first.listed].sort(), [...kindNames, 'project'].sort())
}

const act = ({ ctx }: Bundle, id: number, action: DropletActionInput) =>
  ctx.providers.for('provisioning').dropletAction(String(id), action)

const strikesAndDeletions = async ({ ctx }: Bundle) => {
  const { rows } = await sql<{ struck: number; deleted: number }>`
    select coalesce(sum(stale_strike_count), 0)::int as struck, count(deleted_at)::int as deleted from cloud_resources`.execute(
    ctx.db,
  )
  return rows[0]
}

test('what the provider did is in the inventory at the next look, once, and the event names the action', async t => {
  const bundle = await setup(t, { provider: {} })
  const { sandbox, call } = bundle
  await followed(bundle)
  const droplet = sandbox.world.shelves.droplet.at(0)!
  const { id } = await act(bundle, droplet.id, { type: 'rename', name: 'renamed-outside' })
  const { actions, gap, requests, listed } = await look(bundle)
  assert.deepEqual({ actions, gap, requests, listed }, { actions: 1, gap: false, requests: 2, listed: [] })
  const row = await rowOf(bundle, 'droplet', droplet.id)
  assert.equal(row.name, 'renamed-outside')
  const { body } = await call('GET', `/api/v1/inventory/${row.id}/events`)
  const [event] = body.data
  assert.deepEqual([event.kind, event.actor], ['updated', 'feed'])
  const { at, ...named } = event.action
  assert.deepEqual(named, { id: Number(id), type: 'rename', region: droplet.region.slug })
  assert.ok(!Number.isNaN(Date.parse(at)))
  const detail = await call('GET', `/api/v1/inventory/${row.id}`)
  assert.deepEqual(detail.body.data.events.at(-1).action, event.action)
  assert.equal((await look(bundle)).actions, 0, 'it is read once')
  assert.equal((await eventsOf(bundle, 'droplet', droplet.id)).length, 2)
})

test('an action that is under way is looked at again when it ends, also after a restart', async t => {
  const bundle = await setup(t, { provider: { actionDelayMs: 3_600_000 } })
  const { sandbox } = bundle
  await followed(bundle)
  const droplet = sandbox.world.shelves.droplet.at(0)!
  await act(bundle, droplet.id, { type: 'power_off' })
  assert.equal((await look(bundle)).actions, 1)
  assert.equal((await look(bundle)).actions, 0)
  assert.equal((await rowOf(bundle, 'droplet', droplet.id)).status, 'active')
  const due = sandbox.world.agenda[0]!
  sandbox.world.agenda[0] = { ...due, at: 0 }
  assert.equal((await look(bundle)).actions, 1)
  assert.equal((await rowOf(bundle, 'droplet', droplet.id)).status, 'off')
  const last = (await eventsOf(bundle, 'droplet', droplet.id)).at(-1)!
  assert.equal(last.action?.type, 'power_off')
  const open = await sql`select from open_actions`.execute(bundle.ctx.db)
  assert.equal(open.rows.length, 0)
})

test('one answer that it is not there is not believed, unless it was destroyed: its kind is listed', async t => {
  const bundle = await setup(t, { provider: {} })
  const { sandbox } = bundle
  await followed(bundle)
  const { id } = sandbox.world.shelves.droplet.at(0)!
  await act(bundle, id, { type: 'rename', name: 'still-there' })
  sandbox.faults.add({
    fault: 'server_error',
    status: 404,
    times: 1,
    match: { path: `/v2/droplets/${id}` },
  })
  const { listed } = await look(bundle)
  assert.ok(listed.includes('droplet'))
  const { name, missing_since } = await rowOf(bundle, 'droplet', id)
  assert.deepEqual([name, missing_since], ['still-there', null])
})

test(
  'kinds without actions are listed every minute, and what is gone is missing, neither struck nor deleted',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { provider: {} })
    const { sandbox } = bundle
    await followed(bundle)
    const domain = sandbox.world.shelves.domain.at(0)!
    const droplet = sandbox.world.shelves.droplet.at(0)!
    addResource(sandbox.world, 'domain', { ...domain, name: 'new.example' }, { now: new Date() })
    removeResource(sandbox.world, 'domain', domain.name!)
    destroyDroplet(sandbox.world, 'droplet', droplet.id)
    const early = await look(bundle, 30)
    assert.deepEqual(early.listed, [])
    const turn = await look(bundle, 30)
    assert.ok(turn.listed.includes('domain'))
    assert.equal((await rowOf(bundle, 'domain', 'new.example')).name, 'new.example')
    assert.ok((await rowOf(bundle, 'domain', domain.name!)).missing_since)
    for (let minute = 0; minute < 5; minute++) await look(bundle, 60)
    assert.deepEqual(await strikesAndDeletions(bundle), { struck: 0, deleted: 0 })
  },
)

test('what was destroyed is missing at the next look and told once, is not when it is back, and sweeps count as ever', async t => {
  const bundle = await setup(t, { provider: {}, env: allowPrivate })
  const { sandbox, call, clock, ctx } = bundle
  await webhook(bundle, { url: 'http://127.0.0.1:9/hook', events: ['resource.missing'] })
  await followed(bundle)
  const droplet = sandbox.world.shelves.droplet.at(0)!
  const { id } = await rowOf(bundle, 'droplet', droplet.id)
  const shown = async () => {
    const { missing_since, stale_strike_count, deleted_at } = (await call('GET', `/api/v1/inventory/${id}`))
      .body.data
    return { missing_since, stale_strike_count, deleted_at }
  }
  const told = async () => (await ctx.db.selectFrom('webhook_events').select('type').execute()).length
  await ctx.providers.for('provisioning').destroyDroplet(String(droplet.id))
  await look(bundle)
  const missing_since = clock.now().toISOString()
  assert.deepEqual(await shown(), { missing_since, stale_strike_count: 0, deleted_at: null })
  const listed = async () =>
    (await call('GET', '/api/v1/inventory?missing=true')).body.data.map((row: { id: string }) => row.id)
  assert.deepEqual(await listed(), [id])
  await sweepOne(bundle, 'droplet')
  assert.deepEqual(
    await shown(),
    { missing_since, stale_strike_count: 1, deleted_at: null },
    'since the look',
  )
  assert.equal(await told(), 1)
  addResource(sandbox.world, 'droplet', droplet, { now: clock.now() })
  await look(bundle, 60)
  assert.deepEqual(await shown(), { missing_since: null, stale_strike_count: 0, deleted_at: null })
  assert.deepEqual(await listed(), [])
  assert.deepEqual(
    (await eventsOf(bundle, 'droplet', droplet.id)).map(({ kind }) => kind),
    ['discovered'],
  )
})

test(
  'what is found between the sweeps has its project soon, and no list that is older moves it back',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { provider: {} })
    const { sandbox, clock } = bundle
    await followed(bundle)
    const { droplet: droplets } = sandbox.world.shelves
    const acme = [...sandbox.world.projects].find(({ name }) => name === 'acme')!
    const made = { ...droplets.at(0)!, id: 99_000_001, name: 'found' }
    addResource(sandbox.world, 'droplet', made, { projectId: acme.id, now: clock.now() })
    await look(bundle, 60)
    assert.equal((await rowOf(bundle, 'droplet', made.id)).project_id, null)
    for (let n = 0; n < 2; n++) await look(bundle, 30)
    const placed = await rowOf(bundle, 'droplet', made.id)
    const { rows } = await sql<{ id: string }>`
    select id from cloud_projects where provider_id = ${acme.id}`.execute(bundle.ctx.db)
    assert.equal(placed.project_id, rows[0]!.id)
  },
)

test('more actions than are read back are a gap: what they may hide is listed', onPostgresAlone, async t => {
  const bundle = await setup(t, { provider: {}, providerLimits: { perPage: 2 } })
  const { sandbox } = bundle
  await followed(bundle)
  const { droplet: droplets } = sandbox.world.shelves
  for (let n = 0; n < 12; n++) await act(bundle, droplets.at(0)!.id, { type: 'rename', name: `n${n}` })
  const seen = await look(bundle)
  assert.equal(seen.gap, true)
  for (const kind of ['droplet', 'volume', 'image', 'reserved_ip', 'snapshot'])
    assert.ok(seen.listed.includes(kind), kind)
  assert.equal((await rowOf(bundle, 'droplet', droplets.at(0)!.id)).name, 'n11')
  assert.equal((await look(bundle)).gap, false)
})

test(
  'an outage of the list of actions is caught up with, and of two workers one looks',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { provider: {} })
    const { sandbox, ctx } = bundle
    await followed(bundle)
    const droplet = sandbox.world.shelves.droplet.at(0)!
    sandbox.faults.add({ fault: 'server_error', times: 'always', match: { path: '/v2/actions' } })
    await act(bundle, droplet.id, { type: 'rename', name: 'during-outage' })
    assert.equal((await look(bundle)).actions, 0)
    const { rows } = await sql<{ error: string }>`select error from action_feed`.execute(ctx.db)
    assert.match(rows[0]!.error, /500/)
    sandbox.faults.clear()
    assert.equal((await look(bundle)).actions, 1)
    assert.equal(await followActions(ctx, jobPart()), null, 'the look was made just now')
    assert.equal((await rowOf(bundle, 'droplet', droplet.id)).name, 'during-outage')
  },
)

test(
  'what could not be listed after an action is listed at the next look, and its event names the action still',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { provider: {} })
    const { sandbox, ctx } = bundle
    await followed(bundle)
    const volume = sandbox.world.shelves.volume.at(0)!
    const url = `${ctx.config.DIGITALOCEAN_API_URL}/v2/volumes/${volume.id}/actions`
    const grow = { type: 'resize', size_gigabytes: volume.size_gigabytes! + 10 }
    assert.equal((await send('POST', url, { token: SANDBOX_TOKEN, body: grow })).status, 202)
    // Twice: it is tried again at once.
    sandbox.faults.add({ fault: 'html', times: 2, match: { path: '/v2/volumes' } })
    await look(bundle)
    const grown = async () => (await eventsOf(bundle, 'volume', volume.id)).at(-1)!
    assert.equal((await grown()).kind, 'discovered')
    await look(bundle)
    assert.deepEqual([(await grown()).kind, (await grown()).action?.type], ['updated', 'resize_volume'])
    assert.equal((await look(bundle)).actions, 0, 'then it is done with')
  },
)

test(
  'looking stays below a quarter of the rate limit, and gives way while others wait or a sweep runs',
  onPostgresAlone,
  async t => {
    const rates = [{ requests: 120, windowMs: 3_600_000 }]
    const bundle = await setup(t, { provider: {}, providerLimits: { rates } })
    const { ctx, sandbox } = bundle
    let requests = 0
    for (let round = 0; round < 8; round++) requests += (await look(bundle, 60)).requests
    assert.ok(requests > 20 && requests <= 30, `${requests} of 120`)
    assert.equal(sandbox.requests.length, requests)
    assert.equal(await shareOfLooking(ctx), requests / 120)
    assert.equal((await look(bundle, 15)).gaveWay, true)
    assert.equal((await look(bundle, 3_700)).requests > 0, true, 'an hour later there is room again')
  },
)

test('a kind that a sweep is listing is left to it', onPostgresAlone, async t => {
  const bundle = await setup(t, { provider: {} })
  await followed(bundle)
  await sql`insert into sync_runs (id, sweep_id, kind, status, started_at)
    values (uuid_v7(), uuid_v7(), 'droplet', 'running', now())`.execute(bundle.ctx.db)
  const { listed } = await look(bundle, 600)
  assert.deepEqual([listed.includes('droplet'), listed.includes('volume')], [false, true])
})

test(
  'looking asks nothing from the moment that others wait for the rate limit, and goes on when they do not',
  onPostgresAlone,
  async t => {
    // What nobody looks at, so that only the one who asks for it waits.
    const endpointRates = { '/v2/projects/default': { requests: 1, windowMs: 60_000 } }
    const bundle = await setup(t, { provider: {}, providerLimits: { endpointRates, maxWaitMs: 60_000 } })
    const { ctx, sandbox } = bundle
    const refresh = inventoryHandlers(ctx).find(({ type }) => type.name === 'refresh_resource')!
    const payload = { kind: 'droplet', provider_id: String(sandbox.world.shelves.droplet.at(0)!.id), look: 1 }
    const refreshed = () => refresh.run(payload, { id: newId(), attempt: 1, ...jobPart() })
    const sweeping = ctx.providers.for('cloud_sync_full')
    await sweeping.getDefaultProject()
    const enough = new AbortController()
    const waits = sweeping.getDefaultProject({ signal: enough.signal })
    const before = sandbox.requests.length
    const { requests, gaveWay, listed } = await look(bundle, 60)
    await refreshed()
    assert.deepEqual([requests, gaveWay, listed, sandbox.requests.length - before], [0, true, [], 0])
    enough.abort(new Error('enough'))
    await assert.rejects(waits)
    assert.ok((await look(bundle)).requests > 0)
  },
)

test(
  'the refreshing of resources in motion is counted, and leaves something to who follows the actions',
  onPostgresAlone,
  async t => {
    const rates = [{ requests: 80, windowMs: 3_600_000 }]
    const bundle = await setup(t, { provider: {}, providerLimits: { rates } })
    const { ctx, sandbox } = bundle
    const handler = inventoryHandlers(ctx).find(({ type }) => type.name === 'refresh_resource')!
    const droplet = sandbox.world.shelves.droplet.at(0)!
    const refresh = (look: number) =>
      handler.run(
        { kind: 'droplet', provider_id: String(droplet.id), look },
        { id: newId(), attempt: 1, ...jobPart() },
      )
    for (let n = 1; n <= 25; n++) await refresh(n * 3)
    assert.equal(sandbox.requests.length, 18, 'a quarter of 80, but for a tenth of that')
    assert.equal(await shareOfLooking(ctx), 18 / 80)
    const { rows } = await sql`select 1 from pgboss.job where data->>'job' = 'refresh_resource'`.execute(
      ctx.db,
    )
    assert.equal(rows.length, 7, 'those that gave way come back')
    assert.equal((await look(bundle)).requests, 1, 'the actions are followed')
  },
)

test('drift is found right after the change, and names the action that made it', onPostgresAlone, async t => {
  const bundle = await setup(t, { provider: {} })
  const { sandbox, ctx } = bundle
  await followed(bundle)
  const droplet = sandbox.world.shelves.droplet.at(0)!
  const { id } = await rowOf(bundle, 'droplet', droplet.id)
  await desire(bundle, id, { name: droplet.name, status: 'active' })
  const made = await act(bundle, droplet.id, { type: 'rename', name: 'by-hand' })
  await driftOfChanged(ctx, (await look(bundle)).changed)
  const [drift, ...more] = await drifts(bundle)
  assert.deepEqual(
    [drift.field, drift.actual, drift.action.id, drift.action.type, more],
    ['name', 'by-hand', Number(made.id), 'rename', []],
  )
  await act(bundle, droplet.id, { type: 'rename', name: droplet.name })
  await driftOfChanged(ctx, (await look(bundle)).changed)
  assert.deepEqual(await drifts(bundle), [], 'it matches again')
})

test('a change that no action explains is drift without one', onPostgresAlone, async t => {
  const bundle = await setup(t, { provider: {} })
  const { sandbox, ctx } = bundle
  await followed(bundle)
  const droplet = sandbox.world.shelves.droplet.at(0)!
  const { id } = await rowOf(bundle, 'droplet', droplet.id)
  await desire(bundle, id, { tags: droplet.tags })
  sandbox.world.shelves.droplet.replace({ ...droplet, tags: ['by-hand'] })
  await act(bundle, droplet.id, { type: 'power_off' })
  await driftOfChanged(ctx, (await look(bundle)).changed)
  const found = await drifts(bundle)
  assert.deepEqual(
    found.map(({ field, action }) => [field, action]),
    [['tags', null]],
    'one look saw both, and power has nothing to do with tags',
  )
})
