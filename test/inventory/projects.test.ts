// Projects, whose they are, and that everything they hold follows: at the first sync, by an operator, at the provider.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { addProject, assign, project, removeResource } from '../../sandbox/world/world.ts'
import type { CloudProjectRow } from '../../src/features/inventory/project.ts'
import { newId } from '../../src/kernel/ids.ts'
import { type Bundle, setup } from '../support/setup.ts'
import {
  doneBy,
  eventsOf,
  haveDeployment,
  haveProject,
  NOTHING_DONE,
  rowOf,
  see,
  sweepOne,
  sweepProjects,
} from '../support/sweep.ts'

const projects = async ({ ctx }: Bundle): Promise<Map<string, CloudProjectRow>> =>
  new Map((await ctx.db.selectFrom('cloud_projects').selectAll().execute()).map(row => [row.name, row]))

const WEB = 41_000_201 // a droplet of acme's
const GPU = 41_000_402 // a GPU droplet of initech's
const kindsOf = async (bundle: Bundle, id: number) =>
  (await eventsOf(bundle, 'droplet', id)).map(event => event.kind)

test('the first sweep of any kind makes the internal project: the provider’s default, the platform tenant’s', async t => {
  const bundle = await setup(t, { provider: {}, env: { PLATFORM_TENANT_ID: 'the-platform' } })
  await sweepOne(bundle, 'ssh_key')
  await sweepOne(bundle, 'domain')
  const rows = [...(await projects(bundle)).values()]
  assert.deepEqual(
    rows.map(row => [row.name, row.is_default, row.purpose, row.tenant_id]),
    [['platform', true, 'internal', 'the-platform']],
  )
  const asked = bundle.sandbox.requests.filter(({ url }) => url === '/v2/projects/default')
  assert.equal(asked.length, 1, 'once it is known nobody asks again')
})

test('a sweep of the projects mirrors them and places what they hold, GPU droplets too', async t => {
  const bundle = await setup(t, { provider: {} })
  await sweepOne(bundle, 'droplet')
  assert.equal((await rowOf(bundle, 'droplet', WEB)).project_id, null, 'not yet known')
  const run = await sweepProjects(bundle)
  assert.deepEqual([run.status, run.seen, run.error], ['complete', 4, null])
  const known = await projects(bundle)
  assert.deepEqual([...known.values()].map(row => [row.name, row.purpose]).sort(), [
    ['acme', 'unassigned'],
    ['globex', 'unassigned'],
    ['initech', 'unassigned'],
    ['platform', 'internal'],
  ])
  for (const [id, name] of [
    [WEB, 'acme'],
    [GPU, 'initech'],
  ] as const) {
    const row = await rowOf(bundle, 'droplet', id)
    assert.deepEqual([row.project_id, row.tenant_id], [known.get(name)?.id, null])
    const events = await eventsOf(bundle, 'droplet', id)
    assert.deepEqual(events[1]?.changes, { project_id: { before: null, after: known.get(name)?.id } })
  }
  assert.deepEqual(doneBy(await sweepProjects(bundle)), NOTHING_DONE, 'a second time changes nothing')
})

test('an operator’s word on a project moves all it holds, in one transaction, with an event each', async t => {
  const bundle = await setup(t, { provider: {} })
  for (const kind of ['droplet', 'volume', 'domain'] as const) await sweepOne(bundle, kind)
  await sweepProjects(bundle)
  const acme = (await projects(bundle)).get('acme')!
  const { status, body } = await bundle.call('PATCH', `/api/v1/projects/${acme.id}`, {
    body: { tenant_id: 'acme', purpose: 'tenant' },
  })
  assert.equal(status, 200)
  assert.deepEqual([body.data.tenant_id, body.data.purpose, body.data.name], ['acme', 'tenant', 'acme'])
  const { rows } = await sql<{ kind: string; moved: number; told: number }>`
    select r.kind, count(*)::int as moved,
      count(*) filter (where e.actor = 'ada' and e.changes = '{"tenant_id": {"before": null, "after": "acme"}}')::int as told
    from cloud_resources r join cloud_resource_events e on e.resource_id = r.id and e.kind = 'updated' and e.changes ? 'tenant_id'
    where r.project_id = ${acme.id} and r.tenant_id = 'acme' group by 1 order by 1`.execute(bundle.ctx.db)
  assert.deepEqual(rows, [
    { kind: 'domain', moved: 1, told: 1 },
    { kind: 'droplet', moved: 3, told: 3 },
    { kind: 'volume', moved: 1, told: 1 },
  ])
  assert.equal((await rowOf(bundle, 'droplet', GPU)).tenant_id, null, 'others stay')

  const again = await bundle.call('PATCH', `/api/v1/projects/${acme.id}`, { body: { tenant_id: 'acme' } })
  assert.equal(again.status, 200)
  assert.deepEqual(
    await kindsOf(bundle, WEB),
    ['discovered', 'updated', 'updated'],
    'the same word again tells nothing',
  )

  await bundle.call('PATCH', `/api/v1/projects/${acme.id}`, {
    body: { tenant_id: null, purpose: 'unassigned' },
  })
  assert.equal((await rowOf(bundle, 'droplet', WEB)).tenant_id, null)
})

