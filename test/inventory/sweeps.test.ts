// Sweeps that meet trouble: incomplete listings, lost workers, mass deletion, resources in motion.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import type { FaultSpec } from '../../sandbox/provider/faults.ts'
import { generated } from '../../sandbox/world/generated.ts'
import { removeResource } from '../../sandbox/world/world.ts'
import { inventoryHandlers } from '../../src/features/inventory/jobs.ts'
import { LostRunError, syncKind } from '../../src/features/inventory/sync-kind.ts'
import { startRun } from '../../src/features/inventory/sync-run-store.ts'
import { oneProvider, type Providers } from '../../src/integrations/digitalocean/index.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { newId } from '../../src/kernel/ids.ts'
import { chaosSweeps } from '../chaos/sweeps/run.ts'
import { openTestEngine } from '../support/database.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { type Bundle, setup } from '../support/setup.ts'
import {
  doneBy,
  eventsOf,
  jobPart,
  NOTHING_DONE,
  refresh,
  rowOf,
  runOf,
  type SyncRun,
  sweepAll,
  sweepOne,
} from '../support/sweep.ts'

const strikes = async ({ ctx }: Bundle) => {
  const { rows } = await sql<{
    n: number
  }>`select coalesce(sum(stale_strike_count), 0)::int as n from cloud_resources`.execute(ctx.db)
  return rows[0]!.n
}

const countEvents = async ({ ctx }: Bundle, kind: string) => {
  const { rows } = await sql<{
    n: number
  }>`select count(*)::int as n from cloud_resource_events where kind = ${kind}`.execute(ctx.db)
  return rows[0]!.n
}

/** Twelve droplets on three pages, one GPU droplet, and volumes to see whether they are left alone. */
const paged = () => ({
  provider: { seed: generated({ droplets: 12, gpuDroplets: 1, volumes: 3, projects: 2 }) },
  providerLimits: { perPage: 5 },
})

/** The provider with something done just before a page is handed on. */
function interrupted(providers: Providers, beforePage: (number: number) => Promise<void>): Providers {
  const provider = providers.for('cloud_sync_full')
  return oneProvider({
    ...provider,
    pages(kind, options) {
      const listing = provider.pages(kind, options)
      async function* read() {
        let number = 0
        for await (const page of listing) {
          number += 1
          await beforePage(number)
          yield page
        }
      }
      const pages = read()
      return {
        [Symbol.asyncIterator]: () => pages,
        get verdict() {
          return listing.verdict
        },
      }
    },
  })
}

