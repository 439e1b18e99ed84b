// Provisioning when the provider fails it: whatever step it is, the run says which and why, what was done is undone in
// reverse order, and no droplet is left.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { manualClock } from '../../sandbox/clock.ts'
import type { FaultSpec } from '../../sandbox/provider/faults.ts'
import { takeDownLeaks } from '../../src/features/provisioning/leaks.ts'
import { desire } from '../support/drift.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { deployment } from '../support/factories.ts'
import {
  deprovision,
  dropletsOf,
  ledger,
  ordersOf,
  provision,
  sandboxDroplet,
} from '../support/provisioning.ts'
import { ended, type ShownRun, until } from '../support/sagas.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { eventsOf, jobPart, rowOf, sweepOne } from '../support/sweep.ts'

const CREATE = { method: 'POST', path: '/v2/droplets' }
const LISTING = { method: 'GET', path: '/v2/droplets' }
const ONE = { method: 'GET', path: '/v2/droplets/*' }
const DESTROY = { method: 'DELETE', path: '/v2/droplets/*' }
const ACTION = { method: 'GET', path: '/v2/actions/*' }

let tenants = 0
const newTenant = () => `tenant-${++tenants}`

/** A run for a tenant of its own, meeting these faults. */
async function runWith(
  bundle: Bundle,
  faults: (FaultSpec & { times?: number | 'always'; after?: number })[],
) {
  const { id } = await deployment(bundle, newTenant())
  for (const fault of faults) bundle.sandbox.faults.add(fault)
  const run = await ended(bundle, await provision(bundle, id))
  for (const { spec, met } of bundle.sandbox.faults.list())
    assert.ok(met > 0, `it never met ${JSON.stringify(spec)}: ${JSON.stringify(run.error)}`)
  bundle.sandbox.faults.clear()
  return run
}

async function assertRolledBack(bundle: Bundle, run: ShownRun, index: number, reason: RegExp): Promise<void> {
  assert.deepEqual([run.status, run.error?.step_idx], ['rolled_back', index], JSON.stringify(run))
  assert.match(run.error!.reason, reason)
  const undone = ['check_plan_caps', 'create_droplet']
  const expected = run.steps.map(({ step_idx: at, name }) =>
    at === index ? `${name} failed` : `${name} ${undone.includes(name) ? 'compensated' : 'completed'}`,
  )
  assert.deepEqual(ledger(run), expected)
  assert.equal(run.steps.length, index + 1)
  assert.equal(dropletsOf(bundle, run).length, 0, 'no droplet is left')
  assert.ok(ordersOf(bundle, run) <= 1)
  assert.ok(run.steps.every(({ attempts }) => attempts === 1))
  assert.equal(await reservations(bundle), 0)
}

const desireNothing = ({ call }: Bundle, id: string) =>
  call('DELETE', `/api/v1/inventory/${id}/desired-state`)

async function reservations({ ctx }: Bundle): Promise<number> {
  return (await ctx.db.selectFrom('provisioning_reservations').selectAll().execute()).length
}

test(
  'a step that fails, at each index, rolls the run back and leaves nothing at the provider',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { worker: true, provider: {} })
    const refusal = (
      match: object,
      message: string,
      after = 0,
    ): FaultSpec & { times: 'always'; after: number } => ({
      fault: 'server_error',
      status: 403,
      message,
      match,
      times: 'always',
      after,
    })
    const projects = { method: 'POST', path: '/v2/projects' }
    await assertRolledBack(
      bundle,
      await runWith(bundle, [refusal(projects, 'no projects')]),
      1,
      /403: no projects/,
    )
    await assertRolledBack(
      bundle,
      await runWith(bundle, [refusal(CREATE, 'no droplets')]),
      2,
      /403: no droplets/,
    )
    await assertRolledBack(bundle, await runWith(bundle, [refusal(ACTION, 'no looks')]), 3, /403: no looks/)
    const assign = { method: 'POST', path: '/v2/projects/*/resources' }
    await assertRolledBack(bundle, await runWith(bundle, [refusal(assign, 'no moves')]), 4, /403: no moves/)
    // Once to see that it is active; the next look is the one that records it.
    await assertRolledBack(bundle, await runWith(bundle, [refusal(ONE, 'no record', 1)]), 5, /403: no record/)

    // What was asked for does not exist: the provider’s words are the reason.
    const { id } = await deployment(bundle)
    for (const [order, words] of [
      [{ size: 'x-large' }, /422: You specified an invalid size/],
      [{ image: 'amiga-os' }, /422: You specified an invalid image/],
      [{ image: 404 }, /422: You specified an invalid image/],
      [{ region: 'atlantis' }, /422: You specified an invalid region/],
    ] as const) {
      await assertRolledBack(bundle, await ended(bundle, await provision(bundle, id, order)), 2, words)
    }
  },
)

