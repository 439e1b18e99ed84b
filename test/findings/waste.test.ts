// What is paid for and does nothing, in a labelled account: everything planted is found with what it costs, and nothing else.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { recordGone, sizeSync } from '../../src/features/inventory/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { addon, deployment, plan } from '../support/factories.ts'
import { type Finding, find, findingsOf } from '../support/findings.ts'
import { lasting } from '../support/lasting.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { jobPart, see, sightingOf, sweepOne, sweepProjects } from '../support/sweep.ts'
import { ago, NOW, ON_THE_LIMIT, PLANTED } from './planted-waste.ts'
import { DAYS, emptyAccount, plant, type Ties } from './wasteful-account.ts'

const HOUR = 3_600_000
const earlier = (at: string, ms: number) => new Date(Date.parse(at) - ms).toISOString()

const SENTENCES: Record<string, string> = {
  volume_unattached: 'a volume is found that no droplet has; not one of a droplet in another project',
  reserved_ip_unassigned: 'an IPv4 address is found that no droplet has; one of IPv6 is free',
  droplet_off:
    'a droplet is found that was off for three days without a break, and is not gone or being made',
  snapshot_old: 'a snapshot is found that is ninety days old and whose source is there',
  snapshot_orphaned: 'a snapshot is found whose source is gone; not while it is only missing, nor one in use',
  image_old: 'a custom image is found that is half a year old and that no droplet was made from',
  load_balancer_without_backend: 'a load balancer is found whose droplets are off or gone, by id and by tag',
  kubernetes_cluster_without_nodes:
    'a cluster is found whose pools are empty and that no droplet is a node of',
  size_above_plan:
    'a droplet is found that costs more than its deployment’s subscription, by what it costs more',
  resources_above_plan: 'the newest resources beyond a plan are found where nobody pays for more',
}

/** The four deployments, with their plans, and a run that is under way. */
async function haveTies(bundle: Bundle): Promise<Ties> {
  const { call, ctx, clock } = bundle
  const subscribed = async (price: number, items: object[], addons: object[] = []) => {
    const plan_code = await plan(bundle, { price, items })
    const { id } = await deployment(bundle, 'acme')
    const body = { plan_code, addons }
    const { status, text } = await call('POST', `/api/v1/deployments/${id}/subscribe`, { body })
    assert.equal(status, 201, text)
    return id as string
  }
  const two = [
    { resource_kind: 'droplet', included_qty: 2 },
    { resource_kind: 'volume', included_qty: 1, hard_cap_qty: 1 },
  ]
  const byTheHour = [
    { resource_kind: 'droplet', overage_unit: 'hour', overage_price_cents: 5 },
    { resource_kind: 'volume', overage_unit: 'month', overage_price_cents: 500 },
    { resource_kind: 'kubernetes_cluster' },
  ]
  const price = { resource_kind: 'kubernetes_cluster', unit: 'month', price_cents: 5_000, currency: 'USD' }
  const priced = await call('POST', '/api/v1/catalog/resource-prices', {
    body: { ...price, effective_from: '2026-11-01' },
  })
  assert.equal(priced.status, 201, priced.text)
  const oneMore = await addon(bundle, { resource_kind: 'droplet', qty: 1, price_cents: 1_000 })
  const sagaUnderWay = newId()
  const at = clock.now().toISOString()
  await sql`
    insert into saga_runs (id, kind, status, step_modules, inputs, business_key, actor, job_id, heartbeat_at, created_at)
    values (${sagaUnderWay}, 'test', 'running', '{}', '{}', ${sagaUnderWay}, 'test', ${newId()}, ${at}, ${at})`.execute(
    ctx.db,
  )
  return {
    fixed: await subscribed(4_800, two),
    metered: await subscribed(1_000, byTheHour),
    free: await subscribed(0, []),
    raised: await subscribed(4_800, two, [{ code: oneMore, quantity: 2 }]),
    sagaUnderWay,
  }
}

