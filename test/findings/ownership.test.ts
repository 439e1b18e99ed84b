// Whose resources are: a labelled account with what is to be found, and beside each something that only looks like it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CHECKS } from '../../src/features/findings/checks/index.ts'
import { recordGone } from '../../src/features/inventory/index.ts'
import { replaceMembers, upsertProjects } from '../../src/features/inventory/project-store.ts'
import { beginLook, markFresh, startRun } from '../../src/features/inventory/sync-run-store.ts'
import type { Kind } from '../../src/integrations/digitalocean/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { deployment, move } from '../support/factories.ts'
import { type Finding, find, findingsOf } from '../support/findings.ts'
import { lasting } from '../support/lasting.ts'
import { deprovision, provision } from '../support/provisioning.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { haveProject, rowOf, see, sightingOf } from '../support/sweep.ts'

type Project = 'p-acme' | 'p-globex' | 'p-loose' | 'p-internal'
interface Planted {
  kind: Kind
  project: Project | null
  tags?: string[]
  attrs?: Record<string, unknown>
}

const [CLUSTER, LONELY] = [newId(), newId()]
const GIB = { size_gigabytes: 100 }
const CANCELLED_AT = '2026-11-15T13:00:00.000Z'
const TIE = 'deployment:'

/** By name: what there is, in which project, with which tags and attributes. */
const accountOf = (ids: Deployments): Record<string, Planted> => ({
  // Tied, or nothing to be tied.
  'volume tied': { kind: 'volume', project: 'p-acme', tags: [TIE + ids.living], attrs: GIB },
  'volume tied in capitals': { kind: 'volume', project: 'p-acme', tags: [TIE + ids.living.toUpperCase()] },
  'volume tied twice': {
    kind: 'volume',
    project: 'p-acme',
    tags: [TIE + ids.living, TIE + ids.living.toUpperCase()],
  },
  'volume untied': { kind: 'volume', project: 'p-acme', attrs: GIB },
  'volume with a word for a tie': { kind: 'volume', project: 'p-acme', tags: [`Deployment:${ids.living}`] },
  'volume of the platform': { kind: 'volume', project: 'p-internal', attrs: GIB },
  'volume gone': { kind: 'volume', project: 'p-acme' },
  '192.0.2.1': { kind: 'reserved_ip', project: 'p-acme', attrs: { ip: '192.0.2.1', droplet: null } },
  '192.0.2.2': { kind: 'reserved_ip', project: 'p-acme', attrs: { ip: '192.0.2.2', droplet: { id: 1 } } },
  '2001:db8::1': { kind: 'reserved_ip', project: 'p-acme', attrs: { ip: '2001:db8::1', droplet: null } },
  'example.com': { kind: 'domain', project: 'p-acme' },
  'a network': { kind: 'vpc', project: 'p-acme', attrs: { default: true } },
  // A cluster with a deployment and what it made, and one without.
  [CLUSTER]: { kind: 'kubernetes_cluster', project: 'p-acme', tags: [TIE + ids.living] },
  '501': { kind: 'droplet', project: 'p-acme', tags: ['k8s', `k8s:${CLUSTER}`] },
  'volume of a cluster': { kind: 'volume', project: 'p-acme', tags: [`k8s:${CLUSTER}`] },
  'balancer of a cluster': { kind: 'load_balancer', project: 'p-acme', attrs: { tag: `k8s:${CLUSTER}` } },
  'balancer of nodes': { kind: 'load_balancer', project: 'p-acme', attrs: { droplet_ids: [501] } },
  'balancer of others': {
    kind: 'load_balancer',
    project: 'p-acme',
    attrs: { droplet_ids: [999], size_unit: 2 },
  },
  '502': { kind: 'droplet', project: 'p-globex', tags: [`k8s:${CLUSTER}`] },
  [LONELY]: { kind: 'kubernetes_cluster', project: 'p-globex', attrs: { ha: true } },
  '503': { kind: 'droplet', project: 'p-globex', tags: [`k8s:${LONELY}`] },
  // Deployments that ended.
  'volume of a cancelled one': {
    kind: 'volume',
    project: 'p-acme',
    tags: [TIE + ids.cancelled],
    attrs: { ...GIB, created_at: '2026-03-01T00:00:00Z' },
  },
  'volume of an archived one': { kind: 'volume', project: 'p-acme', tags: [TIE + ids.archived], attrs: GIB },
  '604': { kind: 'droplet', project: 'p-acme', tags: [TIE + ids.leaving] },
  'volume left behind': { kind: 'volume', project: 'p-acme', tags: [TIE + ids.leaving], attrs: GIB },
  'volume of a paused one': { kind: 'volume', project: 'p-acme', tags: [TIE + ids.paused], attrs: GIB },
  // Tags that are wrong, and some that are not.
  'volume of an unknown one': { kind: 'volume', project: 'p-acme', tags: [TIE + newId()], attrs: GIB },
  'snapshot with a malformed tie': { kind: 'snapshot', project: null, tags: [`${TIE}production`] },
  'snapshot with a tie': { kind: 'snapshot', project: null, tags: [TIE + ids.foreign] },
  'volume of two': { kind: 'volume', project: 'p-acme', tags: [TIE + ids.living, TIE + ids.paused] },
  'volume of another’s': { kind: 'volume', project: 'p-acme', tags: [TIE + ids.foreign], attrs: GIB },
  'a firewall for many': {
    kind: 'firewall',
    project: null,
    tags: [TIE + ids.living, TIE + ids.foreign, TIE + newId()],
  },
  '601': { kind: 'droplet', project: 'p-internal', tags: [TIE + ids.living] },
  '602': { kind: 'droplet', project: 'p-internal', tags: [TIE + ids.living, `saga:${ids.saga}`] },
  '603': { kind: 'droplet', project: 'p-acme', tags: [`saga:${ids.saga}`] },
  // Tied by an operator's word.
  'database assigned': { kind: 'database', project: 'p-acme' },
  'database tagged': { kind: 'database', project: 'p-acme', tags: [TIE + ids.living] },
  'balancer assigned': { kind: 'load_balancer', project: 'p-acme' },
  // Nobody's.
  'volume in a project of nobody’s': { kind: 'volume', project: 'p-loose', attrs: GIB },
  'volume in no project': { kind: 'volume', project: null, attrs: GIB },
  'image in no project': { kind: 'image', project: null },
  // What the provider would never say.
  'balancer of nonsense': {
    kind: 'load_balancer',
    project: 'p-globex',
    tags: ['deployment:'],
    attrs: { droplet_ids: { a: [501] }, tag: 5, size_unit: 'two', created_at: 'soon' },
  },
  '192.0.2.3': { kind: 'reserved_ip', project: 'p-globex', attrs: { droplet: 'none', created_at: 7 } },
})