test(
  'an answer that is lost is looked for, not asked for again; and 5xx, cuts and rate limits are borne',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { worker: true, provider: {} })
    const good: [string, Parameters<typeof runWith>[1]][] = [
      ['the create’s answer is lost', [{ fault: 'reset_after_commit', match: CREATE }]],
      ['the create answers 500 after the work', [{ fault: 'error_after_commit', match: CREATE }]],
      ['the create’s answer is cut', [{ fault: 'cut_json', match: CREATE }]],
      [
        'the create’s answer is lost, and listings come late',
        [
          { fault: 'reset_after_commit', match: CREATE },
          { fault: 'stale_listing', match: LISTING, after: 1, times: 3 },
        ],
      ],
      ['the rate limit refuses the create', [{ fault: 'too_many_requests', seconds: 1, match: CREATE }]],
      [
        'the project’s answer is lost',
        [{ fault: 'reset_after_commit', match: { method: 'POST', path: '/v2/projects' } }],
      ],
      [
        'the assignment’s answer is lost, then refused for a moment',
        [
          { fault: 'reset_after_commit', match: { method: 'POST', path: '/v2/projects/*/resources' } },
          { fault: 'server_error', status: 503, match: { method: 'POST', path: '/v2/projects/*/resources' } },
        ],
      ],
      [
        'a burst of 5xx, resets and pages that are none',
        [
          { fault: 'server_error', status: 502, times: 2, match: LISTING },
          { fault: 'connection_reset', times: 4, match: ACTION },
          { fault: 'html', times: 1, match: ACTION },
          { fault: 'server_error', status: 500, times: 7, match: ONE },
        ],
      ],
    ]
    for (const [what, faults] of good) {
      const run = await runWith(bundle, faults)
      assert.equal(run.status, 'completed', `${what}: ${JSON.stringify(run.error)}`)
      assert.deepEqual([ordersOf(bundle, run), dropletsOf(bundle, run).length], [1, 1], what)
    }
  },
)

test('a create that never turns up is rolled back', async t => {
  const bundle = await setup(t, { worker: true, provider: {}, providerLimits: { settleMs: 200 } })
  const never = await runWith(bundle, [{ fault: 'connection_reset', match: CREATE }])
  assert.match(never.error!.reason, /no droplet with the tag saga:.* has turned up/)
  assert.deepEqual([never.status, never.error?.step_idx, ordersOf(bundle, never)], ['rolled_back', 2, 0])
})

test('a create that turns up late is rolled back, and what it made is destroyed', async t => {
  const providerLimits = { settleMs: 200, recheckMs: 60_000 }
  const bundle = await setup(t, { worker: true, provider: {}, providerLimits })
  const { sandbox } = bundle
  const { id } = await deployment(bundle)
  sandbox.faults.add({ fault: 'reset_after_commit', match: CREATE })
  sandbox.faults.add({ fault: 'stale_listing', match: LISTING, times: 'always' })
  const late = await provision(bundle, id)
  await until(bundle, late.id, run => run.status === 'compensating')
  assert.equal(dropletsOf(bundle, late).length, 1, 'it is there, and nobody is told')
  sandbox.faults.clear()
  const run = await ended(bundle, late)
  assert.deepEqual([run.status, run.error?.step_idx, dropletsOf(bundle, run).length], ['rolled_back', 2, 0])
})

/** A service whose droplets take a second to boot by its clock; `booting` starts a run of a new tenant, as far as that. */
async function withSlowBoot(t: TestContext) {
  const clock = manualClock()
  const bundle = await setup(t, { worker: true, provider: { clock, actionDelayMs: 1_000 } })
  const booting = async () => {
    const { id } = await deployment(bundle, newTenant())
    const run = await provision(bundle, id)
    return until(bundle, run.id, ({ current_step_index: at }) => at === 3)
  }
  return { bundle, clock, booting }
}

