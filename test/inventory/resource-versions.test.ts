// The history of resources: every write leaves a version, and the versions are what the events tell.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { recordGone, recordMadeResource } from '../../src/features/inventory/index.ts'
import type { CloudResourceRow, ResourceVersionRow } from '../../src/features/inventory/resource.ts'
import { deleteHeld, rehome, strikeUnseen } from '../../src/features/inventory/write-resources.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { deployment } from '../support/factories.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { haveProject, see, shown, sightingOf } from '../support/sweep.ts'
import { versionsFromEvents } from '../support/versions.ts'

const FIELDS = [
  'kind',
  'name',
  'region',
  'status',
  'tenant_id',
  'project_id',
  'deployment_id',
  'tags',
  'attrs',
  'deleted_at',
] as const

const fieldsOf = (row: Pick<ResourceVersionRow, (typeof FIELDS)[number]>) =>
  Object.fromEntries(FIELDS.map(field => [field, row[field]]))

const rowsOf = ({ ctx }: Bundle): Promise<CloudResourceRow[]> =>
  ctx.db.selectFrom('cloud_resources').selectAll().orderBy('id').execute()

const versionsOf = ({ ctx }: Bundle): Promise<ResourceVersionRow[]> =>
  ctx.db.selectFrom('resource_versions').selectAll().orderBy('resource_id').orderBy('valid_from').execute()

const IDS = ['a', 'b', 'c', 'd']
type Write =
  | { what: 'see'; ids: string[]; name: string; memory: number; tie: number | null }
  | { what: 'gone' | 'made'; id: string }
  | { what: 'strike' | 'held' | 'unheld' }
  | { what: 'place'; ids: string[]; project: number }
  | { what: 'give'; project: number; tenant: string | null }
  | { what: 'back' }

const someIds = fc.uniqueArray(fc.constantFrom(...IDS), { minLength: 1 })
const write: fc.Arbitrary<Write> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('see' as const),
      ids: someIds,
      name: fc.constantFrom('web', 'db'),
      memory: fc.constantFrom(1, 2),
      tie: fc.constantFrom(null, 0, 1),
    }),
  },
  fc.record({ what: fc.constantFrom('gone' as const, 'made' as const), id: fc.constantFrom(...IDS) }),
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constantFrom('strike' as const, 'held' as const, 'unheld' as const) }),
  },
  fc.record({ what: fc.constant('place' as const), ids: someIds, project: fc.nat(1) }),
  fc.record({
    what: fc.constant('give' as const),
    project: fc.nat(1),
    tenant: fc.constantFrom(null, 'acme', 'globex'),
  }),
  // A node whose clock is behind writes next.
  fc.record({ what: fc.constant('back' as const) }),
)

/** Every way in which a resource is written; each run has resources of its own. */
async function apply(bundle: Bundle, deployments: string[], write: Write, run = 0): Promise<void> {
  const { ctx, clock } = bundle
  const { db } = ctx
  clock.advance(60_000)
  const sighting = await sightingOf(bundle, 'droplet', 'test')
  const project = (n: number, ids: string[] = []) =>
    haveProject(
      bundle,
      `p${n}`,
      ['acme', 'globex'][n]!,
      ids.map(id => ['droplet', `${run}-${id}`]),
      false,
    )
  switch (write.what) {
    case 'see': {
      const tags = write.tie === null ? [] : [`deployment:${deployments[write.tie]}`]
      const items = write.ids.map(id => ({
        provider_id: `${run}-${id}`,
        name: write.name,
        tags,
        attrs: { memory: write.memory },
      }))
      await see(bundle, 'droplet', items)
      return
    }
    case 'gone':
      await recordGone(db, sighting, { providerIds: [`${run}-${write.id}`] })
      return
    case 'made': {
      const place = { projectId: await project(0), deploymentId: deployments[0]! }
      await recordMadeResource(db, sighting, shown('droplet', { provider_id: `${run}-${write.id}` }), place)
      return
    }
    case 'strike':
    case 'held':
      await strikeUnseen(db, sighting, { sweep: sighting.look, hold: write.what === 'held' })
      return
    case 'unheld':
      await deleteHeld(db, sighting, { look: sighting.look, started_at: sighting.at })
      return
    case 'place':
      await project(write.project, write.ids)
      await rehome(db, sighting.at, 'test')
      return
    case 'give': {
      const id = await project(write.project)
      await sql`update cloud_projects set tenant_id = ${write.tenant} where id = ${id}`.execute(db)
      await rehome(db, sighting.at, 'test', id)
      return
    }
    case 'back':
      clock.advance(-150_000)
  }
}