interface Deployments {
  living: string
  paused: string
  cancelled: string
  archived: string
  leaving: string
  foreign: string
  saga: string
}

async function deployments(bundle: Bundle): Promise<Deployments> {
  const made = async (tenant = 'acme') => (await deployment(bundle, tenant)).id as string
  const ids = {
    living: await made(),
    paused: await made(),
    cancelled: await made(),
    archived: await made(),
    leaving: await made(),
    foreign: await made('globex'),
  }
  const { id: saga } = await provision(bundle, ids.living)
  await move(bundle, ids.paused, 'paused')
  bundle.clock.set(CANCELLED_AT)
  for (const id of [ids.cancelled, ids.archived, ids.leaving]) await move(bundle, id, 'cancelled')
  await move(bundle, ids.archived, 'archived')
  await deprovision(bundle, ids.leaving)
  return { ...ids, saga }
}

async function haveAccount(bundle: Bundle): Promise<Deployments> {
  const ids = await deployments(bundle)
  const account = Object.entries(accountOf(ids))
  const held = (project: Project) =>
    account
      .filter(([, one]) => one.project === project)
      .map(([name, one]): [Kind, string] => [one.kind, name])
  await haveProject(bundle, 'p-acme', 'acme', held('p-acme'))
  await haveProject(bundle, 'p-globex', 'globex', held('p-globex'))
  await haveProject(bundle, 'p-loose', null, held('p-loose'))
  await haveInternalProject(bundle, held('p-internal'))
  for (const [kind, of] of Map.groupBy(account, ([, one]) => one.kind))
    await see(
      bundle,
      kind,
      of.map(([name, { tags = [], attrs = {} }]) => ({ provider_id: name, name, tags, attrs })),
    )
  for (const [kind, name] of [
    ['database', 'database assigned'],
    ['load_balancer', 'balancer assigned'],
  ] as const) {
    const { id } = await rowOf(bundle, kind, name)
    const body = { deployment_id: ids.living }
    assert.equal((await bundle.call('PATCH', `/api/v1/inventory/${id}`, { body })).status, 200)
  }
  await recordGone(bundle.ctx.db, await sightingOf(bundle, 'volume'), { providerIds: ['volume gone'] })
  await readProjects(bundle)
  await see(bundle, 'volume', [{ provider_id: 'volume found since', attrs: GIB }])
  return ids
}

/** The provider's default one, which is the platform's. */
async function haveInternalProject({ ctx, clock }: Bundle, holds: [Kind, string][]): Promise<void> {
  const look = await beginLook(ctx.db, clock)
  const project = { provider_id: 'p-internal', name: 'p-internal', description: null, is_default: true }
  await upsertProjects(ctx.db, [project], look, 'platform')
  const members = holds.map(([kind, provider_id]) => ({ kind, provider_id }))
  await replaceMembers(ctx.db, 'p-internal', members, { whole: true, asked: look })
}