test('when what a project holds cannot follow, the project stays whose it was', async t => {
  const bundle = await setup(t)
  const { db } = bundle.ctx
  const id = await haveProject(bundle, 'p', 'acme', [['droplet', '1']])
  await see(bundle, 'droplet', [{ provider_id: '1' }])
  await sql`alter table cloud_resource_events add constraint no_more check (created_at < ${sql.lit(bundle.clock.now().toISOString())}) not valid`.execute(
    db,
  )
  const { status } = await bundle.call('PATCH', `/api/v1/projects/${id}`, { body: { tenant_id: 'globex' } })
  await sql`alter table cloud_resource_events drop constraint no_more`.execute(db)
  assert.ok(status >= 400)
  assert.deepEqual(
    [(await projects(bundle)).get('p')?.tenant_id, (await rowOf(bundle, 'droplet', '1')).tenant_id],
    ['acme', 'acme'],
  )
})

test('a bad word on a project is refused and changes nothing', async t => {
  const bundle = await setup(t)
  const id = await haveProject(bundle, 'p', null)
  for (const body of [
    { purpose: 'tenant' },
    { purpose: 'other' },
    { tenant_id: '' },
    { tenant_id: 'x'.repeat(129) },
    { tenant_id: 7 },
    { name: 'x' },
  ]) {
    assert.equal(
      (await bundle.call('PATCH', `/api/v1/projects/${id}`, { body })).status,
      422,
      JSON.stringify(body),
    )
  }
  assert.equal((await bundle.call('PATCH', `/api/v1/projects/${newId()}`, { body: {} })).status, 404)
  assert.deepEqual(
    [(await projects(bundle)).get('p')?.purpose, (await projects(bundle)).get('p')?.tenant_id],
    ['unassigned', null],
  )
})

test('projects can be listed by purpose and tenant, page by page', async t => {
  const bundle = await setup(t)
  for (const name of ['a', 'b', 'c']) await haveProject(bundle, name, 'acme')
  await haveProject(bundle, 'd', null)
  const names = async (query: string) =>
    (await bundle.call('GET', `/api/v1/projects?${query}`)).body.data.map((row: CloudProjectRow) => row.name)
  assert.deepEqual(await names('purpose=tenant'), ['a', 'b', 'c'])
  assert.deepEqual(await names('tenant_id=acme&purpose=unassigned'), [])
  const first = await bundle.call('GET', '/api/v1/projects?limit=3')
  assert.deepEqual(await names(`limit=3&cursor=${first.body.next_cursor}`), ['d'])
})

test('a resource found later is its project’s tenant’s from the start', async t => {
  const bundle = await setup(t, { provider: {} })
  await sweepProjects(bundle)
  const acme = (await projects(bundle)).get('acme')!
  await bundle.call('PATCH', `/api/v1/projects/${acme.id}`, {
    body: { tenant_id: 'acme', purpose: 'tenant' },
  })
  await sweepOne(bundle, 'droplet')
  const row = await rowOf(bundle, 'droplet', WEB)
  assert.deepEqual([row.tenant_id, row.project_id], ['acme', acme.id])
  assert.deepEqual(await kindsOf(bundle, WEB), ['discovered'], 'it was never anybody else’s')
})

test('a resource moved to another project at the provider moves here, with an event', async t => {
  const bundle = await setup(t, { provider: {} })
  await sweepProjects(bundle)
  await sweepOne(bundle, 'droplet')
  const { acme, globex } = Object.fromEntries(await projects(bundle)) as Record<string, CloudProjectRow>
  for (const { id, name } of [acme!, globex!])
    await bundle.call('PATCH', `/api/v1/projects/${id}`, { body: { tenant_id: name, purpose: 'tenant' } })
  assign(bundle.sandbox.world, `do:droplet:${WEB}`, globex!.provider_id, new Date())
  const run = await sweepProjects(bundle)
  assert.equal(run.updated, 1)
  const event = (await eventsOf(bundle, 'droplet', WEB)).at(-1)
  assert.deepEqual([event?.kind, event?.actor], ['updated', `sync:${run.id}`])
  assert.deepEqual(event?.changes, {
    project_id: { before: acme!.id, after: globex!.id },
    tenant_id: { before: 'acme', after: 'globex' },
  })
  assert.equal((await rowOf(bundle, 'droplet', WEB)).tenant_id, 'globex')
})