test(
  'a droplet that boots can be cancelled, vanish or fail, and a sweep that saw it is told',
  onPostgresAlone,
  async t => {
    const { bundle, clock, booting } = await withSlowBoot(t)
    const { sandbox, call } = bundle

    const cancelled = await booting()
    await sweepOne(bundle, 'droplet')
    const dropletId = dropletsOf(bundle, cancelled)[0]!.id
    assert.equal((await rowOf(bundle, 'droplet', dropletId)).deleted_at, null)
    // A locked droplet cannot be destroyed at once, and the provider has a bad moment.
    sandbox.faults.add({
      fault: 'server_error',
      status: 422,
      message: 'Droplet is locked.',
      times: 2,
      match: DESTROY,
    })
    sandbox.faults.add({ fault: 'server_error', status: 503, times: 2, match: DESTROY })
    sandbox.faults.add({ fault: 'reset_after_commit', match: DESTROY })
    assert.equal((await call('POST', `/api/v1/sagas/${cancelled.id}/cancel`)).status, 202)
    clock.advance(1_000)
    const run = await ended(bundle, cancelled)
    assert.deepEqual([run.status, run.error?.reason], ['rolled_back', 'cancelled by ada'])
    assert.equal(run.error?.step, 'assign_to_project')
    assert.equal(dropletsOf(bundle, run).length, 0)
    const events = await eventsOf(bundle, 'droplet', dropletId)
    assert.deepEqual([events.at(-1)?.kind, events.at(-1)?.actor], ['deleted', `saga:${run.id}`])
    sandbox.faults.clear()

    const vanished = await booting()
    sandbox.world.shelves.droplet.remove(String(dropletsOf(bundle, vanished)[0]!.id))
    clock.advance(1_000)
    await assertRolledBack(bundle, await ended(bundle, vanished), 3, /could not make the droplet/)

    const errored = await booting()
    const action = sandbox.world.actions.get(String(errored.context.action_id))!
    sandbox.world.actions.replace({ ...action, status: 'errored' })
    await assertRolledBack(bundle, await ended(bundle, errored), 3, /could not make the droplet/)
    assert.equal(await reservations(bundle), 0)
  },
)

test(
  'another tenant’s droplet that carries a saga’s tag survives its rollback and the cleaning up after it',
  onPostgresAlone,
  async t => {
    const { bundle, clock, booting } = await withSlowBoot(t)
    const { sandbox, call } = bundle
    const kept = await booting()
    clock.advance(1_000)
    assert.equal((await ended(bundle, kept)).status, 'completed')
    const [theirs] = dropletsOf(bundle, kept)
    const undone = await booting()
    sandbox.world.shelves.droplet.replace({ ...theirs!, tags: [`saga:${undone.id}`] })
    await desireNothing(bundle, (await rowOf(bundle, 'droplet', theirs!.id)).id)
    await sweepOne(bundle, 'droplet')
    const { droplet_id: own } = undone.context
    await call('POST', `/api/v1/sagas/${undone.id}/cancel`)
    clock.advance(1_000)
    assert.equal((await ended(bundle, undone)).status, 'rolled_back')
    assert.equal(await takeDownLeaks(bundle.ctx, jobPart()), 0)
    const { droplet } = sandbox.world.shelves
    assert.deepEqual([droplet.get(String(own)), droplet.get(String(theirs!.id))?.id], [undefined, theirs!.id])
    assert.equal((await rowOf(bundle, 'droplet', theirs!.id)).deleted_at, null, 'and the inventory knows it')
  },
)

test('a compensation that fails does not stop the walk, and what it left is listed', async t => {
  const bundle = await setup(t, { worker: true, provider: {} })
  const run = await runWith(bundle, [
    {
      fault: 'server_error',
      status: 403,
      match: { method: 'POST', path: '/v2/projects/*/resources' },
      times: 'always',
    },
    { fault: 'server_error', status: 403, message: 'no deletes', match: DESTROY, times: 'always' },
  ])
  assert.deepEqual([run.status, run.error?.step_idx], ['rolled_back', 4])
  const { status, error } = run.steps[2]!
  assert.deepEqual([status, /compensation failed: .*no deletes/.test(error!)], ['completed', true], error!)
  assert.equal(run.steps[0]?.status, 'compensated')
  await sweepOne(bundle, 'droplet')
  const { body } = await bundle.call('GET', '/api/v1/sagas/leaks')
  assert.deepEqual(
    body.data.map((leak: { saga_id: string; reason: string }) => [leak.saga_id, leak.reason]),
    [[run.id, 'run_rolled_back']],
  )
})

