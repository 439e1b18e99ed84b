// Provisioning and deprovisioning as an operator sees them: over HTTP, with the real queue and the simulated provider.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { manualClock } from '../../sandbox/clock.ts'
import { assign } from '../../sandbox/world/world.ts'
import { provisioningSagas } from '../../src/features/provisioning/index.ts'
import type { Executor } from '../../src/kernel/db/tables.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { newId } from '../../src/kernel/ids.ts'
import { desire, drifts, sweepDrift } from '../support/drift.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { addon, deployment, move, plan } from '../support/factories.ts'
import {
  deprovision,
  dropletsOf,
  dropletsWith,
  IMAGE,
  ledger,
  ordersOf,
  provision,
  SIZE,
  sandboxDroplet,
} from '../support/provisioning.ts'
import { ended, until } from '../support/sagas.ts'
import { setup, silentLog } from '../support/setup.ts'
import { rowOf, sweepOne, sweepProjects } from '../support/sweep.ts'

const ALL_DONE = [
  'check_plan_caps completed',
  'ensure_project completed',
  'create_droplet completed',
  'wait_until_active completed',
  'assign_to_project completed',
  'record_inventory completed',
]

const working = { worker: true, provider: {} }

test('a provisioned droplet is the tenant’s and the deployment’s from the first moment, and nothing drifts', async t => {
  const bundle = await setup(t, { worker: true, provider: { actionDelayMs: 60 } })
  const { call, sandbox } = bundle
  const { id, slug } = await deployment(bundle, 'acme')
  const started = await call('POST', `/api/v1/deployments/${id}/provision`, {
    body: { size: SIZE, image: IMAGE },
  })
  assert.equal(started.status, 202, started.text)
  const { data } = started.body
  assert.equal(started.headers.get('location'), `/api/v1/sagas/${data.id}`)
  assert.deepEqual(
    [data.kind, data.inputs.region, data.inputs.deployment_id],
    ['provision_deployment', 'nyc3', id],
  )
  assert.match(data.inputs.name, new RegExp(`^${slug}-[0-9a-f]{8}$`))

  const run = await ended(bundle, data)
  assert.equal(run.status, 'completed', JSON.stringify(run.error))
  assert.deepEqual(ledger(run), ALL_DONE)
  const [droplet] = dropletsOf(bundle, run)
  assert.deepEqual(droplet?.tags, [`deployment:${id}`, `saga:${run.id}`])
  assert.equal(ordersOf(bundle, run), 1)
  const resource = (await call('GET', `/api/v1/inventory/${run.context.resource_id}`)).body.data
  const { name, status, tenant_id, deployment_id, project_id, events } = resource
  assert.deepEqual(
    { name, status, tenant_id, deployment_id },
    { name: droplet?.name, status: 'active', tenant_id: 'acme', deployment_id: id },
  )
  assert.deepEqual([events[0].kind, events[0].actor], ['discovered', `saga:${run.id}`])
  const projects = (await call('GET', '/api/v1/projects?tenant_id=acme')).body.data
  assert.deepEqual([projects.length, projects[0].id, projects[0].purpose], [1, project_id, 'tenant'])
  assert.equal(sandbox.world.projectResources.get(projects[0].provider_id)?.size, 1)

  const { spec, spec_version, saga_id } = resource.desired_state
  assert.deepEqual([saga_id, spec_version], [run.id, 1])
  assert.deepEqual(Object.keys(spec).sort(), [
    'disk',
    'image',
    'memory',
    'name',
    'region',
    'size_slug',
    'tags',
    'vcpus',
  ])

  // The sweeps find it as it was recorded: no event, no move, no drift; until somebody changes it.
  await sweepProjects(bundle)
  await sweepOne(bundle, 'droplet')
  assert.deepEqual(await sweepDrift(bundle), { open: 0, told: 0, ignored: 0, stale: 0 })
  const swept = (await call('GET', `/api/v1/inventory/${resource.id}`)).body.data
  assert.deepEqual([swept.events.length, swept.tenant_id, swept.project_id], [1, 'acme', project_id])
  sandbox.world.shelves.droplet.replace({
    ...sandbox.world.shelves.droplet.get(String(droplet!.id))!,
    memory: 1,
  })
  await sweepOne(bundle, 'droplet')
  assert.deepEqual([(await sweepDrift(bundle)).open, (await drifts(bundle))[0]?.field], [1, 'memory'])
})

