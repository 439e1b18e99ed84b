// What is open to everybody, and what has nothing beside it: a labelled account, each find beside something that only looks
// like it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CHECKS } from '../../src/features/findings/checks/index.ts'
import { includesPort } from '../../src/features/findings/firewall-rules.ts'
import { recordGone } from '../../src/features/inventory/index.ts'
import type { Kind } from '../../src/integrations/digitalocean/index.ts'
import { runStatement } from '../../src/kernel/db/statement.ts'
import { isUuid, newId } from '../../src/kernel/ids.ts'
import { type Finding, find, findingsOf } from '../support/findings.ts'
import { lasting } from '../support/lasting.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { haveProject, type Shown, see, sightingOf } from '../support/sweep.ts'

const CLUSTER = newId()
const MADE = '2026-02-03T04:05:06Z'

const PUBLIC = {
  networks: {
    v4: [
      { type: 'private', ip_address: '10.0.0.5' },
      { type: 'public', ip_address: '192.0.2.5' },
    ],
  },
}
const PRIVATE = { networks: { v4: [{ type: 'private', ip_address: '10.0.0.5' }], v6: [] } }

const anywhere = { addresses: ['0.0.0.0/0', '::/0'] }
const tcp = (ports: unknown, sources: unknown = anywhere) => ({ protocol: 'tcp', ports, sources })

/** By the droplet's id: its firewall's rules, and what is found of it. */
const BEHIND: Record<string, [inbound: unknown, found: string[]]> = {
  '201': [[tcp('443')], []],
  '202': [[tcp('22', { addresses: ['192.0.2.0/24', '0.0.0.0/0'] })], ['ssh']],
  '203': [[tcp('22', { addresses: ['::/0'] })], ['ssh']],
  '204': [
    [tcp('22', { addresses: ['192.0.2.0/24', '10.0.0.0/8', '2001:db8::/20'], tags: ['0.0.0.0/0'] })],
    [],
  ],
  '205': [[tcp('2222'), tcp('222'), tcp('122')], []],
  '206': [[tcp('20-30')], ['ssh']],
  '207': [[tcp('1-21'), tcp('23-5431'), tcp('5433-6378'), tcp('6380-65535')], []],
  '208': [
    [tcp('22-22'), tcp('5432-6379')],
    ['postgresql', 'redis', 'ssh'],
  ],
  '209': [[tcp('0')], ['postgresql', 'redis', 'ssh']],
  '210': [[tcp('all')], ['postgresql', 'redis', 'ssh']],
  '211': [
    [
      { ...tcp('0'), protocol: 'udp' },
      { ...tcp('0'), protocol: 'icmp' },
    ],
    [],
  ],
  '212': [[], []],
  '213': [[tcp('100-22'), tcp('22-'), tcp('twenty-two'), tcp(null), tcp('99999999999'), tcp('22,80')], []],
  '214': ['nonsense', []],
  '215': [
    [null, 5, { protocol: ['tcp'] }, tcp('6379', 'everywhere'), tcp({ from: 22 }), tcp(6379)],
    ['redis'],
  ],
}

const POOLS = { ha: true, node_pools: [{ name: 'a', count: 2 }] }

const CHECKED = CHECKS.filter(({ category }) => category === 'security' || category === 'resilience').map(
  ({ name }) => name,
)