describe('a listing that is less than whole', () => {
  const onPage = (page: number, gpus = false) => ({
    kind: gpus ? ('gpu_droplet' as const) : ('droplet' as const),
    page,
  })
  const always = { times: 'always' } as const
  const broken: Record<string, FaultSpec & { times?: number | 'always' }> = {
    'a server error on page 2, to the end': { fault: 'server_error', ...always, match: onPage(2) },
    'a 403 on page 2': { fault: 'server_error', status: 403, match: onPage(2) },
    'a 404 on page 2': { fault: 'server_error', status: 404, id: 'not_found', match: onPage(2) },
    'a reset connection on page 2, to the end': { fault: 'connection_reset', ...always, match: onPage(2) },
    'cut JSON on page 1': { fault: 'cut_json', ...always, match: onPage(1) },
    'cut JSON on page 2': { fault: 'cut_json', ...always, match: onPage(2) },
    'an HTML page with 200': { fault: 'html', ...always, match: onPage(2) },
    'an empty body with 200': { fault: 'empty_body', ...always, match: onPage(2) },
    'a page that names itself as the next': { fault: 'repeat_page', ...always, match: onPage(2) },
    'a last page that leads back to the first': { fault: 'loop_pages', ...always, match: onPage(3) },
    'a first page that leads back to itself': { fault: 'loop_pages', ...always, match: onPage(1) },
    'an item inserted between the pages': { fault: 'shift_pages', change: 'insert', match: onPage(2) },
    'an item removed between the pages': { fault: 'shift_pages', change: 'remove', match: onPage(2) },
    'a total that is one too many': { fault: 'wrong_total', by: 1, ...always, match: { kind: 'droplet' } },
    'a total that is one too few': { fault: 'wrong_total', by: -1, ...always, match: { kind: 'droplet' } },
    'a server error in the GPU droplets’ listing alone': {
      fault: 'server_error',
      ...always,
      match: onPage(1, true),
    },
    'an HTML page in the GPU droplets’ listing alone': { fault: 'html', ...always, match: onPage(1, true) },
  }

  test('strikes nothing, says why, and is bounded, whatever is wrong with it', async t => {
    const bundle = await setup(t, paged())
    const { sandbox } = bundle
    await sweepOne(bundle, 'droplet')
    await sweepOne(bundle, 'volume')
    // Were one of these listings taken for whole, these two would be struck.
    removeResource(sandbox.world, 'droplet', String(sandbox.world.shelves.droplet.at(7)!.id))
    removeResource(sandbox.world, 'gpu_droplet', String(sandbox.world.shelves.gpu_droplet.at(0)!.id))
    for (const [what, fault] of Object.entries(broken)) {
      sandbox.faults.clear()
      sandbox.faults.add(fault)
      const before = sandbox.requests.length
      const run = await sweepOne(bundle, 'droplet')
      assert.ok(
        sandbox.faults.list().some(planned => planned.met > 0),
        `${what}: the fault was met`,
      )
      assert.equal(run.status, 'partial', `${what}: ${run.error}`)
      assert.match(run.error ?? '', /^\/v2\/droplets/, what)
      assert.deepEqual([run.struck, run.deleted, run.held], [0, 0, 0], what)
      assert.notEqual(run.finished_at, null)
      assert.equal(await strikes(bundle), 0, what)
      assert.ok(sandbox.requests.length - before < 12, what)
      assert.deepEqual(doneBy(await sweepOne(bundle, 'volume')), NOTHING_DONE, 'other kinds are unaffected')
    }
    sandbox.faults.clear()
    const whole = await sweepOne(bundle, 'droplet')
    assert.equal(whole.status, 'complete', whole.error ?? '')
    assert.ok(whole.struck >= 2, 'a whole listing strikes what it does not show')
    assert.equal(await countEvents(bundle, 'deleted'), 0)
  })

  test('of which not one page could be read is failed', async t => {
    const bundle = await setup(t, { provider: {} })
    bundle.sandbox.faults.add({ fault: 'server_error', times: 'always', match: { path: '/v2/droplets' } })
    const run = await sweepOne(bundle, 'droplet')
    assert.deepEqual([run.status, run.pages, run.seen], ['failed', 0, 0])
    assert.match(run.error ?? '', /500/)
  })

  test('still shows what it did show: new, changed and returned resources are written', async t => {
    const bundle = await setup(t, paged())
    const { sandbox } = bundle
    sandbox.faults.add({ fault: 'html', match: { kind: 'droplet', page: 2 } })
    const run = await sweepOne(bundle, 'droplet')
    assert.deepEqual([run.status, run.inserted, run.pages], ['partial', 6, 2], 'page 1 and the GPU droplet')
  })

  test('does not follow from a read that failed and then succeeded', async t => {
    const bundle = await setup(t, paged())
    const faults: FaultSpec[] = [
      { fault: 'too_many_requests', retry_after: 'none' },
      { fault: 'too_many_requests', seconds: 0 },
      { fault: 'server_error', status: 500 },
      { fault: 'server_error', status: 503 },
      { fault: 'connection_reset' },
      { fault: 'slow_bytes', chunk_bytes: 65_536, every_ms: 1 },
    ]
    for (const fault of faults) {
      bundle.sandbox.faults.clear()
      for (const page of [1, 2]) bundle.sandbox.faults.add({ ...fault, match: { kind: 'droplet', page } })
      const run = await sweepOne(bundle, 'droplet')
      assert.deepEqual([run.status, run.error, run.seen, run.total], ['complete', null, 13, 13], fault.fault)
    }
    assert.equal(await countEvents(bundle, 'discovered'), 13)
    assert.equal(await countEvents(bundle, 'updated'), 0)
  })

  test('is not what a token without a side scope gets: missing fields are no change', async t => {
    const bundle = await setup(t, { provider: {} })
    const before = await sweepOne(bundle, 'droplet')
    bundle.sandbox.faults.add({
      fault: 'missing_fields',
      times: 'always',
      match: { path: '/v2/droplets' },
      fields: ['tags', 'image', 'volume_ids', 'vpc_uuid', 'region', 'status', 'name', 'networks'],
    })
    for (let i = 0; i < 2; i++) {
      const run = await sweepOne(bundle, 'droplet')
      assert.deepEqual([run.status, doneBy(run)], ['complete', NOTHING_DONE])
    }
    bundle.sandbox.faults.clear()
    assert.deepEqual(doneBy(await sweepOne(bundle, 'droplet')), NOTHING_DONE, 'nor is their return')
    assert.equal(before.inserted, 9)
    assert.equal((await rowOf(bundle, 'droplet', 41_000_201)).region, 'nyc3')
  })

  test('names that the database cannot hold are mended, not refused', async t => {
    const bundle = await setup(t, { provider: {} })
    const shelf = bundle.sandbox.world.shelves.droplet
    shelf.replace({ ...shelf.get('41000101')!, name: 'a\0b\ud800 \\u0000', tags: ['\udfff'] })
    assert.equal((await sweepOne(bundle, 'droplet')).status, 'complete')
    const row = await rowOf(bundle, 'droplet', 41_000_101)
    assert.deepEqual([row.name, row.tags], ['a\ufffdb\ufffd \\u0000', ['\ufffd']])
    assert.deepEqual(doneBy(await sweepOne(bundle, 'droplet')), NOTHING_DONE)
  })
})