test(
  'of a run under way a second request is answered with the same run, by name or by deployment',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { worker: true, provider: { actionDelayMs: 1_000 } })
    const { id } = await deployment(bundle)
    const first = await provision(bundle, id)
    assert.equal((await provision(bundle, id)).id, first.id)
    const named = await provision(bundle, id, {
      name: 'web-1.example.com',
      region: 'fra1',
      image: 155_133_621,
    })
    assert.notEqual(named.id, first.id)
    assert.equal((await provision(bundle, id, { name: 'WEB-1.example.com' })).id, named.id)
    const runs = [await ended(bundle, first), await ended(bundle, named)]
    assert.deepEqual(
      runs.map(({ status }) => status),
      ['completed', 'completed'],
    )
    assert.equal(dropletsOf(bundle, named)[0]?.region.slug, 'fra1')
    // One project for both, although neither run knew of the other’s.
    assert.equal(runs[0]?.context.project_id, runs[1]?.context.project_id)
    const taken = await bundle.call('POST', `/api/v1/deployments/${id}/provision`, {
      body: { size: SIZE, image: IMAGE, name: 'Web-1.example.com' },
    })
    assert.deepEqual([taken.status, taken.body.code], [409, 'name_taken'])
    assert.notEqual((await provision(bundle, id)).id, first.id)
  },
)

test('what cannot be provisioned is refused with its reason', async t => {
  const bundle = await setup(t, working)
  const { call, tokens } = bundle
  const { id } = await deployment(bundle)
  const ask = (path: string, body: object, token?: string) => call('POST', path, { body, token })
  const of = (which: string) => `/api/v1/deployments/${which}/provision`
  const order = { size: SIZE, image: IMAGE }

  assert.equal((await ask(of(id), order, await tokens.tenant('acme'))).status, 403)
  assert.equal((await ask(of('01890000-0000-7000-8000-000000000000'), order)).status, 404)
  for (const wrong of [
    { image: IMAGE },
    { size: SIZE },
    { ...order, image: 0 },
    { ...order, image: null },
    { ...order, size: 'a b' },
    { ...order, name: '-x' },
    { ...order, name: 'under_score' },
    { ...order, name: `${'a'.repeat(64)}.com` },
    { ...order, colour: 'red' },
  ]) {
    const { status, body } = await ask(of(id), wrong)
    assert.deepEqual([status, body.code], [422, 'validation_failed'], JSON.stringify(wrong))
  }
  const unknown = await ask('/api/v1/sagas', {
    kind: 'provision_deployment',
    inputs: { ...order, deployment_id: '01890000-0000-7000-8000-000000000000' },
  })
  assert.deepEqual([unknown.status, unknown.body.errors[0].pointer], [422, '/inputs/deployment_id'])

  for (const states of [['paused'], ['suspended'], ['cancelled'], ['cancelled', 'archived']]) {
    const other = await deployment(bundle)
    await move(bundle, other.id, ...states)
    const { status, body } = await ask(of(other.id), order)
    assert.deepEqual([status, body.code], [422, 'deployment_not_provisionable'], states.join())
    assert.match(body.detail, new RegExp(`that is ${states.at(-1)}`))
  }
  const late = await deployment(bundle)
  await move(bundle, late.id, 'past_due')
  assert.equal((await ended(bundle, await provision(bundle, late.id))).status, 'completed')

  // Both kinds can be started as sagas too, and the defaults are worked out.
  const asSaga = await ask('/api/v1/sagas', {
    kind: 'provision_deployment',
    inputs: { ...order, deployment_id: id },
  })
  assert.deepEqual([asSaga.status, asSaga.body.data.inputs.region], [202, 'nyc3'], asSaga.text)
  await ended(bundle, asSaga.body.data)
  const away = await ask('/api/v1/sagas', { kind: 'deprovision_deployment', inputs: { deployment_id: id } })
  assert.equal((await ended(bundle, away.body.data)).status, 'completed')
})

