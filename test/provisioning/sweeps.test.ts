// Sweeps and sagas at the same time: a sweep that has read before a saga wrote does not undo it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualClock } from '../../sandbox/clock.ts'
import { syncKind } from '../../src/features/inventory/sync-kind.ts'
import { syncProjects } from '../../src/features/inventory/sync-projects.ts'
import { oneProvider, type Provider } from '../../src/integrations/digitalocean/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { deployment } from '../support/factories.ts'
import { dropletsOf, provision } from '../support/provisioning.ts'
import { ended, until } from '../support/sagas.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { eventsOf, jobPart, rowOf, sweepOne, sweepProjects } from '../support/sweep.ts'

async function booting(t: Parameters<typeof setup>[0]) {
  const providerClock = manualClock()
  const bundle = await setup(t, { worker: true, provider: { clock: providerClock, actionDelayMs: 1_000 } })
  const start = async (tenant: string) => {
    const { id } = await deployment(bundle, tenant)
    const run = await provision(bundle, id)
    await until(bundle, run.id, ({ current_step_index: at }) => at === 3)
    return run
  }
  const boot = () => providerClock.advance(1_000)
  return { bundle, start, boot }
}

/** The bundle with a provider that waits for something else after each answer to this call. */
function withPause({ ctx }: Bundle, call: 'pages' | 'projectResources', meanwhile: () => Promise<void>) {
  const provider = ctx.providers.for('cloud_sync_full')
  const paused: Provider = {
    ...provider,
    async projectResources(...args) {
      const listing = await provider.projectResources(...args)
      if (call === 'projectResources') await meanwhile()
      return listing
    },
    pages(...args) {
      const listing = provider.pages(...args)
      async function* read() {
        for await (const page of listing) {
          if (call === 'pages') await meanwhile()
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
  }
  return { ...ctx, providers: oneProvider(paused) }
}

test(
  'a sweep that listed a droplet before its saga destroyed it does not bring it back',
  onPostgresAlone,
  async t => {
    const { bundle, start, boot } = await booting(t)
    const { clock, call } = bundle
    for (const known of [true, false]) {
      const run = await start('acme')
      const dropletId = dropletsOf(bundle, run)[0]!.id
      if (known) await sweepOne(bundle, 'droplet')
      clock.advance(3_600_000)
      let cancelled = false
      const ctx = withPause(bundle, 'pages', async () => {
        if (cancelled) return
        cancelled = true
        clock.advance(1_000)
        await call('POST', `/api/v1/sagas/${run.id}/cancel`)
        boot()
        assert.equal((await ended(bundle, run)).status, 'rolled_back')
      })
      await syncKind(ctx, { kind: 'droplet', sweepId: newId() }, jobPart())
      assert.equal(dropletsOf(bundle, run).length, 0)
      assert.ok((await rowOf(bundle, 'droplet', dropletId)).deleted_at, `known to a sweep before: ${known}`)
      const kinds = (await eventsOf(bundle, 'droplet', dropletId)).map(({ kind }) => kind)
      assert.deepEqual(
        [kinds.filter(kind => kind === 'deleted').length, kinds.includes('restored')],
        [1, false],
      )
    }
  },
)

test(
  'a list of a project that was read before its droplet moved to the tenant’s does not move it back',
  onPostgresAlone,
  async t => {
    const { bundle, start, boot } = await booting(t)
    const { clock, call } = bundle
    const run = await start('acme')
    const dropletId = dropletsOf(bundle, run)[0]!.id
    clock.advance(3_600_000)
    let lists = 0
    const ctx = withPause(bundle, 'projectResources', async () => {
      // Every list has been read by now: the droplet stands in the default project’s and not yet in the tenant’s.
      if (++lists < bundle.sandbox.world.projects.size) return
      clock.advance(1_000)
      boot()
      assert.equal((await ended(bundle, run)).status, 'completed')
    })
    await syncProjects(ctx, newId(), jobPart())
    const { tenant_id, project_id } = await rowOf(bundle, 'droplet', dropletId)
    assert.equal(tenant_id, 'acme')
    // What is listed after the move counts: an operator’s move at the provider is followed.
    const { sandbox } = bundle
    const [home] = [...sandbox.world.projects].filter(project => project.is_default)
    const urn = `do:droplet:${dropletId}`
    for (const held of sandbox.world.projectResources.values()) held.remove(urn)
    sandbox.world.projectResources
      .get(home!.id)!
      .insert({ urn, assigned_at: '', links: { self: '' }, status: 'ok' })
    await sweepProjects(bundle)
    const moved = await rowOf(bundle, 'droplet', dropletId)
    assert.notEqual(moved.project_id, project_id)
    assert.equal((await call('GET', `/api/v1/inventory/${moved.id}`)).body.data.tenant_id, 'platform')
  },
)