test('a rate limit longer than a job should hold postpones the sweep, which then goes on under its own id', async t => {
  const bundle = await setup(t, { provider: {} })
  const { ctx, sandbox } = bundle
  const handler = inventoryHandlers(ctx).find(({ type }) => type.name === 'sync_kind')!
  sandbox.faults.add({ fault: 'too_many_requests', seconds: 900, match: { path: '/v2/volumes' } })
  const payload = { kind: 'volume', sweep_id: newId() }
  await handler.run(payload, { id: newId(), attempt: 1, ...jobPart() })
  const stopped = await runOf(bundle, 'volume', payload.sweep_id)
  assert.deepEqual([stopped.status, stopped.struck], ['failed', 0])
  const { rows } = await sql<{ payload: { postponed: number; sweep_id: string }; wait: number }>`
    select data->'payload' as payload, extract(epoch from start_after - created_on)::float as wait from pgboss.job
    where data->>'job' = 'sync_kind'`.execute(ctx.db)
  assert.equal(rows.length, 1)
  assert.deepEqual([rows[0]?.payload.sweep_id, rows[0]?.payload.postponed], [payload.sweep_id, 1])
  assert.ok(rows[0]!.wait > 890 && rows[0]!.wait < 910)
})

describe('a strike belongs to one whole sweep', () => {
  const gone = 41_000_101
  const struckOnce = async (t: Parameters<typeof setup>[0]) => {
    const bundle = await setup(t, { provider: {} })
    await sweepOne(bundle, 'droplet')
    removeResource(bundle.sandbox.world, 'droplet', String(gone))
    return bundle
  }
  const strikesOf = async (bundle: Bundle) => (await rowOf(bundle, 'droplet', gone)).stale_strike_count

  test('the same sweep run again, as a retried job would, strikes no second time', async t => {
    const bundle = await struckOnce(t)
    const sweepId = newId()
    const first = await sweepOne(bundle, 'droplet', sweepId)
    bundle.clock.advance(60_000)
    assert.equal(await syncKind(bundle.ctx, { kind: 'droplet', sweepId }, jobPart()), null)
    assert.deepEqual(await runOf(bundle, 'droplet', sweepId), first)
    assert.equal(await strikesOf(bundle), 1)
  })

  test('a sweep that failed on the way is run again under its id and strikes once', async t => {
    const bundle = await struckOnce(t)
    const { ctx } = bundle
    const { providers } = ctx
    const sweepId = newId()
    ctx.providers = interrupted(providers, async () => {
      throw new Error('the worker fell over')
    })
    const failed = await sweepOne(bundle, 'droplet', sweepId)
    assert.deepEqual(
      [failed.status, failed.error, await strikesOf(bundle)],
      ['failed', 'the worker fell over', 0],
    )
    ctx.providers = providers
    const again = await sweepOne(bundle, 'droplet', sweepId)
    assert.deepEqual([again.id, again.attempt, again.status, again.error], [failed.id, 2, 'complete', null])
    assert.equal(await strikesOf(bundle), 1)
  })

  for (const [what, later] of [
    ['a later sweep', () => newId()],
    ['the same sweep on another worker', (id: string) => id],
  ] as const) {
    test(`a worker whose run was taken over by ${what} loses, and strikes nothing`, async t => {
      const bundle = await struckOnce(t)
      const { ctx, clock } = bundle
      const { providers } = ctx
      const [sweepId, kind] = [newId(), 'droplet' as const]
      let taken = false
      ctx.providers = interrupted(providers, async () => {
        if (taken) return
        taken = true
        clock.advance(60_000)
        const run = { id: newId(), sweep_id: later(sweepId), kind, started_at: clock.now().toISOString() }
        assert.ok(await transaction(ctx.db, tx => startRun(tx, run)))
      })
      await assert.rejects(syncKind(ctx, { kind, sweepId }, jobPart()), LostRunError)
      ctx.providers = providers
      assert.equal(await strikesOf(bundle), 0)
      const { rows } =
        await sql<SyncRun>`select * from sync_runs where kind = 'droplet' and status = 'running'`.execute(
          ctx.db,
        )
      assert.equal(rows.length, 1, 'the run is the other’s')
      if (what === 'a later sweep') {
        const lost = await runOf(bundle, kind, sweepId)
        assert.deepEqual([lost.status, lost.error, lost.struck], ['failed', 'its worker was lost', 0])
      }
    })
  }

  test('a sweep that finds a whole later one running inside it loses, and one strike is given', async t => {
    const bundle = await struckOnce(t)
    const { ctx, clock } = bundle
    const { providers } = ctx
    const inner = newId()
    ctx.providers = interrupted(providers, async () => {
      ctx.providers = providers
      clock.advance(60_000)
      await syncKind(ctx, { kind: 'droplet', sweepId: inner }, jobPart())
    })
    await assert.rejects(syncKind(ctx, { kind: 'droplet', sweepId: newId() }, jobPart()), LostRunError)
    assert.equal((await runOf(bundle, 'droplet', inner)).status, 'complete')
    assert.equal(await strikesOf(bundle), 1)
  })

  test('a strike is taken back by any sighting: a whole sweep, a partial one, a refresh', async t => {
    const bundle = await struckOnce(t)
    const { shelves } = bundle.sandbox.world
    const droplet = { ...shelves.droplet.get('41000102')!, id: gone, name: 'back' }
    const sightings: (() => Promise<unknown>)[] = [
      () => sweepOne(bundle, 'droplet'),
      () => {
        bundle.sandbox.faults.add({ fault: 'html', match: { kind: 'gpu_droplet' } })
        return sweepOne(bundle, 'droplet')
      },
      () => refresh(bundle, 'droplet', gone),
    ]
    for (const sight of sightings) {
      for (const count of [1, 2]) {
        await sweepOne(bundle, 'droplet')
        assert.equal(await strikesOf(bundle), count)
      }
      shelves.droplet.insert(droplet)
      await sight()
      assert.equal(await strikesOf(bundle), 0)
      shelves.droplet.remove(String(gone))
    }
    assert.equal(await countEvents(bundle, 'deleted'), 0)
  })

  test('a clock that is set back during a sweep makes nothing that was seen unseen', async t => {
    const bundle = await struckOnce(t)
    const { ctx, clock } = bundle
    const { providers } = ctx
    ctx.providers = interrupted(providers, async page => {
      if (page === 1) clock.advance(-600_000)
    })
    const run = await sweepOne(bundle, 'droplet')
    assert.deepEqual([run.status, run.struck], ['complete', 1])
    assert.equal(await strikes(bundle), 1)
  })
})