test('the tenant’s project is one the provider has under its name, unless an operator gave that to someone else', async t => {
  const bundle = await setup(t, working)
  const { call, ctx, sandbox } = bundle
  const made = async (tenant: string) =>
    String(
      (
        await ctx.providers
          .for('provisioning')
          .createProject({ name: `tenant ${tenant}`, purpose: 'Service or API' })
      ).id,
    )
  const given = await made('zeta')
  const found = await made('eta')
  await sweepProjects(bundle)
  const projects = (await call('GET', '/api/v1/projects?limit=500')).body.data
  const ours = projects.find((project: { provider_id: string }) => project.provider_id === given)
  const provisioned = async (tenant: string) =>
    ended(bundle, await provision(bundle, (await deployment(bundle, tenant)).id))
  for (const purpose of ['shared', 'tenant']) {
    const body = { tenant_id: 'other', purpose }
    assert.equal((await call('PATCH', `/api/v1/projects/${ours.id}`, { body })).status, 200)
    const refused = await provisioned('zeta')
    assert.deepEqual([refused.status, refused.error?.step_idx], ['rolled_back', 1], purpose)
    assert.match(refused.error!.reason, /“tenant zeta” has been given to someone else/)
  }
  const run = await provisioned('eta')
  assert.deepEqual([run.status, run.context.project_provider_id], ['completed', found])
  // An operator may name any project the tenant’s.
  const [, other] = [...sandbox.world.projects]
  const named = projects.find((project: { provider_id: string }) => project.provider_id === other!.id)
  await call('PATCH', `/api/v1/projects/${named.id}`, { body: { tenant_id: 'theta', purpose: 'tenant' } })
  assert.equal((await provisioned('theta')).context.project_provider_id, other!.id)
})

test('a deployment that was moved since it was asked for is given nothing', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  await move(bundle, id, 'suspended')
  const [check] = provisioningSagas(bundle.ctx)[0]!.steps
  const { signal } = new AbortController()
  const state = {
    sagaId: newId(),
    inputs: { deployment_id: id },
    context: {},
    stepIndex: 0,
    signal,
    log: silentLog,
    transaction: <T>(work: (tx: Executor) => Promise<T>) => transaction(bundle.ctx.db, work),
  }
  const result = await check!.execute(state)
  assert.deepEqual(
    [result.ok, /that is suspended/.test('reason' in result ? result.reason : '')],
    [false, true],
  )
})

test('without a provider nothing is begun: 503', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  const body = { size: SIZE, image: IMAGE }
  for (const [path, sent] of [
    ['provision', body],
    ['deprovision', undefined],
  ] as const) {
    const answer = await bundle.call('POST', `/api/v1/deployments/${id}/${path}`, { body: sent })
    assert.deepEqual([answer.status, answer.body.code], [503, 'unavailable'])
  }
  assert.equal((await bundle.call('GET', '/api/v1/sagas')).body.data.length, 0)
})

