// A resource that moves to another tenant: its new tenant learns nothing of the time before, the one that had it keeps what
// it saw, and operators see all of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { rehome } from '../../src/features/inventory/write-resources.ts'
import { dataFor } from '../../src/features/webhooks/events.ts'
import { readMigrations } from '../../src/kernel/db/migrations.ts'
import { newId } from '../../src/kernel/ids.ts'
import { costLines, haveInvoice, ingest } from '../support/billing.ts'
import { csv, row } from '../support/csv.ts'
import { accept, desire, drifts, sweepDrift } from '../support/drift.ts'
import { deployment } from '../support/factories.ts'
import { meter, usageRows } from '../support/metering.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { haveProject, rowOf, see } from '../support/sweep.ts'
import { allowPrivate, webhook } from '../support/webhook-receiver.ts'

interface Event {
  kind: string
  changes: Record<string, { before: unknown; after: unknown }> | null
}

const DROPLET = { provider_id: '1', name: 'acme-secret', tags: ['acme-tag'], attrs: { note: 'acme-note' } }

/** A droplet of acme's, with a change, a desired state and open drift from then; its id and its project's. */
async function acmes(bundle: Bundle, tags: string[] = []) {
  const project = await haveProject(bundle, 'p', 'acme', [['droplet', '1']])
  await see(bundle, 'droplet', [{ ...DROPLET, tags: [...DROPLET.tags, ...tags] }])
  await see(bundle, 'droplet', [{ ...DROPLET, name: 'acme-renamed', tags: [...DROPLET.tags, ...tags] }])
  const { id } = await rowOf(bundle, 'droplet', '1')
  await desire(bundle, id, { note: 'acme-wish' })
  await sweepDrift(bundle)
  return { id, project }
}

async function give({ call, clock }: Bundle, project: string, tenant_id: string | null): Promise<void> {
  clock.advance(60_000)
  const purpose = tenant_id === null ? 'unassigned' : 'tenant'
  const answer = await call('PATCH', `/api/v1/projects/${project}`, { body: { tenant_id, purpose } })
  assert.equal(answer.status, 200, answer.text)
}

const as = (bundle: Bundle, tenant: string) => async (path: string) =>
  bundle.call('GET', `/api/v1/inventory${path}`, { token: await bundle.tokens.tenant(tenant) })

const kinds = (events: Event[]) => events.map(({ kind }) => kind)

test('the new tenant sees nothing from before, the old one what it saw then and no more, and an operator all', async t => {
  const bundle = await setup(t)
  const [acme, globex] = [as(bundle, 'acme'), as(bundle, 'globex')]
  const tie = await deployment(bundle, 'acme')
  const { id, project } = await acmes(bundle, [`deployment:${tie.id}`])
  const before = (await acme(`/${id}/events`)).body.data
  assert.deepEqual(kinds(before), ['drift_detected', 'updated', 'discovered'])
  assert.equal((await globex(`/${id}/events`)).status, 404)

  await give(bundle, project, 'globex')
  // What the provider shows from now on is the new tenant's.
  await see(bundle, 'droplet', [
    { provider_id: '1', name: 'web', tags: ['globex-tag'], attrs: { note: 'new' } },
  ])
  await sweepDrift(bundle)
  const shown = (await globex(`/${id}`)).body.data
  const paged = (await globex(`/${id}/events`)).body.data
  assert.deepEqual([shown.desired_state, shown.drift, shown.deployment_id], [null, [], null])
  assert.deepEqual(shown.events, paged.toReversed())
  const [came, renamed] = shown.events
  assert.deepEqual(came.changes, { tenant_id: { before: null, after: 'globex' } })
  assert.deepEqual(renamed.changes.name, { before: 'acme-renamed', after: 'web' }, 'the name it came with')
  assert.equal(shown.events.length, 2)
  for (const secret of ['acme-secret', 'acme-wish', '"acme"'])
    assert.ok(!JSON.stringify([shown, paged]).includes(secret), secret)

  assert.deepEqual((await acme('')).body.data, [])
  assert.deepEqual((await acme('?include_deleted=true')).body.data, [])
  assert.equal((await acme(`/${id}`)).status, 404)
  const kept = await acme(`/${id}/events`)
  assert.deepEqual([kept.status, kept.body.data], [200, before])
  const first = await acme(`/${id}/events?limit=2`)
  const rest = await acme(`/${id}/events?limit=2&cursor=${first.body.next_cursor}`)
  assert.deepEqual([...first.body.data, ...rest.body.data], before)
  assert.equal(rest.body.next_cursor, null)
  const borrowed = await globex(`/${id}/events?cursor=${first.body.next_cursor}`)
  assert.deepEqual([borrowed.status, borrowed.body.data], [200, []], 'a cursor opens nothing')

  const all = (await bundle.call('GET', `/api/v1/inventory/${id}/events`)).body.data
  assert.deepEqual(kinds(all), ['updated', 'updated', 'drift_detected', 'updated', 'discovered'])
  assert.deepEqual(all[1].changes, {
    tenant_id: { before: 'acme', after: 'globex' },
    deployment_id: { before: tie.id, after: null },
  })
  const detail = (await bundle.call('GET', `/api/v1/inventory/${id}`)).body.data
  assert.deepEqual([detail.desired_state.spec, detail.events.length], [{ note: 'acme-wish' }, 5])
})