/** All projects' lists are read, whole. */
async function readProjects({ ctx, clock }: Bundle): Promise<void> {
  const started_at = clock.now().toISOString()
  const run = await startRun(ctx.db, { id: newId(), sweep_id: newId(), kind: 'project', started_at })
  await markFresh(ctx.db, run!)
}

const OWNERSHIP = CHECKS.filter(({ category }) => category === 'ownership').map(({ name }) => name)

describe('whose resources are', () => {
  const owner = lasting({ after })
  let bundle: Bundle
  let ids: Deployments
  let found: Finding[]
  before(async () => {
    // Nobody works: the runs of the sagas stay under way.
    bundle = await setup(owner, { provider: {} })
    ids = await haveAccount(bundle)
    await find(bundle, ...OWNERSHIP)
    found = await findingsOf(bundle, '&category=ownership')
  })

  /** Name and money of all that the check has found, by name. */
  const of = (check: string) =>
    found
      .filter(one => one.check === check)
      .map(one => [one.resource!.name, one.monthly_cost])
      .sort()
  const one = (check: string, name: string) =>
    found.find(({ check: its, resource }) => its === check && resource?.name === name)!

  test('what is in a tenant’s project and belongs to no deployment is found with its price, but not what a cluster of a deployment has made', () => {
    assert.deepEqual(
      of('resource_without_deployment'),
      [
        [LONELY, '40.00'],
        ['192.0.2.1', '5.00'],
        ['192.0.2.3', '5.00'],
        ['502', '0.00'],
        ['503', '0.00'],
        ['balancer of nonsense', '0.00'],
        ['balancer of others', '24.00'],
        ['volume of an unknown one', '10.00'],
        ['volume of another’s', '10.00'],
        ['volume of two', '0.00'],
        ['volume untied', '10.00'],
        ['volume with a word for a tie', '0.00'],
      ].sort(),
    )
    const { evidence, tenant_id, deployment_id } = one('resource_without_deployment', 'volume untied')
    assert.deepEqual(
      [(evidence as { project: string }).project, tenant_id, deployment_id],
      ['p-acme', 'acme', null],
    )
  })

  test('what is left of cancelled and archived deployments is found since they ended, but not while it is taken down', () => {
    assert.deepEqual(of('resource_of_ended_deployment'), [
      ['volume left behind', '10.00'],
      ['volume of a cancelled one', '10.00'],
      ['volume of an archived one', '10.00'],
    ])
    const { since, evidence, deployment_id } = one(
      'resource_of_ended_deployment',
      'volume of a cancelled one',
    )
    assert.deepEqual([since, (evidence as { state: string }).state], [CANCELLED_AT, 'cancelled'])
    assert.equal(deployment_id, ids.cancelled)
  })

  test('tags that name no deployment, no id or several are found with the reason; a firewall’s are not its own', () => {
    assert.deepEqual(of('deployment_tag_unknown'), [
      ['snapshot with a malformed tie', '0.00'],
      ['volume of an unknown one', '0.00'],
      ['volume of two', '0.00'],
    ])
    const reasons = of('deployment_tag_unknown').map(
      ([name]) => (one('deployment_tag_unknown', name!).evidence as { reason: string }).reason,
    )
    assert.deepEqual(reasons, ['malformed', 'unknown', 'several'])
  })

  test('a tag that names another tenant’s deployment is found, and shown to operators alone', async () => {
    assert.deepEqual(of('deployment_tag_of_other_tenant'), [
      ['601', '0.00'],
      ['volume of another’s', '0.00'],
    ])
    assert.deepEqual(one('deployment_tag_of_other_tenant', 'volume of another’s').evidence, {
      tag: TIE + ids.foreign,
      tagged_deployment_id: ids.foreign,
      tagged_tenant_id: 'globex',
    })
    const token = await bundle.tokens.tenant('acme')
    const shown = await findingsOf(bundle, '', token)
    assert.deepEqual([...new Set(shown.map(({ check }) => check))].sort(), [
      'resource_of_ended_deployment',
      'resource_untagged',
      'resource_without_deployment',
    ])
    assert.doesNotMatch(JSON.stringify(shown), new RegExp(`globex|${ids.foreign}`))
  })

  test('what an operator has tied and a tag could is found', () => {
    assert.deepEqual(of('resource_untagged'), [['database assigned', '0.00']])
    assert.deepEqual(one('resource_untagged', 'database assigned').evidence, {
      missing_tag: TIE + ids.living,
    })
  })

  test('what is nobody’s is found once the projects were read', () => {
    assert.deepEqual(of('resource_without_tenant'), [
      ['volume in a project of nobody’s', '0.00'],
      ['volume in no project', '0.00'],
    ])
  })
})