test(
  'a plan’s cap holds: included, addons, overage up to the hard cap; beyond it nothing is created',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, working)
    const item = (fields: object) => [
      { resource_kind: 'droplet', included_qty: 1, hard_cap_qty: null, ...fields },
    ]
    const overage = { overage_unit: 'hour', overage_price_cents: 2 }
    const extra = await addon(bundle, { resource_kind: 'droplet', qty: 1 })
    const cases: [string, object[], unknown[], number][] = [
      ['included alone', item({}), [], 1],
      ['a cap without overage terms', item({ hard_cap_qty: 2 }), [], 2],
      ['with addons', item({}), [{ code: extra, quantity: 2 }], 3],
      ['overage up to the cap', item({ ...overage, hard_cap_qty: 2 }), [], 2],
      ['addons beyond the cap', item({ ...overage, hard_cap_qty: 1 }), [extra], 1],
    ]
    for (const [what, items, addons, limit] of cases) {
      const { id } = await deployment(bundle)
      const plan_code = await plan(bundle, { items })
      const subscribed = await bundle.call('POST', `/api/v1/deployments/${id}/subscribe`, {
        body: { plan_code, addons },
      })
      assert.equal(subscribed.status, 201, subscribed.text)
      for (let n = 0; n < limit; n++) {
        const run = await ended(bundle, await provision(bundle, id))
        assert.equal(run.status, 'completed', `${what}: ${run.error?.reason}`)
      }
      const refused = await ended(bundle, await provision(bundle, id))
      assert.deepEqual([refused.status, refused.error?.step_idx], ['rolled_back', 0], what)
      assert.match(refused.error!.reason, new RegExp(`the plan allows ${limit} of droplet`))
      assert.deepEqual(ledger(refused), ['check_plan_caps failed'])
      assert.equal(ordersOf(bundle, refused), 0)
      assert.equal(dropletsWith(bundle, `deployment:${id}`).length, limit)
    }
    // A place is free again at once when its droplet is taken away; and a plan that says nothing of droplets sets no cap.
    const { id } = await deployment(bundle)
    const plan_code = await plan(bundle, { items: item({}) })
    await bundle.call('POST', `/api/v1/deployments/${id}/subscribe`, { body: { plan_code } })
    await ended(bundle, await provision(bundle, id))
    await ended(bundle, await deprovision(bundle, id))
    assert.equal((await ended(bundle, await provision(bundle, id))).status, 'completed')
    const adHoc = await deployment(bundle)
    const without = await plan(bundle, { items: [] })
    await bundle.call('POST', `/api/v1/deployments/${adHoc.id}/subscribe`, { body: { plan_code: without } })
    for (const _ of [1, 2])
      assert.equal((await ended(bundle, await provision(bundle, adHoc.id))).status, 'completed')
  },
)

test('deprovisioning destroys what the inventory and the tag know of, and the inventory tells it at once', async t => {
  const bundle = await setup(t, working)
  const { call, sandbox } = bundle
  const { id } = await deployment(bundle)
  const runs = [
    await ended(bundle, await provision(bundle, id)),
    await ended(bundle, await provision(bundle, id)),
  ]
  // One that no sweep has seen; one that is gone already; one whose tie was taken away since the last sweep.
  const [gone, kept] = runs.map(run => dropletsOf(bundle, run)[0]!)
  const raw = await sandboxDroplet(bundle, { name: 'by-hand', tags: [`deployment:${id}`] })
  assign(sandbox.world, `do:droplet:${raw.id}`, String(runs[0]!.context.project_provider_id), new Date())
  sandbox.world.shelves.droplet.remove(String(gone!.id))
  sandbox.world.shelves.droplet.replace({ ...kept!, tags: [] })
  const third = await ended(bundle, await provision(bundle, id))

  const run = await ended(bundle, await deprovision(bundle, id))
  assert.equal(run.status, 'completed', JSON.stringify(run.error))
  assert.deepEqual(ledger(run), [
    'list_droplets completed',
    'verify_ownership completed',
    'destroy_droplets completed',
    'record_deletions completed',
  ])
  assert.equal(dropletsWith(bundle, `deployment:${id}`).length, 0)
  assert.equal(sandbox.world.shelves.droplet.get(String(raw.id)), undefined)
  assert.ok(sandbox.world.shelves.droplet.get(String(kept!.id)), 'no longer the deployment’s: left alone')
  for (const { context } of [runs[0]!, third]) {
    const { data } = (await call('GET', `/api/v1/inventory/${context.resource_id}`)).body
    assert.ok(data.deleted_at)
    const last = data.events.at(-1)
    assert.deepEqual([last.kind, last.actor], ['deleted', `saga:${run.id}`])
    assert.equal(data.desired_state, null)
  }
  const living = (await call('GET', `/api/v1/inventory?deployment_id=${id}`)).body.data
  assert.deepEqual(
    living.map((row: { provider_id: string }) => row.provider_id),
    [String(kept!.id)],
  )
  // With nothing left there is nothing to do.
  assert.equal((await ended(bundle, await deprovision(bundle, id))).status, 'completed')
})