test('what is desired of a resource rests while it is in other hands, and is in force again when it comes back', async t => {
  const bundle = await setup(t)
  const { id, project } = await acmes(bundle)
  const open = (await drifts(bundle))[0].id
  await give(bundle, project, 'globex')
  const fresh = (await as(bundle, 'globex')(`/${id}`)).body.data
  assert.deepEqual([fresh.desired_state, fresh.drift], [null, []], 'at once')
  assert.equal((await accept(bundle, open)).status, 409, 'the live value is another tenant’s')
  const rested = await sweepDrift(bundle)
  assert.deepEqual([rested.open, rested.told, rested.stale], [0, 0, 1])
  const globex = as(bundle, 'globex')
  assert.deepEqual(kinds((await globex(`/${id}/events`)).body.data), ['updated'])

  // Said again by an operator it is the new owner's.
  await desire(bundle, id, { note: 'globex-wish' })
  assert.equal((await sweepDrift(bundle)).open, 1)
  const { desired_state, drift } = (await globex(`/${id}`)).body.data
  assert.deepEqual([desired_state.spec, drift[0].desired], [{ note: 'globex-wish' }, 'globex-wish'])

  // Said again before a sweep has closed what was open: that is over, and what opens is the owner's.
  await give(bundle, project, 'acme')
  await desire(bundle, id, { note: 'acme-wish' })
  const swept = await sweepDrift(bundle)
  assert.deepEqual([swept.open, swept.told], [1, 1])
  assert.equal((await as(bundle, 'acme')(`/${id}`)).body.data.drift.length, 1)
  await give(bundle, project, null)
  assert.deepEqual((await sweepDrift(bundle)).open, 0)
  await give(bundle, project, 'acme')
  assert.equal((await sweepDrift(bundle)).open, 1, 'back, and desired as before')
  const back = (await as(bundle, 'acme')(`/${id}`)).body.data
  assert.equal(back.drift[0].desired, 'acme-wish')
  assert.ok(!JSON.stringify(back).includes('globex'), JSON.stringify(back.events))
})

test('drift that was open when a resource changed hands is told to neither tenant’s webhooks, and hands show no before', async t => {
  const bundle = await setup(t, { env: allowPrivate })
  const { db } = bundle.ctx
  for (const tenant_id of ['acme', 'globex', undefined])
    await webhook(bundle, { url: 'http://127.0.0.1:9/hook', tenant_id })
  const { id, project } = await acmes(bundle)
  const told = async () => {
    const rows = await db.selectFrom('webhook_events').selectAll().orderBy('id').execute()
    // As a webhook that hears of that tenant alone is told it.
    return rows.map(
      ({ type, tenant_id, data }) =>
        [type, tenant_id, dataFor(tenant_id, type, JSON.stringify(data))] as const,
    )
  }
  const earlier = (await told()).length
  await give(bundle, project, 'globex')
  await see(bundle, 'droplet', [{ provider_id: '1', name: 'acme-renamed', tags: ['t'], status: 'off' }])
  await sweepDrift(bundle)
  await desire(bundle, id, { note: 'mine' })
  await sweepDrift(bundle)
  const later = (await told()).slice(earlier)
  assert.deepEqual(
    later.map(([type, tenant]) => [type, tenant]),
    [
      ['resource.updated', 'globex'],
      ['resource.updated', 'globex'],
      ['drift.stale', null],
      ['drift.opened', 'globex'],
      ['resource.drift_detected', 'globex'],
    ],
  )
  assert.match(later[0]![2], /"changes":\{"tenant_id":\{"before":null,"after":"globex"\}\}/)
  for (const [type, tenant, data] of later)
    if (tenant) assert.ok(!/"acme"|acme-secret|acme-wish/.test(data), `${type}: ${data}`)
})