describe('what is open, and what stands alone', () => {
  const owner = lasting({ after })
  let bundle: Bundle
  let found: Finding[]

  before(async () => {
    bundle = await setup(owner)
    await haveProject(bundle, 'p-acme', 'acme', [
      ['droplet', '101'],
      ['droplet', '202'],
      ['database', 'db-single'],
      ['load_balancer', 'lb-one'],
      ['load_balancer', 'lb-both-ways'],
    ])
    const seen = new Map<Kind, Shown[]>()
    const put = (kind: Kind, provider_id: string, attrs: object, tags: string[] = [], status = 'active') => {
      const item = { provider_id, name: provider_id, attrs: attrs as Record<string, unknown>, tags, status }
      seen.set(kind, [...(seen.get(kind) ?? []), item])
    }
    const droplet = (id: string, attrs: object = {}, tags: string[] = [], status = 'active') =>
      put('droplet', id, { ...PUBLIC, features: ['backups'], created_at: MADE, ...attrs }, tags, status)
    const firewall = (id: string, attrs: object, tags: string[] = []) =>
      put('firewall', id, { created_at: MADE, droplet_ids: [], inbound_rules: [], ...attrs }, tags)

    // Without a firewall, and not: by tag, or a node.
    droplet('101')
    droplet('102', {}, ['Web'])
    droplet('103', {}, ['web'])
    droplet('104', {}, ['k8s', `k8s:${CLUSTER}`])
    droplet('105', { features: 'backups', networks: 7 }, ['k8s:by-hand'])
    droplet('106', PRIVATE, ['inside'])
    droplet('107', {}, ['other'], 'off')
    firewall('by-tag', {}, ['web', 'other'])
    firewall('nothing', { droplet_ids: 'all', inbound_rules: null })
    firewall('inside', { inbound_rules: [tcp('22')] }, ['inside', `k8s:${CLUSTER}`])

    for (const [id, [inbound_rules]] of Object.entries(BEHIND)) {
      droplet(id)
      firewall(`of-${id}`, {
        droplet_ids: [Number(id)],
        inbound_rules,
        outbound_rules: [{ protocol: 'tcp', ports: '0', destinations: anywhere }],
      })
    }
    // Open by two of its firewalls, one of them by tag and later.
    droplet('301', {}, ['late'])
    firewall('first', { droplet_ids: ['301'], inbound_rules: [tcp('22')] })
    firewall('second', { created_at: '2026-06-01T00:00:00Z', inbound_rules: [tcp('0')] }, ['late'])
    // It was behind one that is gone, and that would have let everybody in.
    droplet('302')
    firewall('gone', { droplet_ids: [302], inbound_rules: [tcp('22')] })

    // Without backups, and not, or nobody knows.
    droplet('401', { features: ['ipv6'] }, ['web'])
    droplet('402', { features: [] }, ['web'])
    droplet('403', { features: null }, ['web'])
    droplet('404', { features: { backups: false } }, ['web'])
    droplet('405', { features: ['ipv6'] }, ['web', `k8s:${CLUSTER}`])

    put('database', 'db-single', { num_nodes: 1, engine: 'pg' })
    put('database', 'cache-single', { num_nodes: 1, engine: 'valkey' })
    put('database', 'db-pair', { num_nodes: 2, engine: 'pg' })
    put('database', 'db-text', { num_nodes: '1', engine: 'pg' })
    put('database', 'db-untold', { engine: 'pg' })

    put('load_balancer', 'lb-one', { droplet_ids: [101], tag: '', target_load_balancer_ids: null })
    put('load_balancer', 'lb-one-of-two', { droplet_ids: [101, 999] })
    put('load_balancer', 'lb-other-off', { droplet_ids: [101, 107] })
    put('load_balancer', 'lb-global', { droplet_ids: [101], target_load_balancer_ids: ['a', 'b'] })
    put('load_balancer', 'lb-two', { droplet_ids: [101, 102] })
    put('load_balancer', 'lb-both-ways', { droplet_ids: [102], tag: 'Web' })
    put('load_balancer', 'lb-tag', { droplet_ids: [], tag: 'web' })
    put('load_balancer', 'lb-none', { droplet_ids: [] })
    put('load_balancer', 'lb-node', { droplet_ids: [104] })
    put('load_balancer', 'lb-nonsense', { droplet_ids: 5, tag: ['Web'] })

    put('kubernetes_cluster', CLUSTER, POOLS)
    put('kubernetes_cluster', 'plain', { ...POOLS, ha: false })
    put('kubernetes_cluster', 'small', {
      ha: true,
      node_pools: [
        { name: 'a', count: 2 },
        { name: 'b', count: 1 },
      ],
    })
    put('kubernetes_cluster', 'nonsense', { ha: 'false', node_pools: { count: '1' } })
    for (const [kind, items] of seen) await see(bundle, kind, items)
    await recordGone(bundle.ctx.db, await sightingOf(bundle, 'firewall'), { providerIds: ['gone'] })
    await find(bundle, ...CHECKED)
    found = await findingsOf(bundle)
  })

  const of = (check: string) =>
    found
      .filter(one => one.check === check)
      .map(one => one.resource!.name)
      .sort()
  const one = (check: string, name: string) =>
    found.find(({ check: its, resource }) => its === check && resource?.name === name)!
  const behind = (what: string) =>
    Object.entries(BEHIND).flatMap(([id, [, finds]]) => (finds.includes(what) ? [id] : []))

  test('droplets that no firewall is for are found, whether it is gone or was never there', () => {
    assert.deepEqual(of('droplet_without_firewall'), ['101', '102', '105', '302'])
    const [never, gone] = ['101', '302'].map(name => one('droplet_without_firewall', name))
    assert.deepEqual(never!.evidence, { public_addresses: ['192.0.2.5'], status: 'active' })
    assert.equal(Date.parse(never!.since), Date.parse(MADE))
    assert.ok(gone!.since > '2026-11-15T12:00:00', gone!.since)
  })

  test('droplets that everybody may reach by SSH are found, with the firewall and its rule', () => {
    assert.deepEqual(of('droplet_open_ssh'), [...behind('ssh'), '301'])
    const { evidence, since, tenant_id, monthly_cost, severity } = one('droplet_open_ssh', '202')
    assert.deepEqual(evidence, {
      port: 22,
      firewall: 'of-202',
      firewall_id: (evidence as { firewall_id: string }).firewall_id,
      ports: '22',
      from: ['0.0.0.0/0'],
      public_addresses: ['192.0.2.5'],
    })
    assert.deepEqual(
      [Date.parse(since), tenant_id, monthly_cost, severity],
      [Date.parse(MADE), 'acme', '0.00', 'medium'],
    )
    const twice = one('droplet_open_ssh', '301')
    assert.equal((twice.evidence as { firewall: string }).firewall, 'first', 'the older of two')
    assert.equal(Date.parse(twice.since), Date.parse(MADE))
  })

  test('droplets that everybody may reach by PostgreSQL or Redis are found, since the firewall lets them', () => {
    assert.deepEqual(of('droplet_open_postgresql'), [...behind('postgresql'), '301'])
    assert.deepEqual(of('droplet_open_redis'), [...behind('redis'), '301'])
    const { since, evidence } = one('droplet_open_redis', '301')
    assert.equal(since, '2026-06-01T00:00:00.000Z')
    assert.equal((evidence as { tag: string }).tag, 'late')
  })

  test('droplets without backups are found, and no nodes of a cluster', () => {
    assert.deepEqual(of('droplet_without_backups'), ['401', '402'])
  })

  test('databases of one node are found, whatever their engine', () => {
    assert.deepEqual(of('database_without_standby'), ['cache-single', 'db-single'])
  })

  test('load balancers with one running droplet are found, and none before the nodes of a cluster', () => {
    assert.deepEqual(of('load_balancer_single_backend'), [
      'lb-both-ways',
      'lb-one',
      'lb-one-of-two',
      'lb-other-off',
    ])
    const [own, others] = ['lb-one', 'lb-both-ways'].map(name => one('load_balancer_single_backend', name))
    const { droplet_id, ...shown } = own!.evidence as { droplet_id: string }
    assert.deepEqual([shown, isUuid(droplet_id)], [{ backends: 1, droplet: '101' }, true])
    assert.deepEqual(others!.evidence, { backends: 1 }, 'a droplet that is not the tenant’s is not named')
  })

  test('clusters without a highly available control plane, or with a pool of one node, are found', () => {
    assert.deepEqual(of('kubernetes_cluster_without_ha'), ['plain'])
    assert.deepEqual(of('kubernetes_pool_single_node'), ['small'])
    assert.deepEqual(one('kubernetes_pool_single_node', 'small').evidence, { pools: ['b'] })
  })

  test('a port is included by itself, by a range up to its ends, and by all of them', async () => {
    const opened = async (...ports: (string | null)[]) => {
      const text = `select coalesce(array_agg(p), '{}') as open from unnest($1::text[]) p where ${includesPort('p', 5432)}`
      const [row] = await runStatement<{ open: string[] }>(bundle.ctx.db, { name: 'ports', text }, [ports])
      return row!.open
    }
    const open = ['5432', '05432', '0', 'all', '5432-5432', '5431-5433', '5432-6000', '1-5432', '0-65535']
    assert.deepEqual(await opened(...open), open)
    const closed = [
      '5431',
      '5433',
      '54320',
      '-5432',
      '5432-',
      '1-5431',
      '5433-6000',
      '6000-5000',
      '',
      'any',
      '5432 ',
      '100000000005432',
      null,
    ]
    assert.deepEqual(await opened(...closed), [])
  })
})