test('a droplet that only an operator has tied to the deployment is left alone by its deprovisioning', async t => {
  const bundle = await setup(t, working)
  const { call, sandbox } = bundle
  const { id } = await deployment(bundle)
  const made = await ended(bundle, await provision(bundle, id))
  const raw = await sandboxDroplet(bundle, { name: 'older', tags: [] })
  assign(sandbox.world, `do:droplet:${raw.id}`, String(made.context.project_provider_id), new Date())
  await sweepProjects(bundle)
  await sweepOne(bundle, 'droplet')
  const { id: older } = await rowOf(bundle, 'droplet', raw.id)
  const body = { deployment_id: id }
  assert.equal((await call('PATCH', `/api/v1/inventory/${older}`, { body })).status, 200)

  const run = await ended(bundle, await deprovision(bundle, id))
  assert.equal(run.status, 'completed', JSON.stringify(run.error))
  assert.deepEqual(run.steps[0]!.output!.left_alone, [String(raw.id)])
  assert.equal(dropletsWith(bundle, `deployment:${id}`).length, 0)
  assert.ok(sandbox.world.shelves.droplet.get(String(raw.id)))
  const { deleted_at, deployment_id } = (await call('GET', `/api/v1/inventory/${older}`)).body.data
  assert.deepEqual([deleted_at, deployment_id], [null, id])
})

test(
  'a droplet with the deployment’s tag that is not the tenant’s stops deprovisioning before anything is destroyed',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, working)
    const { call, sandbox } = bundle
    const { id } = await deployment(bundle, 'acme')
    const [ours, theirs] = [
      await ended(bundle, await provision(bundle, id)),
      await ended(bundle, await provision(bundle, (await deployment(bundle, 'globex')).id)),
    ]
    const [mine, foreign] = [dropletsOf(bundle, ours)[0]!, dropletsOf(bundle, theirs)[0]!]
    const { droplet } = sandbox.world.shelves
    const lives = ({ id }: { id: number }) => droplet.get(String(id)) !== undefined
    const untouched = () => {
      const deletes = sandbox.requests.filter(({ method }) => method === 'DELETE')
      assert.deepEqual([lives(mine), lives(foreign), deletes], [true, true, []])
    }
    const lie = { ...foreign, tags: [`deployment:${id}`, `saga:${theirs.id}`] }
    const fails = async (reason: RegExp) => {
      const run = await ended(bundle, await deprovision(bundle, id))
      assert.deepEqual(
        [run.status, run.error?.step],
        ['rolled_back', 'verify_ownership'],
        JSON.stringify(run),
      )
      assert.match(run.error!.reason, reason)
      assert.ok(
        !JSON.stringify(run).includes(String(foreign.id)),
        'the run names no droplet of another tenant',
      )
      untouched()
    }

    // Known to the provider alone: the run finds it.
    droplet.replace(lie)
    await fails(
      /a droplet with the tag deployment:.* is not in a project of the tenant.*nothing was destroyed/,
    )
    assert.match(bundle.logged(), new RegExp(`"droplet_ids":\\["${foreign.id}"\\]`))
    // A list that cannot be read whole is no word at all.
    droplet.replace(foreign)
    const path = '/v2/projects/*/resources'
    for (const fault of ['server_error', 'wrong_total', 'cut_json'] as const) {
      sandbox.faults.add({ fault, times: 'always', match: { method: 'GET', path } })
      await fails(/could not be listed whole/)
      sandbox.faults.clear()
    }
    // Moved away at the provider since the last sweep of projects; and tied to two deployments at once.
    assign(sandbox.world, `do:droplet:${mine.id}`, String(theirs.context.project_provider_id), new Date())
    await fails(/not in a project of the tenant/)
    assign(sandbox.world, `do:droplet:${mine.id}`, String(ours.context.project_provider_id), new Date())
    droplet.replace({ ...mine, tags: [...mine.tags, `deployment:${newId()}`] })
    await fails(/the tag of another deployment too/)
    droplet.replace(mine)

    // Known to the inventory: refused at the request. The tag has tied nothing.
    droplet.replace(lie)
    await sweepOne(bundle, 'droplet')
    const { id: resourceId, deployment_id, tenant_id } = await rowOf(bundle, 'droplet', foreign.id)
    assert.deepEqual([deployment_id, tenant_id], [null, 'globex'])
    const refused = await call('POST', `/api/v1/deployments/${id}/deprovision`)
    assert.deepEqual(
      [refused.status, refused.body.code, refused.body.resource_ids],
      [409, 'tag_on_other_resources', [resourceId]],
    )
    untouched()
    droplet.replace(foreign)
    await sweepOne(bundle, 'droplet')
    assert.equal((await ended(bundle, await deprovision(bundle, id))).status, 'completed')
    assert.deepEqual([lives(mine), lives(foreign)], [false, true])
  },
)