for (const path of ['/v2/projects', '/v2/projects/*/resources']) {
  test(`an answer from ${path} that is less than whole takes nothing away and strikes nothing`, async t => {
    const bundle = await setup(t, { provider: {} })
    await sweepOne(bundle, 'droplet')
    await sweepProjects(bundle)
    const before = await rowOf(bundle, 'droplet', WEB)
    const memberCount = async () =>
      (await sql<{ n: number }>`select count(*)::int as n from cloud_project_members`.execute(bundle.ctx.db))
        .rows[0]!.n
    const members = await memberCount()
    for (const fault of ['html', 'cut_json', 'server_error', 'wrong_total', 'loop_pages'] as const) {
      bundle.sandbox.faults.clear()
      bundle.sandbox.faults.add({ fault, times: 'always', match: { path } })
      const run = await sweepProjects(bundle)
      assert.ok(['partial', 'failed'].includes(run.status) && run.error, `${fault}: ${run.status}`)
      assert.deepEqual(doneBy(run), NOTHING_DONE, fault)
    }
    const { project_id, tenant_id } = await rowOf(bundle, 'droplet', WEB)
    assert.deepEqual(
      [project_id, tenant_id, await memberCount()],
      [before.project_id, before.tenant_id, members],
    )
    assert.ok(
      [...(await projects(bundle)).values()].every(
        row => row.stale_strike_count === 0 && row.deleted_at === null,
      ),
    )
  })
}

test('a project gone from three whole lists is deleted, and comes back as the one it was', async t => {
  const bundle = await setup(t, { provider: {} })
  const { world } = bundle.sandbox
  const brief = addProject(
    world,
    project({
      name: 'brief',
      description: '',
      purpose: 'x',
      environment: 'Staging',
      createdAt: '2026-01-01T00:00:00Z',
    }),
  )
  await sweepProjects(bundle)
  const { id } = (await projects(bundle)).get('brief')!
  await bundle.call('PATCH', `/api/v1/projects/${id}`, { body: { tenant_id: 'acme', purpose: 'tenant' } })
  world.projects.remove(brief.id)
  for (const strikes of [1, 2, 3]) {
    const run = await sweepProjects(bundle)
    assert.deepEqual([run.struck, run.deleted], [1, strikes === 3 ? 1 : 0])
  }
  assert.equal((await bundle.call('GET', '/api/v1/projects?tenant_id=acme')).body.data.length, 0)
  assert.equal(
    (await bundle.call('GET', '/api/v1/projects?tenant_id=acme&include_deleted=true')).body.data[0].id,
    id,
  )
  world.projects.insert(brief)
  await sweepProjects(bundle)
  const back = (await projects(bundle)).get('brief')!
  assert.deepEqual([back.id, back.tenant_id, back.deleted_at, back.stale_strike_count], [id, 'acme', null, 0])
})

test('a restored resource is the tenant’s whose its project has become meanwhile', async t => {
  const bundle = await setup(t)
  const id = await haveProject(bundle, 'p', 'acme', [['droplet', '1']])
  await see(bundle, 'droplet', [{ provider_id: '1' }])
  await sql`update cloud_resources set deleted_at = last_seen_at`.execute(bundle.ctx.db)
  // What is gone is in no project's list any more.
  await sql`delete from cloud_project_members`.execute(bundle.ctx.db)
  await bundle.call('PATCH', `/api/v1/projects/${id}`, { body: { tenant_id: 'globex' } })
  assert.equal((await see(bundle, 'droplet', [{ provider_id: '1' }])).restored, 1)
  const row = await rowOf(bundle, 'droplet', '1')
  assert.deepEqual([row.tenant_id, row.project_id], ['globex', id])
  const event = (await eventsOf(bundle, 'droplet', '1')).at(-1)
  assert.deepEqual(
    [event?.kind, event?.changes],
    ['restored', { tenant_id: { before: 'acme', after: 'globex' } }],
  )
})

test('a living resource that its project’s list no longer names still follows the project', async t => {
  const bundle = await setup(t, { provider: {} })
  await sweepOne(bundle, 'droplet')
  await sweepProjects(bundle)
  const acme = (await projects(bundle)).get('acme')!
  await bundle.call('PATCH', `/api/v1/projects/${acme.id}`, {
    body: { tenant_id: 'acme', purpose: 'tenant' },
  })
  removeResource(bundle.sandbox.world, 'droplet', String(WEB))
  await sweepProjects(bundle)
  await bundle.call('PATCH', `/api/v1/projects/${acme.id}`, { body: { tenant_id: 'globex' } })
  const row = await rowOf(bundle, 'droplet', WEB)
  assert.deepEqual([row.deleted_at, row.project_id, row.tenant_id], [null, acme.id, 'globex'])
})