test(
  'after any history each resource’s version is its row, and of each moment there is the one that was',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { ctx, clock } = bundle
    const deployments = [(await deployment(bundle, 'acme')).id, (await deployment(bundle, 'globex')).id]
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 3, maxLength: 14 }), async writes => {
        clock.advance(3_600_000)
        run++
        const then: { at: string; rows: CloudResourceRow[] }[] = []
        let latest = clock.now().getTime()
        for (const write of writes) {
          await apply(bundle, deployments, write, run)
          const rows = await rowsOf(bundle)
          // What a clock that is behind writes holds from when what it ends began.
          if (clock.now().getTime() < latest) then.splice(0)
          else then.push({ at: clock.now().toISOString(), rows })
          latest = Math.max(latest, clock.now().getTime())
          const open = (await versionsOf(bundle)).filter(({ valid_to }) => valid_to === null)
          assert.deepEqual(open.map(fieldsOf), rows.map(fieldsOf), write.what)
        }
        const versions = await versionsOf(bundle)
        for (const { at, rows } of then)
          assert.deepEqual(
            versions
              .filter(v => v.valid_from <= at && (v.valid_to === null || v.valid_to > at))
              .map(fieldsOf),
            rows.map(fieldsOf),
            at,
          )
      }),
      { numRuns: 6 },
    )
    const { rows: unversioned } = await sql`
    select from cloud_resource_events e where not exists (
      select from resource_versions v where v.event_id = e.id and v.resource_id = e.resource_id)`.execute(
      ctx.db,
    )
    assert.equal(unversioned.length, 0, 'every event began a version')
    const { rows: gaps } = await sql`
    select from resource_versions v
    where v.valid_to is not null and not exists (
      select from resource_versions n where n.resource_id = v.resource_id and n.event_id <> v.event_id and n.valid_from = v.valid_to)`.execute(
      ctx.db,
    )
    assert.equal(gaps.length, 0, 'each begins where the one before ends')
  },
)

test(
  'the upgrade finds the same versions in the events, and leaves out none of a resource without any',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { ctx } = bundle
    const deployments = [(await deployment(bundle, 'acme')).id, (await deployment(bundle, 'globex')).id]
    const histories = fc.sample(
      fc.array(
        write.filter(({ what }) => what !== 'back'),
        { minLength: 12, maxLength: 12 },
      ),
      { numRuns: 4, seed: 28 },
    )
    for (const write of histories.flat()) await apply(bundle, deployments, write)
    const held = async () =>
      (await versionsOf(bundle))
        .filter(version => version.valid_from !== version.valid_to)
        .map(({ attrs, ...version }) => ({ ...version, attrs: { memory: null, ...attrs } }))
    const written = await held()
    assert.ok(written.length > 25, String(written.length))
    await versionsFromEvents(bundle)
    assert.deepEqual(await held(), written)

    const [first, gone] = ['2026-01-05T08:15:00.000Z', '2026-02-05T08:15:00.000Z']
    await sql`
    insert into cloud_resources (id, provider, provider_id, kind, name, tags, attrs, fingerprint, first_seen_at, last_seen_at, deleted_at)
    values (uuid_v7(), 'digitalocean', 'untold', 'volume', 'untold', '{}', '{}', '', ${first}, ${first}, ${gone})`.execute(
      ctx.db,
    )
    await versionsFromEvents(bundle)
    const untold = (await versionsOf(bundle)).filter(({ name }) => name === 'untold')
    assert.deepEqual(
      untold.map(({ valid_from, valid_to, deleted_at }) => [valid_from, valid_to, deleted_at]),
      [
        [first, gone, null],
        [gone, null, gone],
      ],
    )
  },
)

test('a version stays as it is; its end alone is written, and once', async t => {
  const bundle = await setup(t)
  const { db } = bundle.ctx
  await see(bundle, 'droplet', [{ provider_id: 'a', name: 'a' }])
  await see(bundle, 'droplet', [{ provider_id: 'a', name: 'b' }])
  const final = { message: /what resource_versions says of a time that was stays so/ }
  await assert.rejects(sql`update resource_versions set name = 'c' where valid_to is null`.execute(db), final)
  await assert.rejects(
    sql`update resource_versions set valid_to = now() where valid_to is not null`.execute(db),
    final,
  )
  await assert.rejects(sql`delete from resource_versions`.execute(db), final)
  await assert.rejects(sql`truncate resource_versions`.execute(db), /append-only/)
})
