// Races of provisioning: on PostgreSQL, round after round, with real requests, the real queue and the simulated provider.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsPostgres } from '../support/engine.ts'
import { deployment, plan } from '../support/factories.ts'
import { dropletsWith, IMAGE, provision, SIZE } from '../support/provisioning.ts'
import { ended } from '../support/sagas.ts'
import { setup } from '../support/setup.ts'

const ROUNDS = 60
/** Rounds that run side by side: the worker takes eight runs at a time. */
const TOGETHER = 4
const order = { size: SIZE, image: IMAGE }

async function rounds(count: number, round: (number: number) => Promise<void>): Promise<void> {
  for (let done = 0; done < count; done += TOGETHER)
    await Promise.all(Array.from({ length: Math.min(TOGETHER, count - done) }, (_, n) => round(done + n)))
}

test(
  'of two runs for the last place of a plan one gets it, and the other is refused before it creates anything',
  needsPostgres,
  async t => {
    const bundle = await setup(t, { worker: true, provider: {} })
    const plan_code = await plan(bundle, {
      items: [{ resource_kind: 'droplet', included_qty: 1, hard_cap_qty: 1 }],
    })
    await rounds(ROUNDS, async round => {
      const { id } = await deployment(bundle)
      await bundle.call('POST', `/api/v1/deployments/${id}/subscribe`, { body: { plan_code } })
      const started = await Promise.all(['a', 'b'].map(name => provision(bundle, id, { name })))
      const runs = await Promise.all(started.map(run => ended(bundle, run)))
      assert.deepEqual(
        runs.map(({ status }) => status).sort(),
        ['completed', 'rolled_back'],
        `round ${round}`,
      )
      const refused = runs.find(({ status }) => status === 'rolled_back')
      assert.match(refused!.error!.reason, /the plan allows 1 of droplet/)
      assert.equal(dropletsWith(bundle, `deployment:${id}`).length, 1)
      assert.equal(dropletsWith(bundle, `saga:${refused!.id}`).length, 0)
    })
    assert.equal(bundle.sandbox.world.ordered.length, ROUNDS)
  },
)

test(
  'of a provisioning and a deprovisioning at the same moment one begins, and the other is told',
  needsPostgres,
  async t => {
    // Nobody works: what begins stays under way.
    const bundle = await setup(t, { provider: {} })
    const firsts = { provision: 0, deprovision: 0 }
    await rounds(ROUNDS * 2, async round => {
      const { id } = await deployment(bundle)
      const path = `/api/v1/deployments/${id}`
      const [one, other] = await Promise.all([
        bundle.call('POST', `${path}/provision`, { body: order }),
        bundle.call('POST', `${path}/deprovision`),
      ])
      assert.deepEqual(
        [one.status, other.status].sort(),
        [202, 409],
        `round ${round}: ${one.text} ${other.text}`,
      )
      const code = one.status === 409 ? 'deprovisioning_under_way' : 'provisioning_under_way'
      assert.equal((one.status === 409 ? one : other).body.code, code)
      firsts[one.status === 202 ? 'provision' : 'deprovision']++
    })
    assert.equal(firsts.provision + firsts.deprovision, ROUNDS * 2)
  },
)

test(
  'two first runs of a tenant end with one project, and of one name asked for five times there is one run',
  needsPostgres,
  async t => {
    const bundle = await setup(t, { worker: true, provider: {} })
    const { sandbox, call } = bundle
    await rounds(20, async round => {
      const tenant = `tenant-${round}`
      const [a, b] = [await deployment(bundle, tenant), await deployment(bundle, tenant)]
      const asked = [1, 2, 3, 4, 5].map(() => provision(bundle, a.id, { name: 'web' }))
      const started = await Promise.all([...asked, provision(bundle, b.id)])
      assert.equal(new Set(started.slice(0, 5).map(run => run.id)).size, 1)
      for (const run of [started[0]!, started[5]!]) {
        const { status, error } = await ended(bundle, run)
        assert.equal(status, 'completed', error?.reason)
      }
      const named = [...sandbox.world.projects].filter(({ name }) => name === `tenant ${tenant}`)
      const { body } = await call('GET', `/api/v1/projects?tenant_id=${tenant}`)
      assert.deepEqual([named.length, body.data.length], [1, 1], `round ${round}`)
      assert.equal(sandbox.world.projectResources.get(named[0]!.id)?.size, 2)
    })
  },
)