test('every way a resource changes hands is told with its owner from then on', async t => {
  const bundle = await setup(t)
  const { db, clock } = bundle.ctx
  const globex = await haveProject(bundle, 'q', 'globex')
  const { id, project } = await acmes(bundle)
  const lists = (to: string) => sql`update cloud_project_members set project_id = ${to}`.execute(db)
  const gone = () => sql`update cloud_resources set deleted_at = last_seen_at`.execute(db)
  const owners = async () => {
    const { rows } = await sql<{ tenant_id: string | null }>`
      select tenant_id from cloud_resource_events where resource_id = ${id} order by id desc limit 1`.execute(
      db,
    )
    return [rows[0]!.tenant_id, (await rowOf(bundle, 'droplet', '1')).tenant_id]
  }
  assert.deepEqual(await owners(), ['acme', 'acme'])
  await lists(globex)
  await rehome(db, clock.now().toISOString(), 'sync')
  assert.deepEqual(await owners(), ['globex', 'globex'], 'moved at the provider')
  await gone()
  await lists(project)
  await see(bundle, 'droplet', [DROPLET])
  assert.deepEqual(await owners(), ['acme', 'acme'], 'came back to another project')
  await give(bundle, project, null)
  assert.deepEqual(await owners(), [null, null], 'nobody’s')
  assert.deepEqual((await as(bundle, 'globex')(`/${id}/events`)).body.data.length, 1)
  await lists(globex)
  await see(bundle, 'droplet', [{ ...DROPLET, status: 'off' }])
  assert.deepEqual(await owners(), ['globex', 'globex'], 'found elsewhere by a look')
  const events = (await as(bundle, 'globex')(`/${id}/events`)).body.data as Event[]
  for (const { changes } of events)
    assert.ok(
      Object.values(changes!).every(({ before }) => before === null),
      JSON.stringify(changes),
    )
})

test('costs and usage stay with the deployment and tenant that had the resource at the time', async t => {
  const bundle = await setup(t)
  const { clock } = bundle
  clock.set('2026-10-31T20:59:58Z')
  const [shop, blog] = [await deployment(bundle, 'acme'), await deployment(bundle, 'globex')]
  const project = await haveProject(bundle, 'p', 'acme', [['droplet', '1']])
  await see(bundle, 'droplet', [{ provider_id: '1', name: 'web', tags: [`deployment:${shop.id}`] }])
  clock.set('2026-11-01T00:29:00Z')
  await give(bundle, project, 'globex')
  clock.set('2026-11-01T01:59:58Z')
  await see(bundle, 'droplet', [{ provider_id: '1', name: 'web', tags: [`deployment:${blog.id}`] }])
  clock.set('2026-11-01T03:05:00Z')
  await meter(bundle)
  const seconds = (id: string) =>
    usageRows(bundle).then(rows => rows.filter(([of]) => of === id).map(([, hour, , s]) => [hour, s]))
  assert.deepEqual(await seconds(shop.id), [
    ['20:00', 1],
    ['21:00', 3600],
    ['22:00', 3600],
    ['23:00', 3600],
    ['00:00', 1800],
  ])
  assert.deepEqual(await seconds(blog.id), [
    ['01:00', 1],
    ['02:00', 3600],
  ])
  clock.set('2026-12-02T00:00:00Z')
  for (const [period, owner, deploymentId] of [
    ['2026-10', 'acme', shop.id],
    ['2026-11', 'globex', blog.id],
  ] as const) {
    const invoice = await haveInvoice(bundle, { amount: '3.00', period: `${period}-01` })
    const [start, end] = [`${period}-01 00:00:00 +0000`, `${period}-30 00:00:00 +0000`]
    assert.equal(
      await ingest(bundle, invoice, csv([row({ description: 'web (x)', USD: '$3.00', start, end })])),
      'ingested',
    )
    const [line] = await costLines(bundle, `invoice_id=${invoice.id}`)
    assert.deepEqual([line?.tenant_id, line?.deployment_id], [owner, deploymentId], period)
  }
})

