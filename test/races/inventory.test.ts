// Races of the inventory, with real concurrency: several connections of one PostgreSQL. PGlite has one connection and
// cannot race, so nothing is defined there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { assignProject, confirmHeldDeletions, refreshResource } from '../../src/features/inventory/actions.ts'
import { assignResource } from '../../src/features/inventory/assign-resource.ts'
import { recordGone } from '../../src/features/inventory/index.ts'
import { seenResource } from '../../src/features/inventory/seen-resource.ts'
import { LostRunError, syncKind } from '../../src/features/inventory/sync-kind.ts'
import { strikeUnseen } from '../../src/features/inventory/write-resources.ts'
import { writeAllSeen } from '../../src/features/inventory/write-seen.ts'
import { oneProvider, type Provider } from '../../src/integrations/digitalocean/index.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { newId } from '../../src/kernel/ids.ts'
import { needsPostgres } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { type Bundle, setup } from '../support/setup.ts'
import {
  haveDeployment,
  haveProject,
  jobPart,
  rowOf,
  runOf,
  see,
  shown,
  sightingOf,
  sweepOne,
  sweepProjects,
} from '../support/sweep.ts'

async function count({ ctx }: Bundle, from: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from ${sql.raw(from)}`.execute(ctx.db)
  return rows[0]!.n
}

/** Every listing waits until as many have begun as the test wants to overlap, or until `orWhen`. */
function meeting(provider: Provider, parties: number, orWhen?: Promise<void>): Provider {
  let begun = 0
  const gate = Promise.withResolvers<void>()
  orWhen?.then(gate.resolve)
  return {
    ...provider,
    pages(kind, options) {
      const listing = provider.pages(kind, options)
      async function* together() {
        begun += 1
        if (begun >= parties) gate.resolve()
        await gate.promise
        yield* listing
      }
      const pages = together()
      return {
        [Symbol.asyncIterator]: () => pages,
        get verdict() {
          return listing.verdict
        },
      }
    },
  }
}

test(
  'many who discover the same resources at once make one row and one event of each',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { db } = bundle.ctx
    for (let round = 0; round < 10; round++) {
      const seen = Array.from({ length: 20 }, (_, i) =>
        seenResource(shown('droplet', { provider_id: `${round}-${i}` })),
      )
      const orders = [seen, seen.toReversed(), [...seen.slice(10), ...seen.slice(0, 10)], seen.slice(5)]
      const sighting = await sightingOf(bundle, 'droplet')
      const written = await Promise.all(
        orders.map((mine, who) => writeAllSeen(db, { ...sighting, actor: `writer-${who}` }, mine)),
      )
      assert.equal(
        written.reduce((sum, { inserted }) => sum + inserted, 0),
        20,
      )
      assert.equal(
        written.reduce((sum, { updated, restored }) => sum + updated + restored, 0),
        0,
      )
    }
    assert.equal(await count(bundle, 'cloud_resources'), 200)
    assert.equal(await count(bundle, "cloud_resource_events where kind = 'discovered'"), 200)
    assert.equal(await count(bundle, 'cloud_resource_events'), 200)
  },
)

test('sweeps beside refreshes tell each change once and lose no row', needsPostgres, async t => {
  const bundle = await setup(t, { provider: {} })
  const { ctx, clock, sandbox } = bundle
  await sweepOne(bundle, 'droplet')
  const shelf = sandbox.world.shelves.droplet
  const ids = [...shelf].map(droplet => String(droplet.id))
  for (let round = 1; round <= 50; round++) {
    clock.advance(60_000)
    for (const id of ids) shelf.replace({ ...shelf.get(id)!, memory: round })
    const looks = [...ids.slice(0, 4), ...ids.slice(0, 4)].map(id => refreshResource(ctx, 'droplet', id))
    await Promise.all([syncKind(ctx, { kind: 'droplet', sweepId: newId() }, jobPart()), ...looks])
  }
  const { rows } = await sql<{ provider_id: string; told: number; chain: boolean }>`
    select r.provider_id, count(*)::int as told,
      bool_and((e.changes->'attrs.memory'->>'after')::int = e.n) as chain
    from cloud_resources r join (
      select *, row_number() over (partition by resource_id order by created_at, id) as n
      from cloud_resource_events where kind = 'updated') e on e.resource_id = r.id
    group by 1`.execute(ctx.db)
  assert.equal(rows.length, ids.length)
  for (const { provider_id, told, chain } of rows) assert.deepEqual([told, chain], [50, true], provider_id)
  assert.equal(
    await count(
      bundle,
      "cloud_resources where kind = 'droplet' and stale_strike_count = 0 and deleted_at is null",
    ),
    ids.length + 1,
  )
})

test(
  'two sweeps of one kind at once never both finish, and one strike is given, not two',
  needsPostgres,
  async t => {
    const bundle = await setup(t, { provider: {} })
    await sweepOne(bundle, 'droplet')
    const { ctx, clock, sandbox } = bundle
    const { providers } = ctx
    const provider = providers.for('cloud_sync_full')
    const gone = 41_000_101
    sandbox.world.shelves.droplet.remove(String(gone))
    for (let round = 1; round <= 10; round++) {
      clock.advance(3_600_000)
      await sql`update cloud_resources set stale_strike_count = 0`.execute(ctx.db)
      // Both have begun before one goes on, or one was refused before it got as far as listing.
      const refused = Promise.withResolvers<void>()
      ctx.providers = oneProvider(meeting(provider, 2, refused.promise))
      const sweeps = [newId(), newId()]
      const outcomes = await Promise.allSettled(
        sweeps.map(sweepId =>
          syncKind(ctx, { kind: 'droplet', sweepId }, jobPart()).finally(refused.resolve),
        ),
      )
      const finished = outcomes.filter(outcome => outcome.status === 'fulfilled')
      assert.equal(finished.length, 1, JSON.stringify(outcomes))
      assert.equal((await rowOf(bundle, 'droplet', gone)).stale_strike_count, 1)
      assert.equal(await count(bundle, "sync_runs where status = 'running'"), 0)
    }
    ctx.providers = providers
  },
)

test('one sweep run by two workers at once strikes once', needsPostgres, async t => {
  const bundle = await setup(t, { provider: {} })
  await sweepOne(bundle, 'droplet')
  const { ctx, clock, sandbox } = bundle
  const { providers } = ctx
  const provider = providers.for('cloud_sync_full')
  const gone = 41_000_101
  sandbox.world.shelves.droplet.remove(String(gone))
  for (let round = 1; round <= 10; round++) {
    clock.advance(3_600_000)
    await sql`update cloud_resources set stale_strike_count = 0`.execute(ctx.db)
    const refused = Promise.withResolvers<void>()
    ctx.providers = oneProvider(meeting(provider, 2, refused.promise))
    const sweepId = newId()
    const both = [1, 2].map(() =>
      syncKind(ctx, { kind: 'droplet', sweepId }, jobPart()).finally(refused.resolve),
    )
    const lost = (await Promise.allSettled(both)).filter(outcome => outcome.status === 'rejected')
    assert.equal(lost.length, 1)
    assert.ok(lost[0]?.reason instanceof LostRunError, String(lost[0]?.reason))
    assert.equal((await rowOf(bundle, 'droplet', gone)).stale_strike_count, 1)
    const run = await runOf(bundle, 'droplet', sweepId)
    assert.deepEqual([run.status, run.attempt, run.struck], ['complete', 2, 1])
  }
  ctx.providers = providers
})

test('a resource discovered while its project changes hands is the new tenant’s', needsPostgres, async t => {
  const bundle = await setup(t)
  const { ctx } = bundle
  const rounds = 40
  const ids = (round: number) => Array.from({ length: 5 }, (_, i) => `${round}-${i}`)
  const all = Array.from({ length: rounds }, (_, round) => ids(round)).flat()
  const project = await haveProject(
    bundle,
    'p',
    'tenant-0',
    all.map(id => ['droplet', id]),
  )
  for (let round = 0; round < rounds; round++) {
    const seen = ids(round).map(provider_id => seenResource(shown('droplet', { provider_id })))
    const known = ids(round - 1).map(provider_id =>
      seenResource(shown('droplet', { provider_id, status: 'off' })),
    )
    const sighting = await sightingOf(bundle, 'droplet')
    await Promise.all([
      writeAllSeen(ctx.db, sighting, round > 0 ? [...known, ...seen] : seen),
      assignProject(ctx, project, { tenant_id: `tenant-${round + 1}` }, 'ada'),
    ])
    assert.equal(
      await count(bundle, `cloud_resources where tenant_id is distinct from 'tenant-${round + 1}'`),
      0,
      `round ${round}`,
    )
  }
})

test(
  'a tag ties exactly while the project is its tenant’s, however changes of hands and sightings meet',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { ctx } = bundle
    const deployment = newId()
    await haveDeployment(bundle, deployment, 'acme')
    const ids = Array.from({ length: 8 }, (_, i) => `d${i}`)
    const project = await haveProject(
      bundle,
      'p',
      'globex',
      ids.map(id => ['droplet', id]),
    )
    for (let round = 0; round < 30; round++) {
      const looks = await Promise.all([sightingOf(bundle, 'droplet'), sightingOf(bundle, 'droplet')])
      const seen = ids.map(provider_id =>
        seenResource(
          shown('droplet', { provider_id, status: `s${round}`, tags: [`deployment:${deployment}`] }),
        ),
      )
      const tenant_id = round % 2 === 0 ? 'acme' : 'globex'
      await Promise.all([
        writeAllSeen(ctx.db, looks[0], seen),
        assignProject(ctx, project, { tenant_id }, 'ada'),
        writeAllSeen(ctx.db, looks[1], seen.toReversed()),
      ])
      const wrong = `cloud_resources where tenant_id <> '${tenant_id}' or (deployment_id is not null) <> (tenant_id = 'acme')`
      assert.equal(await count(bundle, wrong), 0, `round ${round}`)
    }
    // Each change of owner is told once, and each begins where the one before it ended.
    const broken = `(
    select changes -> 'tenant_id' ->> 'before' as before,
      lag(changes -> 'tenant_id' ->> 'after') over (partition by resource_id order by id) as last
    from cloud_resource_events where changes ? 'tenant_id') e where last is distinct from before and last is not null`
    assert.equal(await count(bundle, broken), 0)
  },
)

test(
  'a resource discovered while the projects’ lists are being written is in its project',
  needsPostgres,
  async t => {
    const bundle = await setup(t, { provider: {} })
    const { ctx } = bundle
    // Makes the internal project, which the two would otherwise meet at.
    await sweepOne(bundle, 'ssh_key')
    // The sweep of projects has done all it does, and cannot end: its end waits for a lock that the test holds.
    await sql`
    create function wait_at_the_end() returns trigger language plpgsql as
    'begin perform pg_advisory_xact_lock(1); return null; end'`.execute(ctx.db)
    await sql`
    create constraint trigger wait_at_the_end after insert on cloud_project_members
    deferrable initially deferred for each row execute function wait_at_the_end()`.execute(ctx.db)
    const waiting = (who: number) => async () =>
      (await count(bundle, "pg_locks where locktype = 'advisory' and not granted")) >= who
    const sweeps: Promise<unknown>[] = []
    await ctx.db.transaction().execute(async tx => {
      await sql`select pg_advisory_xact_lock(1)`.execute(tx)
      sweeps.push(sweepProjects(bundle))
      await eventually('the sweep of projects is at its end', waiting(1))
      let swept = false
      sweeps.push(sweepOne(bundle, 'droplet').then(() => (swept = true)))
      await eventually('the droplets are swept, or wait', async () => swept || (await waiting(2)()))
    })
    await Promise.all(sweeps)
    assert.ok((await count(bundle, "cloud_resources where kind = 'droplet'")) > 0)
    assert.equal(await count(bundle, "cloud_resources where kind = 'droplet' and project_id is null"), 0)
  },
)

test(
  'of two who confirm the same held deletions one does, and each deletion is told once',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { ctx, clock } = bundle
    await see(
      bundle,
      'droplet',
      Array.from({ length: 120 }, (_, i) => ({ provider_id: String(i) })),
    )
    await sql`update cloud_resources set stale_strike_count = 3`.execute(ctx.db)
    clock.advance(3_600_000)
    const id = newId()
    const at = clock.now().toISOString()
    await sql`insert into sync_runs (id, sweep_id, kind, status, started_at, finished_at, held)
    values (${id}, ${newId()}, 'droplet', 'complete', ${at}, ${at}, 120)`.execute(ctx.db)
    const outcomes = await Promise.allSettled(
      [1, 2, 3].map(n => confirmHeldDeletions(ctx, id, `operator-${n}`)),
    )
    assert.equal(outcomes.filter(outcome => outcome.status === 'fulfilled').length, 1)
    assert.equal(await count(bundle, "cloud_resource_events where kind = 'deleted'"), 120)
    assert.equal(await count(bundle, 'cloud_resources where deleted_at is null'), 0)
  },
)

test(
  'whoever writes a resource at the same moment, its versions follow one another and the last is its row',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { ctx, clock } = bundle
    const { db } = ctx
    const project = await haveProject(bundle, 'p', 'acme', [['droplet', '1']])
    for (let round = 0; round < 40; round++) {
      clock.advance(60_000)
      const sighting = await sightingOf(bundle, 'droplet')
      const later = await sightingOf(bundle, 'droplet')
      const seen = seenResource(shown('droplet', { provider_id: '1', name: `web-${round}` }))
      await Promise.all([
        writeAllSeen(db, later, [seen]),
        transaction(db, tx => recordGone(tx, sighting, { providerIds: ['1'] })),
        transaction(db, tx => strikeUnseen(tx, later, { sweep: later.look + 1, hold: false })),
        assignProject(
          ctx,
          project,
          { tenant_id: round % 2 ? 'acme' : 'globex', purpose: 'tenant' },
          'operator',
        ),
        transaction(db, tx => recordGone(tx, later, { providerIds: ['1'] })),
      ])
    }
    const events = await count(bundle, 'cloud_resource_events')
    assert.ok(events >= 40, String(events))
    assert.equal(await count(bundle, 'resource_versions'), events)
    assert.equal(await count(bundle, 'resource_versions where valid_to is null'), 1)
    const same = `cloud_resources r join resource_versions v on v.resource_id = r.id and v.valid_to is null
    where (r.name, r.tenant_id, r.deleted_at) is not distinct from (v.name, v.tenant_id, v.deleted_at)`
    assert.equal(await count(bundle, same), 1)
  },
)

test(
  'an operator ties resources while sweeps write them and their project changes hands: none is tied to another tenant’s deployment',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { ctx, clock } = bundle
    const [acmes, globexs] = [newId(), newId()]
    await haveDeployment(bundle, acmes, 'acme')
    await haveDeployment(bundle, globexs, 'globex')
    const names = Array.from({ length: 6 }, (_, index) => `db-${index}`)
    const project = await haveProject(
      bundle,
      'p',
      'acme',
      names.map(name => ['database', name]),
    )
    await see(
      bundle,
      'database',
      names.map(provider_id => ({ provider_id })),
    )
    const ids = await Promise.all(names.map(async name => (await rowOf(bundle, 'database', name)).id))
    const outcomes = { tied: 0, refused: 0 }
    for (let round = 0; round < 20; round++) {
      clock.advance(60_000)
      const tenant_id = round % 2 ? 'acme' : 'globex'
      const sighting = await sightingOf(bundle, 'database')
      const seen = names.map(provider_id =>
        seenResource(shown('database', { provider_id, name: `${provider_id}-${round}` })),
      )
      const ties = ids.map(async (id, index) => {
        try {
          await assignResource(ctx, id, (round + index) % 3 ? acmes : globexs, 'ada')
          outcomes.tied++
        } catch {
          outcomes.refused++
        }
      })
      await Promise.all([
        ...ties,
        writeAllSeen(ctx.db, sighting, round % 3 ? seen : seen.toReversed()),
        assignProject(ctx, project, { tenant_id }, 'ada'),
      ])
      const { rows } = await sql<{ wrong: number; open: number }>`
        select count(*) filter (where d.tenant_id is distinct from r.tenant_id and r.deployment_id is not null)::int as wrong,
          (select count(*)::int from resource_versions v where v.valid_to is null) as open
        from cloud_resources r left join cloud_deployments d on d.id = r.deployment_id`.execute(ctx.db)
      assert.deepEqual({ ...rows[0] }, { wrong: 0, open: 6 }, `round ${round}`)
    }
    assert.ok(outcomes.tied > 0 && outcomes.refused > 0, JSON.stringify(outcomes))
    // The last version of each is how it is, and every event that changed the tie follows from the one before.
    const { rows } = await sql<{ broken: number }>`
      select count(*)::int as broken from (
        select e.changes -> 'deployment_id' ->> 'before' as before, lag(e.changes -> 'deployment_id' ->> 'after')
          over (partition by e.resource_id order by v.valid_from, e.id) as after, row_number()
          over (partition by e.resource_id order by v.valid_from, e.id) as n
        from cloud_resource_events e join resource_versions v on v.event_id = e.id where e.changes ? 'deployment_id'
      ) c where n > 1 and before is distinct from after`.execute(ctx.db)
    assert.equal(rows[0]!.broken, 0)
  },
)
