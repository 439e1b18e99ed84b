// Resources that no tag ties: an operator says which deployment they are for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordGone } from '../../src/features/inventory/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { deployment } from '../support/factories.ts'
import { meter, usageRows } from '../support/metering.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { eventsOf, haveProject, rowOf, see, sightingOf, sweepProjects } from '../support/sweep.ts'

/** A load balancer and a database in acme's project, and two deployments of acme's and one of globex's. */
async function seed(bundle: Bundle) {
  bundle.clock.set('2026-11-10T10:00:00Z')
  const ids = [(await deployment(bundle)).id, (await deployment(bundle)).id] as [string, string]
  const { id: foreign } = await deployment(bundle, 'globex')
  const project = await haveProject(bundle, 'p-acme', 'acme', [
    ['load_balancer', 'lb'],
    ['database', 'db'],
  ])
  const look = async (tags: string[] = []) => {
    // Load balancers have no tags of their own in the provider's answer.
    await see(bundle, 'load_balancer', [{ provider_id: 'lb', tags: undefined }])
    await see(bundle, 'database', [{ provider_id: 'db', tags }])
  }
  await look()
  const idOf = async (name: 'lb' | 'db') =>
    (await rowOf(bundle, name === 'lb' ? 'load_balancer' : 'database', name)).id
  return { ids, foreign, project, look, lb: await idOf('lb'), db: await idOf('db') }
}

const tie = ({ call }: Bundle, id: string, deployment_id: unknown, token?: string) =>
  call('PATCH', `/api/v1/inventory/${id}`, { body: { deployment_id }, token })
const tied = async ({ call }: Bundle, id: string) =>
  (await call('GET', `/api/v1/inventory/${id}`)).body.data.deployment_id

test('an operator ties what carries no tag: event, history, audit entry and webhook tell it, and sweeps leave it so', async t => {
  const bundle = await setup(t)
  const { call, ctx, clock } = bundle
  const { ids, look, lb, db } = await seed(bundle)
  const hook = await call('POST', '/api/v1/admin/webhooks', {
    body: { url: 'https://hooks.example.com/resources', events: ['resource.updated'] },
  })
  clock.set('2026-11-10T11:30:00Z')
  for (const id of [lb, db]) {
    const { status, body, text } = await tie(bundle, id, ids[0])
    assert.equal(status, 200, text)
    assert.equal(body.data.deployment_id, ids[0])
    const { kind, changes, actor } = body.data.events.at(-1)
    const expected = { deployment_id: { before: null, after: ids[0] } }
    assert.deepEqual([kind, changes, actor], ['updated', expected, 'ada'])
  }
  // The same again is no change.
  assert.equal((await tie(bundle, lb, ids[0])).status, 200)
  assert.equal((await eventsOf(bundle, 'load_balancer', 'lb')).length, 2)
  const entries = (await call('GET', `/api/v1/admin/audit_log?subject_id=${lb}`)).body.data
  assert.deepEqual(
    entries.map((entry: Record<string, unknown>) => [entry.operation, entry.subject_type, entry.after]),
    [['assignResource', 'cloud_resources', { deployment_id: ids[0] }]],
  )
  const { data } = (await call('GET', `/api/v1/admin/webhooks/${hook.body.data.id}/deliveries`)).body
  assert.equal(data.length, 2)

  for (let i = 0; i < 3; i++) await look(i === 1 ? ['env:prod'] : [])
  await sweepProjects(bundle)
  assert.deepEqual([await tied(bundle, lb), await tied(bundle, db)], [ids[0], ids[0]])

  // Metered from the moment it was tied.
  clock.set('2026-11-10T13:10:00Z')
  await meter(bundle)
  assert.deepEqual(
    (await usageRows(bundle)).filter(([, , kind]) => kind === 'load_balancer'),
    [
      [ids[0], '11:00', 'load_balancer', 1800, 1],
      [ids[0], '12:00', 'load_balancer', 3600, 1],
    ],
  )
  const owners = (await call('GET', `/api/v1/inventory/${lb}/owners`)).body.data
  assert.deepEqual(
    owners.map((row: Record<string, unknown>) => [row.deployment_id, row.valid_from]).slice(0, 1),
    [[ids[0], '2026-11-10T11:30:00.000Z']],
  )

  assert.equal((await tie(bundle, lb, ids[1])).body.data.deployment_id, ids[1])
  assert.equal((await tie(bundle, lb, null)).body.data.deployment_id, null)
  await look()
  assert.equal(await tied(bundle, lb), null)
  assert.equal(await tied(bundle, db), ids[0])
  const versions = await ctx.db
    .selectFrom('resource_versions')
    .select('deployment_id')
    .where('resource_id', '=', lb)
    .orderBy('valid_from')
    .execute()
  assert.deepEqual(
    versions.map(row => row.deployment_id),
    [null, ids[0], ids[1], null],
  )
})