const OWN = '0199d2a8-1111-7000-8000-00000000000a'
const FOREIGN = '0199d2a8-1111-7000-8000-00000000000b'

test('a tag ties a resource to a deployment of its own tenant alone, when it is found and when it changes', async t => {
  const bundle = await setup(t)
  await haveDeployment(bundle, OWN, 'acme')
  await haveDeployment(bundle, FOREIGN, 'globex')
  const names = ['own', 'foreign', 'both', 'nobodys']
  await haveProject(
    bundle,
    'p',
    'acme',
    names.slice(0, 3).map(name => ['droplet', name]),
  )
  const tags: Record<string, string[]> = {
    own: [`deployment:${OWN}`],
    foreign: [`deployment:${FOREIGN}`],
    both: [`deployment:${OWN}`, `deployment:${FOREIGN}`],
    nobodys: [`deployment:${OWN}`],
  }
  const ties = () =>
    Promise.all(names.map(async name => (await rowOf(bundle, 'droplet', name)).deployment_id))
  await see(
    bundle,
    'droplet',
    names.map(provider_id => ({ provider_id, tags: tags[provider_id] })),
  )
  assert.deepEqual(await ties(), [OWN, null, null, null])
  await see(bundle, 'droplet', [
    { provider_id: 'own', tags: tags.foreign },
    { provider_id: 'foreign', tags: tags.own },
    { provider_id: 'nobodys', tags: tags.own, status: 'off' },
  ])
  assert.deepEqual(await ties(), [null, OWN, null, null])
})

test('a tie that becomes another tenant’s ends when a project or a resource changes hands, and one that becomes its own begins', async t => {
  const bundle = await setup(t, { provider: {} })
  const { world } = bundle.sandbox
  await sweepProjects(bundle)
  await haveDeployment(bundle, OWN, 'acme')
  const { acme, globex } = Object.fromEntries(await projects(bundle)) as Record<string, CloudProjectRow>
  const give = ({ id }: CloudProjectRow, tenant_id: string) =>
    bundle.call('PATCH', `/api/v1/projects/${id}`, { body: { tenant_id, purpose: 'tenant' } })
  await give(acme!, 'acme')
  await give(globex!, 'globex')
  const droplet = world.shelves.droplet.get(String(WEB))!
  world.shelves.droplet.replace({ ...droplet, tags: [`deployment:${OWN}`] })
  await sweepOne(bundle, 'droplet')
  const tie = async () => (await rowOf(bundle, 'droplet', WEB)).deployment_id
  const lastChanges = async () => (await eventsOf(bundle, 'droplet', WEB)).at(-1)?.changes
  assert.equal(await tie(), OWN)

  await give(acme!, 'initech')
  assert.deepEqual(await lastChanges(), {
    tenant_id: { before: 'acme', after: 'initech' },
    deployment_id: { before: OWN, after: null },
  })
  await give(acme!, 'acme')
  assert.equal(await tie(), OWN)
  assign(world, `do:droplet:${WEB}`, globex!.provider_id, new Date())
  await sweepProjects(bundle)
  assert.equal(await tie(), null)
  assert.deepEqual((await lastChanges())?.deployment_id, { before: OWN, after: null })
  assign(world, `do:droplet:${WEB}`, acme!.provider_id, new Date())
  await sweepProjects(bundle)
  assert.equal(await tie(), OWN)
  assert.deepEqual(doneBy(await sweepProjects(bundle)), NOTHING_DONE)
})

test('a tag that names a deployment before it is there ties with the next sweep of the projects', async t => {
  const bundle = await setup(t, { provider: {} })
  await sweepProjects(bundle)
  const acme = (await projects(bundle)).get('acme')!
  await bundle.call('PATCH', `/api/v1/projects/${acme.id}`, {
    body: { tenant_id: 'acme', purpose: 'tenant' },
  })
  const { droplet } = bundle.sandbox.world.shelves
  droplet.replace({ ...droplet.get(String(WEB))!, tags: [`deployment:${OWN.toUpperCase()}`] })
  await sweepOne(bundle, 'droplet')
  await haveDeployment(bundle, OWN, 'acme')
  await sweepOne(bundle, 'droplet')
  assert.equal((await rowOf(bundle, 'droplet', WEB)).deployment_id, null, 'nothing of it has changed')
  assert.equal((await sweepProjects(bundle)).updated, 1)
  assert.equal((await rowOf(bundle, 'droplet', WEB)).deployment_id, OWN)
})