test('the step that destroys touches nothing that was not verified, whatever carries the tag by then', async t => {
  const bundle = await setup(t, { provider: {} })
  const { droplet } = bundle.sandbox.world.shelves
  const { id } = await deployment(bundle)
  const tags = [`deployment:${id}`]
  const [verified, late] = [
    await sandboxDroplet(bundle, { name: 'a', tags }),
    await sandboxDroplet(bundle, { name: 'b', tags }),
  ]
  const [, down] = provisioningSagas(bundle.ctx)
  const step = down!.steps.find(({ name }) => name === 'destroy_droplets')!
  const destroy = (context: object) =>
    step.execute({
      sagaId: newId(),
      inputs: { deployment_id: id },
      context: { droplet_ids: [String(verified.id)], ...context },
      stepIndex: 2,
      signal: new AbortController().signal,
      log: silentLog,
      transaction: <T>(work: (tx: Executor) => Promise<T>) => transaction(bundle.ctx.db, work),
    })
  const left = () => [verified, late].map(({ id }) => droplet.get(String(id)) !== undefined)
  assert.equal((await destroy({})).ok, false, 'a run of a release that did not look')
  assert.deepEqual(left(), [true, true])
  assert.equal((await destroy({ verified: true })).ok, true)
  assert.deepEqual(left(), [false, true])
})

test('provisioning and deprovisioning of one deployment exclude each other, and say which run is in the way', async t => {
  // Nobody works: the runs stay under way.
  const bundle = await setup(t, { provider: {} })
  const ask = (id: string, what: string, body?: object) =>
    bundle.call('POST', `/api/v1/deployments/${id}/${what}`, { body })
  const [one, two] = [await deployment(bundle), await deployment(bundle)]
  const coming = await provision(bundle, one.id)
  const refused = await ask(one.id, 'deprovision')
  assert.deepEqual(
    [refused.status, refused.body.code, refused.body.saga_id],
    [409, 'provisioning_under_way', coming.id],
  )
  // Whoever would start one another way is stopped by the database itself.
  await assert.rejects(
    sql`insert into saga_runs (id, kind, status, step_modules, inputs, business_key, deployment_id, actor, job_id, heartbeat_at, created_at)
      select uuid_v7(), 'deprovision_deployment', 'pending', step_modules, inputs, 'other', deployment_id, actor, uuid_v7(), now(), now()
      from saga_runs where id = ${coming.id}`.execute(bundle.ctx.db),
    /saga_runs_deprovision_alone/,
  )
  const leaving = await deprovision(bundle, two.id)
  assert.equal((await deprovision(bundle, two.id)).id, leaving.id)
  const { status, body } = await ask(two.id, 'provision', { size: SIZE, image: IMAGE })
  assert.deepEqual([status, body.code, body.saga_id], [409, 'deprovisioning_under_way', leaving.id])
})