/** Five days of sweeps. */
async function live(bundle: Bundle, ties: Ties): Promise<void> {
  const { sandbox, clock, call, ctx } = bundle
  const droplets = plant(sandbox.world, ties)
  await sweepProjects(bundle)
  const { body } = await call('GET', '/api/v1/projects')
  for (const { id, name, is_default } of body.data)
    if (!is_default)
      await call('PATCH', `/api/v1/projects/${id}`, { body: { tenant_id: name, purpose: 'tenant' } })
  for (const { at, kinds = ['droplet'] as const, happen } of DAYS) {
    happen?.(sandbox.world, name => droplets.get(name)!)
    for (const kind of kinds) {
      clock.set(earlier(at, HOUR))
      assert.equal((await sweepOne(bundle, kind)).status, 'complete', kind)
    }
  }
  await sizeSync(ctx).run({ ...jobPart(), id: 'run', attempt: 1 })
  clock.advance(HOUR)
  // What a provider may also say: nothing at all, or something that is not documented.
  await see(bundle, 'reserved_ip', [
    { provider_id: '198.51.100.4', attrs: {} },
    { provider_id: '198.51.100.5', attrs: { droplet: 'none' } },
  ])
  const of = { resource_type: 'droplet', resource_id: String(droplets.get('web')) }
  await see(bundle, 'snapshot', [
    { provider_id: '691', attrs: {} },
    { provider_id: '692', attrs: { ...of, created_at: 'long ago', size_gigabytes: {} } },
    { provider_id: '693', attrs: { resource_type: ['droplet'], resource_id: { id: 1 }, created_at: 7 } },
  ])
  await see(bundle, 'image', [{ provider_id: '591', attrs: { type: 'custom', created_at: null } }])
  await see(bundle, 'load_balancer', [
    { provider_id: 'silent', attrs: { type: 'REGIONAL' } },
    // Its droplet may be one that the next sweep is the first to see.
    { provider_id: 'of-a-new-droplet', attrs: { droplet_ids: [9_998], tag: '' } },
    { provider_id: 'gone', attrs: { droplet_ids: [] } },
    {
      ...{ provider_id: 'global', name: 'global-to-one-gone' },
      attrs: { type: 'GLOBAL', droplet_ids: [], target_load_balancer_ids: ['gone'] },
    },
  ])
  await recordGone(ctx.db, await sightingOf(bundle, 'load_balancer'), { providerIds: ['gone'] })
  await see(bundle, 'kubernetes_cluster', [
    { provider_id: 'silent', attrs: { node_pools: [{ count: 'none' }] } },
  ])
}

describe('waste in a labelled account', onPostgresAlone, () => {
  const file = lasting({ after })
  let early: Finding[] = []
  let found: Finding[] = []
  let ties: Ties
  before(async () => {
    const bundle = await setup(file, { provider: { seed: emptyAccount() } })
    const { clock } = bundle
    const look = async () => {
      await find(bundle, ...Object.keys(SENTENCES))
      return findingsOf(bundle)
    }
    clock.set(ago(5.2))
    ties = await haveTies(bundle)
    await live(bundle, ties)
    clock.set(earlier(NOW, 1))
    early = await look()
    clock.set(NOW)
    found = await look()
  })

  const labels = (findings: Finding[], check?: string) =>
    findings
      .filter(one => check === undefined || one.check === check)
      .map(one => `${one.check} ${one.resource?.name} ${one.monthly_cost_minor}`)
      .sort()
  const planted = (all: typeof PLANTED, check?: string) =>
    all
      .filter(([its]) => check === undefined || its === check)
      .map(label => label.join(' '))
      .sort()
  const one = (name: string) => found.find(({ resource }) => resource?.name === name)!

  for (const [check, sentence] of Object.entries(SENTENCES))
    test(sentence, () => {
      assert.deepEqual(labels(found, check), planted([...PLANTED, ...ON_THE_LIMIT], check))
    })

  test('nothing else is found, and nothing a millisecond before its policy says', () => {
    assert.deepEqual(labels(found), planted([...PLANTED, ...ON_THE_LIMIT]))
    assert.deepEqual(labels(early), planted(PLANTED))
    assert.deepEqual([...new Set(found.map(({ check }) => check))].sort(), Object.keys(SENTENCES).sort())
  })

  test('since when it is so is told from the history, or from what the provider says', () => {
    const since = (name: string) => one(name).since.replace('.000Z', 'Z')
    assert.deepEqual(
      ['loose', 'off-three-days', 'off-for-long', 'ninety-days', 'half-a-year', 'old'].map(since),
      [ago(40), ago(3), ago(5), ago(0), ago(0), ago(110)],
    )
    assert.deepEqual([since('of-deleted'), since('serves-one-deleted')], [ago(4.7), ago(4.7)])
    assert.equal(since('too-large'), since('second-volume'), 'since the subscription')
  })

  test('the evidence says what is needed to believe it', () => {
    const { subscription_monthly_cents, list_price_monthly, size_slug } = one('too-large').evidence
    assert.deepEqual(
      [subscription_monthly_cents, list_price_monthly, size_slug, one('too-large').deployment_id],
      [4_800, '96', 's-8vcpu-16gb', ties.fixed],
    )
    const { living, allowed, included, addons, cap } = one('second-volume').evidence
    assert.deepEqual([living, allowed, included, addons, cap], [2, 1, 1, 0, 1])
    assert.deepEqual(one('loose').evidence, { size_gigabytes: 100, created_at: ago(40) })
    assert.deepEqual([one('loose').cost_source, one('loose-of-odd-size').cost_source], ['list_price', null])
    assert.equal(one('serves-pool-off').evidence.droplets_off, 1)
  })
})