describe('the brake', () => {
  /** 300 droplets, of which 120 vanish and are struck twice. */
  async function vanishing(t: Parameters<typeof setup>[0]) {
    const seed = generated({ droplets: 300, projects: 1 })
    const bundle = await setup(t, { provider: { seed } })
    await sweepOne(bundle, 'droplet')
    assert.equal(seed.remove({ percent: 40 }), 120)
    for (let i = 0; i < 2; i++) assert.equal((await sweepOne(bundle, 'droplet')).struck, 120)
    return {
      bundle,
      seed,
      confirm: (id: string, token?: string) =>
        bundle.call('POST', `/api/v1/inventory/sync-runs/${id}/confirm`, { token }),
    }
  }
  const deletedRows = async ({ ctx }: Bundle) => {
    const { rows } = await sql<{
      n: number
    }>`select count(*)::int as n from cloud_resources where deleted_at is not null`.execute(ctx.db)
    return rows[0]!.n
  }

  test('holds a deletion of more than a fifth and at least 100, and an operator’s word releases it once', async t => {
    const { bundle, confirm } = await vanishing(t)
    const held = await sweepOne(bundle, 'droplet')
    assert.deepEqual([held.status, held.struck, held.deleted, held.held], ['complete', 120, 0, 120])
    assert.match(held.error ?? '', /120 deletions are held/)
    assert.deepEqual([await deletedRows(bundle), await countEvents(bundle, 'deleted')], [0, 0])

    const tenant = await confirm(held.id, await bundle.tokens.tenant('acme'))
    assert.deepEqual([tenant.status, await deletedRows(bundle)], [403, 0])

    const again = await sweepOne(bundle, 'droplet')
    assert.deepEqual([again.held, again.deleted], [120, 0], 'it holds for as long as nobody confirms')
    const superseded = await confirm(held.id)
    assert.deepEqual([superseded.status, superseded.body.code], [409, 'superseded'])

    const confirmed = await confirm(again.id)
    assert.equal(confirmed.status, 200, confirmed.text)
    assert.deepEqual(
      [confirmed.body.data.deleted, confirmed.body.data.held, confirmed.body.data.confirmed_by],
      [120, 120, 'ada'],
    )
    assert.equal(confirmed.body.data.confirmed_at, bundle.clock.now().toISOString())
    assert.equal(await deletedRows(bundle), 120)
    const { rows } = await sql<{ actor: string; n: number }>`
      select actor, count(distinct resource_id)::int as n from cloud_resource_events where kind = 'deleted' group by 1`.execute(
      bundle.ctx.db,
    )
    assert.deepEqual(rows, [{ actor: 'ada', n: 120 }])

    const twice = await confirm(again.id)
    assert.deepEqual(
      [twice.status, twice.body.code, await countEvents(bundle, 'deleted')],
      [409, 'already_confirmed', 120],
    )
    assert.deepEqual(doneBy(await sweepOne(bundle, 'droplet')), NOTHING_DONE)
  })

  test('holds when most of a small account is missing from three whole listings, and deletes fewer than 25', async t => {
    const seed = generated({ droplets: 26, volumes: 24, projects: 1 })
    const bundle = await setup(t, { provider: { seed } })
    for (const kind of ['droplet', 'volume'] as const) {
      await sweepOne(bundle, kind)
      seed.remove({ percent: 100, kind })
      for (let i = 0; i < 2; i++) await sweepOne(bundle, kind)
    }
    const held = await sweepOne(bundle, 'droplet')
    assert.deepEqual([held.status, held.struck, held.deleted, held.held], ['complete', 26, 0, 26])
    const deleted = await sweepOne(bundle, 'volume')
    assert.deepEqual([deleted.status, deleted.deleted, deleted.held], ['complete', 24, 0])
  })

  test('lets go by itself of what comes back, and a confirmation deletes only what has not', async t => {
    const { bundle, seed, confirm } = await vanishing(t)
    const held = await sweepOne(bundle, 'droplet')
    const { rows } = await sql<{
      provider_id: string
    }>`select provider_id from cloud_resources where stale_strike_count = 3 order by id limit 20`.execute(
      bundle.ctx.db,
    )
    const template = seed.shelves.droplet.at(0)!
    for (const { provider_id } of rows) seed.shelves.droplet.insert({ ...template, id: Number(provider_id) })
    for (const { provider_id } of rows.slice(0, 10)) await refresh(bundle, 'droplet', provider_id)
    const confirmed = await confirm(held.id)
    assert.equal(confirmed.body.data.deleted, 110)
    for (const { provider_id } of rows.slice(0, 10)) {
      const row = await rowOf(bundle, 'droplet', provider_id)
      assert.deepEqual([row.deleted_at, row.stale_strike_count], [null, 0])
    }
    // The other ten were there as well, unseen: the next sweep brings them back.
    assert.equal((await sweepOne(bundle, 'droplet')).restored, 10)
    assert.equal(await deletedRows(bundle), 100)
  })

  test('does not hold when half of them came back in time', async t => {
    const { bundle, seed } = await vanishing(t)
    const { rows } = await sql<{
      provider_id: string
    }>`select provider_id from cloud_resources where stale_strike_count = 2 limit 60`.execute(bundle.ctx.db)
    const template = seed.shelves.droplet.at(0)!
    for (const { provider_id } of rows) seed.shelves.droplet.insert({ ...template, id: Number(provider_id) })
    const run = await sweepOne(bundle, 'droplet')
    assert.deepEqual([run.held, run.deleted, run.error], [0, 60, null])
  })

  test('has nothing to confirm on a run that holds nothing or does not exist', async t => {
    const bundle = await setup(t, { provider: {} })
    const run = await sweepOne(bundle, 'droplet')
    const confirm = (id: string) => bundle.call('POST', `/api/v1/inventory/sync-runs/${id}/confirm`)
    const nothing = await confirm(run.id)
    assert.deepEqual([nothing.status, nothing.body.code], [409, 'nothing_held'])
    assert.equal((await confirm(newId())).status, 404)
    assert.equal((await confirm('x')).status, 404)
  })
})