test('what a saga left behind is listed after the next sweep, until it is gone or kept', async t => {
  const clock = manualClock()
  const bundle = await setup(t, { worker: true, provider: { clock, actionDelayMs: 1_000 } })
  const { call, sandbox } = bundle
  const { id } = await deployment(bundle)
  const booting = (run: { id: string }) => until(bundle, run.id, ({ current_step_index: at }) => at === 3)
  const booted = async (run: { id: string }) => {
    await booting(run)
    clock.advance(1_000)
    return ended(bundle, run)
  }
  const owner = await booted(await provision(bundle, id))
  sandbox.faults.add({
    fault: 'server_error',
    status: 422,
    times: 1,
    match: { method: 'POST', path: '/v2/droplets' },
  })
  const failed = await ended(bundle, await provision(bundle, id))
  assert.equal(failed.status, 'rolled_back')
  const leaked = [
    await sandboxDroplet(bundle, { name: 'late', tags: [`deployment:${id}`, `saga:${failed.id}`] }),
    await sandboxDroplet(bundle, { name: 'stranger', tags: ['saga:of-another-database'] }),
    await sandboxDroplet(bundle, { name: 'twin', tags: [`deployment:${id}`, `saga:${owner.id}`] }),
  ]
  await sandboxDroplet(bundle, { name: 'plain', tags: ['web'] })
  const leaks = async () => (await call('GET', '/api/v1/sagas/leaks')).body.data
  assert.deepEqual(await leaks(), [])
  await sweepOne(bundle, 'droplet')
  const found = new Map<string, { saga_id: string; reason: string; run_status: string | null }>()
  for (const leak of await leaks()) found.set(leak.resource.name, leak)
  const told = (name: string) => [
    found.get(name)?.saga_id,
    found.get(name)?.reason,
    found.get(name)?.run_status,
  ]
  assert.deepEqual([...found.keys()].sort(), ['late', 'stranger', 'twin'])
  assert.deepEqual(told('late'), [failed.id, 'run_rolled_back', 'rolled_back'])
  assert.deepEqual(told('stranger'), ['of-another-database', 'run_unknown', null])
  assert.deepEqual(told('twin'), [owner.id, 'not_owned', 'completed'])
  const page = await call('GET', '/api/v1/sagas/leaks?limit=2')
  const rest = await call('GET', `/api/v1/sagas/leaks?limit=2&cursor=${page.body.next_cursor}`)
  assert.deepEqual([page.body.data.length, rest.body.data.length, rest.body.next_cursor], [2, 1, null])
  assert.equal(
    (await call('GET', '/api/v1/sagas/leaks', { token: await bundle.tokens.tenant('acme') })).status,
    403,
  )

  // A droplet of a run under way is none.
  const running = await provision(bundle, id)
  await booting(running)
  await sweepOne(bundle, 'droplet')
  assert.equal((await leaks()).length, 3)
  assert.equal((await booted(running)).status, 'completed')

  // One is kept, by giving it a desired state; deprovisioning takes the deployment’s, the provider’s console the other.
  const late = await rowOf(bundle, 'droplet', leaked[0]!.id)
  await desire(bundle, late.id, { name: 'late' })
  assert.equal((await leaks()).length, 2)
  sandbox.world.shelves.droplet.remove(String(leaked[1]!.id))
  const refused = await call('POST', `/api/v1/deployments/${id}/deprovision`)
  assert.deepEqual(
    [refused.status, refused.body.code, refused.body.resource_ids.includes(late.id)],
    [409, 'tag_on_other_resources', true],
    'made outside the tenant’s project',
  )
  for (const droplet of [leaked[0]!, leaked[2]!])
    assign(sandbox.world, `do:droplet:${droplet.id}`, String(owner.context.project_provider_id), new Date())
  await sweepProjects(bundle)
  assert.equal((await ended(bundle, await deprovision(bundle, id))).status, 'completed')
  for (const _ of [1, 2, 3]) await sweepOne(bundle, 'droplet')
  assert.deepEqual(await leaks(), [])
})