test('only a deployment of the resource’s own tenant, and only by an operator; what is gone is 409, what is not there 404', async t => {
  const bundle = await setup(t)
  const { tokens, ctx } = bundle
  const { ids, foreign, lb } = await seed(bundle)
  for (const other of [foreign, newId()]) {
    const { status, body } = await tie(bundle, lb, other)
    assert.deepEqual(
      [status, body.code, body.errors[0].pointer],
      [422, 'validation_failed', '/deployment_id'],
    )
  }
  for (const body of [{}, { deployment_id: 7 }, { deployment_id: 'x' }])
    assert.equal((await bundle.call('PATCH', `/api/v1/inventory/${lb}`, { body })).status, 422)
  for (const tenant of ['acme', 'globex']) {
    const { status, body } = await tie(bundle, lb, ids[0], await tokens.tenant(tenant, { role: 'admin' }))
    assert.deepEqual([status, body.code], [403, 'forbidden'])
  }
  assert.equal((await tie(bundle, newId(), ids[0])).status, 404)
  await recordGone(ctx.db, await sightingOf(bundle, 'load_balancer', 'test'), { providerIds: ['lb'] })
  const { status, body } = await tie(bundle, lb, ids[0])
  assert.deepEqual([status, body.code], [409, 'resource_gone'])
  assert.equal(await tied(bundle, lb), null)
})

test('what no project can hold is its tenant’s whose deployment it is tied to, until it is taken back or a project holds it', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const { ids, foreign } = await seed(bundle)
  const look = (tags: string[] = []) => see(bundle, 'snapshot', [{ provider_id: 'daily', tags }])
  await look()
  const { id } = await rowOf(bundle, 'snapshot', 'daily')
  const whose = async () => {
    const { tenant_id, deployment_id } = (await call('GET', `/api/v1/inventory/${id}`)).body.data
    return [tenant_id, deployment_id]
  }
  assert.deepEqual(await whose(), [null, null])
  const made = await tie(bundle, id, ids[0])
  assert.deepEqual(made.body.data.events.at(-1).changes, {
    deployment_id: { before: null, after: ids[0] },
    tenant_id: { before: null, after: 'acme' },
  })
  const sees = async (tenant: string) =>
    (await call('GET', `/api/v1/inventory/${id}`, { token: await tokens.tenant(tenant) })).status
  assert.deepEqual([await sees('acme'), await sees('globex')], [200, 404])
  // A tag ties nothing that is in no project.
  await look([`deployment:${ids[1]}`])
  await sweepProjects(bundle)
  await look(['env:prod'])
  assert.deepEqual(await whose(), ['acme', ids[0]])
  assert.equal((await tie(bundle, id, foreign)).status, 200)
  assert.deepEqual([await whose(), await sees('acme')], [['globex', foreign], 404])
  assert.equal((await tie(bundle, id, null)).status, 200)
  assert.deepEqual(await whose(), [null, null])
  await tie(bundle, id, ids[0])
  const project = await haveProject(bundle, 'p-globex', null, [['snapshot', 'daily']])
  await call('PATCH', `/api/v1/projects/${project}`, { body: { tenant_id: 'globex', purpose: 'tenant' } })
  assert.deepEqual(await whose(), ['globex', null])
})

test(
  'a tag is the stronger word: it takes over, what it ties cannot be tied otherwise, and one of another tenant’s is none',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { ids, foreign, look, db } = await seed(bundle)
    await tie(bundle, db, ids[0])
    await look([`deployment:${foreign}`])
    assert.equal(await tied(bundle, db), ids[0])
    await look([`deployment:${ids[1]}`])
    assert.equal(await tied(bundle, db), ids[1])
    for (const other of [ids[0], null]) {
      const { status, body } = await tie(bundle, db, other)
      assert.deepEqual([status, body.code], [409, 'tied_by_tag'])
      assert.match(body.detail, new RegExp(`deployment:${ids[1]}`))
    }
    assert.equal((await tie(bundle, db, ids[1])).status, 200, 'as it is')
    await look()
    assert.equal(await tied(bundle, db), null, 'what was said before the tag is over')
  },
)

test('a project that changes hands unties what it holds, and what comes back is not tied again', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const { ids, project, look, lb, db } = await seed(bundle)
  for (const id of [lb, db]) await tie(bundle, id, ids[0])
  const give = async (tenant_id: string) => {
    const { status, text } = await call('PATCH', `/api/v1/projects/${project}`, { body: { tenant_id } })
    assert.equal(status, 200, text)
  }
  await give('globex')
  assert.deepEqual([await tied(bundle, lb), await tied(bundle, db)], [null, null])
  const { changes } = (await eventsOf(bundle, 'load_balancer', 'lb')).at(-1)!
  assert.deepEqual(changes, {
    tenant_id: { before: 'acme', after: 'globex' },
    deployment_id: { before: ids[0], after: null },
  })
  await look()
  await give('acme')
  await look()
  assert.deepEqual([await tied(bundle, lb), await tied(bundle, db)], [null, null])
  // Another project of the same tenant is no change of hands.
  await tie(bundle, lb, ids[0])
  await haveProject(bundle, 'p-acme', 'acme', [['database', 'db']])
  await haveProject(bundle, 'p-acme-2', 'acme', [['load_balancer', 'lb']])
  await call('PATCH', `/api/v1/projects/${project}`, { body: { tenant_id: 'acme', purpose: 'shared' } })
  await see(bundle, 'load_balancer', [{ provider_id: 'lb', name: 'renamed', tags: undefined }])
  assert.equal(await tied(bundle, lb), ids[0])
})