/** The database as it was before the migration, then migrated, and undone again. */
async function migratedAnew({ ctx }: Bundle, before: string, look: (rows: object[]) => void): Promise<void> {
  const { sql: migration } = readMigrations().find(({ name }) => name === 'owners_of_the_time')!
  const undone = new Error('undone')
  await assert.rejects(
    ctx.engine.session(session =>
      session.transaction(async tx => {
        await tx.script(`
          drop function if exists fill_tenant_of_resource cascade; drop function if exists changes_for_new_owner cascade;
          alter table cloud_resource_events drop column tenant_id; alter table cloud_provisioned drop column tenant_id;
          alter table cloud_drift drop column tenant_id; ${before}; ${migration}`)
        look(
          await tx.query(`
            select r.provider_id, string_agg(coalesce(e.tenant_id, '-'), ' ' order by e.id) as events,
              min(p.tenant_id) as desired, min(d.tenant_id) as drift
            from cloud_resources r join cloud_resource_events e on e.resource_id = r.id
            left join cloud_provisioned p on p.resource_id = r.id left join cloud_drift d on d.resource_id = r.id
            group by 1 order by 1`),
        )
        throw undone
      }),
    ),
    undone,
  )
}

test('the upgrade works out from the events whose each was, and says nothing where it cannot know', async t => {
  const bundle = await setup(t)
  const { db } = bundle.ctx
  const made = new Map<string, string>()
  for (const [name, tenant] of [
    ['always', 'acme'],
    ['moved', 'initech'],
    ['nobodys', null],
    ['unsure', 'globex'],
  ] as const) {
    const { rows } = await sql<{ id: string }>`
      insert into cloud_resources (id, provider, provider_id, kind, name, tags, attrs, fingerprint, first_seen_at, last_seen_at, tenant_id)
      values (uuid_v7(), 'digitalocean', ${name}, 'droplet', ${name}, '{}', '{}', '', now(), now(), ${tenant}) returning id`.execute(
      db,
    )
    made.set(name, rows[0]!.id)
  }
  const at = '2026-11-01T00:00:00Z'
  const hands = (before: string | null, after: string | null) => ({ tenant_id: { before, after } })
  for (const [name, kind, changes] of [
    ['always', 'discovered', null],
    ['moved', 'discovered', null],
    ['nobodys', 'discovered', null],
    ['unsure', 'discovered', null],
    ['moved', 'updated', hands(null, 'acme')],
    ['always', 'deleted', null],
    ['always', 'restored', null],
    ['unsure', 'deleted', null],
    ['moved', 'updated', hands('acme', 'globex')],
    ['unsure', 'restored', null],
    ['moved', 'updated', { name: { before: 'a', after: 'b' } }],
    ['moved', 'updated', hands('globex', 'initech')],
  ] as const)
    await sql`
      insert into cloud_resource_events (id, resource_id, kind, changes, actor, created_at)
      values (${newId()}, ${made.get(name)}, ${kind}, ${JSON.stringify(changes)}::jsonb, 'test', ${at})`.execute(
      db,
    )
  const desired = [...made.values()].map(
    id =>
      `insert into cloud_provisioned (resource_id, spec, created_at, updated_at) values ('${id}', '{}', '${at}', '2026-11-02T00:00:00Z');
       insert into cloud_drift (id, resource_id, kind, field, desired, actual, status, detected_at, last_detected_at)
       values ('${newId()}', '${id}', 'droplet', 'x', '1', '2', 'open', '${at}', '${at}')`,
  )
  await migratedAnew(bundle, desired.join(';'), rows =>
    assert.deepEqual(rows, [
      { provider_id: 'always', events: 'acme acme acme', desired: 'acme', drift: 'acme' },
      { provider_id: 'moved', events: '- acme globex globex initech', desired: 'initech', drift: 'initech' },
      { provider_id: 'nobodys', events: '-', desired: null, drift: null },
      { provider_id: 'unsure', events: '- - globex', desired: 'globex', drift: 'globex' },
    ]),
  )
})