describe('a resource in motion', () => {
  const moving = 41_000_101
  const booting = async (t: Parameters<typeof setup>[0], worker = false) => {
    const bundle = await setup(t, { provider: {}, worker })
    const shelf = bundle.sandbox.world.shelves.droplet
    const set = (status: 'new' | 'active') => shelf.replace({ ...shelf.get(String(moving))!, status })
    set('new')
    return { bundle, set, shelf }
  }

  test('is looked at again on cloud_sync_fast soon after a sweep found it so', onPostgresAlone, async t => {
    const { bundle } = await booting(t, true)
    await sweepAll(bundle)
    const { rows } = await sql<{ name: string; payload: object; wait: number }>`
      select name, data->'payload' as payload, extract(epoch from start_after - created_on)::float as wait
      from pgboss.job where data->>'job' = 'refresh_resource' and data->'payload'->>'kind' = 'droplet'`.execute(
      bundle.ctx.db,
    )
    assert.deepEqual(
      rows.map(({ name, payload }) => ({ name, payload })),
      [{ name: 'cloud_sync_fast', payload: { kind: 'droplet', provider_id: String(moving), look: 1 } }],
    )
    assert.ok(rows[0]!.wait > 0 && rows[0]!.wait < 60)
  })

  test('is followed until it stands still, and each change is told once', async t => {
    const { bundle, set } = await booting(t)
    await sweepOne(bundle, 'droplet')
    assert.equal(await refresh(bundle, 'droplet', moving), 'moving')
    assert.equal((await rowOf(bundle, 'droplet', moving)).last_seen_at, bundle.clock.now().toISOString())
    set('active')
    assert.equal(await refresh(bundle, 'droplet', moving), 'still')
    assert.equal(await refresh(bundle, 'droplet', moving), 'still')
    await sweepOne(bundle, 'droplet')
    const events = await eventsOf(bundle, 'droplet', moving)
    assert.deepEqual(
      events.map(event => [event.kind, event.actor.split(':')[0]]),
      [
        ['discovered', 'sync'],
        ['updated', 'refresh'],
      ],
    )
    assert.deepEqual(events[1]?.changes, { status: { before: 'new', after: 'active' } })
  })

  test('the job asks for the next look while it moves, and for none once it stands still', async t => {
    const { bundle, set } = await booting(t)
    const { ctx } = bundle
    await sweepOne(bundle, 'droplet')
    const handler = inventoryHandlers(ctx).find(({ type }) => type.name === 'refresh_resource')!
    const look = (number: number) =>
      handler.run(
        { kind: 'droplet', provider_id: String(moving), look: number },
        { id: newId(), attempt: 1, ...jobPart() },
      )
    const looks = async () => {
      const { rows } = await sql<{
        look: number
      }>`select (data->'payload'->>'look')::int as look from pgboss.job where data->>'job' = 'refresh_resource' order by 1`.execute(
        ctx.db,
      )
      return rows.map(row => row.look)
    }
    await look(1)
    await look(2)
    assert.deepEqual(await looks(), [2, 3])
    await look(180)
    set('active')
    await look(3)
    assert.deepEqual(await looks(), [2, 3], 'not for ever, and not when it is done')
  })

  test('that is not found is neither struck nor deleted: only a whole listing may', async t => {
    const { bundle, shelf } = await booting(t)
    await sweepOne(bundle, 'droplet')
    shelf.remove(String(moving))
    for (let i = 0; i < 4; i++) assert.equal(await refresh(bundle, 'droplet', moving), 'absent')
    const row = await rowOf(bundle, 'droplet', moving)
    assert.deepEqual([row.stale_strike_count, row.deleted_at, row.status], [0, null, 'new'])
    assert.equal((await eventsOf(bundle, 'droplet', moving)).length, 1)
  })

  test('that a refresh saw later is not undone by a page of a sweep that was read earlier', async t => {
    const { bundle, set } = await booting(t)
    await sweepOne(bundle, 'droplet')
    const { ctx } = bundle
    const { providers } = ctx
    set('new')
    ctx.providers = interrupted(providers, async page => {
      // The page still says new; the droplet has booted since, and the refresh has seen it.
      if (page === 1) {
        set('active')
        await refresh({ ...bundle, ctx: { ...ctx, providers } }, 'droplet', moving)
      }
    })
    await sql`update cloud_resources set fingerprint = '' where provider_id = ${String(moving)}`.execute(
      ctx.db,
    )
    await sweepOne(bundle, 'droplet')
    ctx.providers = providers
    assert.equal((await rowOf(bundle, 'droplet', moving)).status, 'active')
    await sweepOne(bundle, 'droplet')
    const events = await eventsOf(bundle, 'droplet', moving)
    assert.deepEqual(
      events.map(event => event.kind),
      ['discovered', 'updated'],
      'new to active, once',
    )
  })
})

// A short run; `npm run chaos:sweeps` is the long one.
test(
  'generated changes and faults end as the lifecycle says: no wrong strike, deletion or event, no endless paging',
  onPostgresAlone,
  async t => {
    const { engine, close } = await openTestEngine()
    t.after(close)
    const { outcomes, events, strikes: given } = await chaosSweeps({ engine, sweeps: 100, seed: 4 })
    // It would prove little had it not met whole listings, all ways to end otherwise, and every kind of event.
    for (const [what, count] of Object.entries({ ...outcomes, ...events, given })) assert.ok(count > 0, what)
  },
)
