// Between the sweeps: the provider's actions are followed, kinds without actions are listed in turn, and nothing is struck.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { addResource, destroyDroplet, removeResource } from '../../sandbox/world/world.ts'
import { driftOfChanged } from '../../src/features/drift/index.ts'
import { type Followed, followActions, shareOfLooking } from '../../src/features/inventory/follow-actions.ts'
import { type DropletActionInput, kindNames } from '../../src/integrations/digitalocean/index.ts'
import { desire, drifts } from '../support/drift.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { eventsOf, jobPart, rowOf } from '../support/sweep.ts'

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
  assert.deepEqual([...first.listed].sort(), [...kindNames].sort())
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

test('kinds without actions are listed every minute, and what is gone is neither struck nor deleted', async t => {
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
  for (let minute = 0; minute < 5; minute++) await look(bundle, 60)
  assert.deepEqual(await strikesAndDeletions(bundle), { struck: 0, deleted: 0 })
})

test('more actions than are read back are a gap: what they may hide is listed', async t => {
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

test('an outage of the list of actions is caught up with, and of two workers one looks', async t => {
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
})

test('looking stays below a quarter of the rate limit, and gives way while others wait or a sweep runs', async t => {
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
})

test('while a sweep runs no kind is listed in turn', async t => {
  const bundle = await setup(t, { provider: {} })
  await followed(bundle)
  await sql`insert into sync_runs (id, sweep_id, kind, status, started_at)
    values (uuid_v7(), uuid_v7(), 'droplet', 'running', now())`.execute(bundle.ctx.db)
  assert.deepEqual((await look(bundle, 600)).listed, [])
})

test('drift is found right after the change, and names the action that made it', async t => {
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

test('a change that no action explains is drift without one', async t => {
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