test(
  'a droplet that shows up after its create’s answer was lost and its run rolled back is taken down; what others keep is not',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { worker: true, provider: {}, providerLimits: { settleMs: 200 } })
    const { call, sandbox } = bundle
    const { id } = await deployment(bundle)
    const owner = await ended(bundle, await provision(bundle, id))
    const lost = await runWith(bundle, [{ fault: 'connection_reset', match: CREATE }])
    await assertRolledBack(bundle, lost, 2, /no droplet .* has turned up/)
    const appears = (name: string, ...tags: string[]) => sandboxDroplet(bundle, { name, tags })
    const kept = [
      await appears('shared', `saga:${lost.id}`, `saga:${owner.id}`),
      await appears('stranger', `saga:${lost.id}`, 'saga:of-another-database'),
      await appears('desired', `saga:${lost.id}`),
    ]
    const seen = await appears('seen', `saga:${lost.id}`)
    await sweepOne(bundle, 'droplet')
    const late = await appears('late', `saga:${lost.id}`)
    await desire(bundle, (await rowOf(bundle, 'droplet', kept[2]!.id)).id, { name: 'desired' })

    const task = '/api/v1/admin/scheduled_tasks/leak_cleanup'
    assert.equal((await call('POST', `${task}/run`)).status, 202)
    await eventually('the task has ended', async () => {
      const { last_run } = (await call('GET', task)).body.data
      return last_run.status === 'completed'
    })
    const { droplet } = sandbox.world.shelves
    const living = [...droplet].map(found => found.id)
    assert.deepEqual(
      [seen, late, ...kept].map(found => living.includes(found.id)),
      [false, false, true, true, true],
    )
    assert.equal(dropletsOf(bundle, owner).length, 2)
    const leaks = (await call('GET', '/api/v1/sagas/leaks')).body.data
    assert.deepEqual(leaks.map((leak: { resource: { name: string } }) => leak.resource.name).sort(), [
      'shared',
      'stranger',
    ])
    for (const gone of [seen, late]) {
      assert.match(bundle.logged(), new RegExp(`"droplet_id":"${gone.id}","msg":"leak taken down"`))
      const events = await eventsOf(bundle, 'droplet', gone.id)
      assert.deepEqual(events.at(-1)?.kind, 'deleted')
    }
  },
)

test(
  'GPU droplets, which tags do not list, are provisioned, undone and taken away like any other',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { worker: true, provider: {} })
    const { sandbox } = bundle
    const { id } = await deployment(bundle)
    const gpu = { size: 'gpu-h100x1-80gb', image: 'gpu-h100x1-base', region: 'tor1' }
    sandbox.faults.add({ fault: 'reset_after_commit', match: CREATE })
    const made = await ended(bundle, await provision(bundle, id, gpu))
    assert.deepEqual([made.status, ordersOf(bundle, made)], ['completed', 1], JSON.stringify(made.error))
    sandbox.faults.add({
      fault: 'server_error',
      status: 403,
      match: { method: 'POST', path: '/v2/projects/*/resources' },
    })
    await assertRolledBack(bundle, await ended(bundle, await provision(bundle, id, gpu)), 4, /403/)
    assert.equal((await ended(bundle, await deprovision(bundle, id))).status, 'completed')
    assert.equal(dropletsOf(bundle, made).length, 0)
  },
)

test(
  'a deprovisioning that fails half-way records what is gone, and the next one finishes',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { worker: true, provider: {} })
    const { sandbox, call } = bundle
    const { id } = await deployment(bundle)
    const runs = [
      await ended(bundle, await provision(bundle, id)),
      await ended(bundle, await provision(bundle, id)),
    ]
    const [first, second] = runs.map(run => dropletsOf(bundle, run)[0]!.id)
    sandbox.faults.add({
      fault: 'server_error',
      status: 403,
      message: 'hands off',
      times: 'always',
      match: { method: 'DELETE', path: `/v2/droplets/${second}` },
    })
    const failed = await ended(bundle, await deprovision(bundle, id))
    assert.deepEqual([failed.status, failed.error?.step_idx], ['rolled_back', 2])
    assert.match(failed.error!.reason, /hands off/)
    assert.deepEqual(ledger(failed), [
      'list_droplets compensated',
      'verify_ownership completed',
      'destroy_droplets failed',
    ])
    assert.ok((await rowOf(bundle, 'droplet', first!)).deleted_at, 'gone, and recorded')
    assert.equal((await rowOf(bundle, 'droplet', second!)).deleted_at, null)
    sandbox.faults.clear()
    assert.equal((await ended(bundle, await deprovision(bundle, id))).status, 'completed')
    assert.equal((await call('GET', `/api/v1/inventory?deployment_id=${id}`)).body.data.length, 0)
  },
)
