// The specification's own examples as a provider that serves them as they stand, and what of each kind must land in the
// inventory.
import type { Kind, RawItem } from '../../src/integrations/digitalocean/index.ts'
import { fixture, type Script } from '../integrations/scripted-provider.ts'

/** Where each listing is asked for, the example that answers it, and the key of its list. */
const listings: Record<string, [example: string, key: string]> = {
  '/v2/droplets': ['droplets.list', 'droplets'],
  '/v2/droplets?type=gpus': ['droplets.list.gpu-droplets', 'droplets'],
  '/v2/volumes': ['volumes.list', 'volumes'],
  '/v2/snapshots': ['snapshots.list', 'snapshots'],
  '/v2/images?private=true': ['images.list.custom', 'images'],
  '/v2/load_balancers': ['load_balancers.list', 'load_balancers'],
  '/v2/reserved_ips': ['reserved_ips.list', 'reserved_ips'],
  '/v2/reserved_ipv6': ['reserved_ipv6.list', 'reserved_ipv6s'],
  '/v2/firewalls': ['firewalls.list', 'firewalls'],
  '/v2/vpcs': ['vpcs.list', 'vpcs'],
  '/v2/domains': ['domains.list', 'domains'],
  '/v2/account/keys': ['ssh_keys.list', 'ssh_keys'],
  '/v2/databases': ['databases.list', 'databases'],
  '/v2/kubernetes/clusters': ['kubernetes_clusters.list', 'kubernetes_clusters'],
  '/v2/apps': ['apps.list', 'apps'],
  '/v2/registries': ['registries.list', 'registries'],
  '/v2/projects': ['projects.list', 'projects'],
}
const UNPAGED = ['/v2/databases', '/v2/registries']

/** Some examples state another total than they show, or a next page: each is served as the one page it is. */
export const officialExamples: Script = ({ path, query }) => {
  if (path === '/v2/projects/default') return { body: fixture('projects.get_default') }
  const onePage = (key: string, items: unknown[]) =>
    UNPAGED.includes(path) ? { [key]: items } : { [key]: items, links: {}, meta: { total: items.length } }
  const project = /^\/v2\/projects\/([^/]+)\/resources$/.exec(path)
  if (project) {
    const { resources } = fixture('projects.resources.list') as { resources: RawItem[] }
    const held = project[1] === HOLDING_PROJECT ? resources : []
    return { body: onePage('resources', held) }
  }
  query.delete('page')
  query.delete('per_page')
  const [example, key] = listings[query.size > 0 ? `${path}?${query}` : path] ?? []
  if (!example || !key) return { status: 404, body: fixture('error.404') }
  const items = fixture(example)[key] as RawItem[]
  return { body: onePage(key, items) }
}
const HOLDING_PROJECT = (fixture('projects.list').projects as { id: string }[])[0]!.id

type Landed = [
  provider_id: string,
  name: string,
  region: string | null,
  status: string | null,
  attrs: Record<string, unknown>,
]

/** Every row there must be, with some of the attributes that make its kind what it is. */
export const expectedRows: Record<Kind, Landed[]> = {
  droplet: [
    [
      '3164444',
      'example.com',
      'nyc3',
      'active',
      { memory: 1024, vcpus: 1, disk: 25, size_slug: 's-1vcpu-1gb', backup_ids: [53893572] },
    ],
    ['3164412', 'stage.example.com', 'nyc3', 'active', { memory: 1024, disk: 25 }],
    ['3164459', 'assets.example.com', 'nyc3', 'active', { memory: 1024, disk: 25 }],
    [
      '448543583',
      'ml-ai-ubuntu-gpu-h100x1-80gb-tor1',
      'tor1',
      'active',
      { memory: 245760, vcpus: 20, size_slug: 'gpu-h100x1-80gb' },
    ],
  ],
  volume: [
    ['506f78a4-e098-11e5-ad9f-000f53305eb2', 'example', 'nyc3', null, { size_gigabytes: 10 }],
    [
      '506f78a4-e098-11e5-ad9f-000f53306ae1',
      'example',
      'nyc1',
      null,
      { size_gigabytes: 10, filesystem_type: 'ext4' },
    ],
  ],
  snapshot: [
    ['6372321', 'web-01-1595954862243', null, null, { regions: ['nyc3', 'sfo3'], resource_type: 'droplet' }],
    [
      'fbe805e8-866b-11e6-96bf-000f53315a41',
      'pvc-01-1595954862243',
      'nyc1',
      null,
      { resource_type: 'volume' },
    ],
  ],
  image: [
    [
      '7555621',
      'A custom image',
      'nyc3',
      'available',
      { distribution: 'Arch Linux', type: 'custom', size_gigabytes: 2.34 },
    ],
  ],
  load_balancer: [
    [
      '4de7ac8b-495b-4884-9a69-1050c6793cd6',
      'example-lb-01',
      'nyc3',
      'new',
      { ip: '104.131.186.241', droplet_ids: [3164444, 3164445] },
    ],
    ['56775c3f-04ab-4fb3-a7ed-40ef9bc8eece', 'prod-web-lb-01', 'nyc3', 'active', { ip: '45.55.125.24' }],
  ],
  reserved_ip: [
    ['45.55.96.47', '45.55.96.47', 'nyc3', null, { droplet: null, locked: false }],
    ['fd53:616d:6d60::dc9:c001', 'fd53:616d:6d60::dc9:c001', 'nyc3', null, {}],
    ['fd53:616d:6d60::dc9:c002', 'fd53:616d:6d60::dc9:c002', 'nyc1', null, {}],
  ],
  firewall: [
    ['fb6045f1-cf1d-4ca3-bfac-18832663025b', 'firewall', null, 'succeeded', { droplet_ids: [8043964] }],
  ],
  vpc: [
    [
      '5a4981aa-9653-4bd1-bef5-d6bff52042e4',
      'env.prod-vpc',
      'nyc1',
      null,
      { ip_range: '10.10.10.0/24', default: false },
    ],
    ['d455e75d-4858-4eec-8c95-da2f0a5f93a7', 'default-nyc3', 'nyc3', null, { ip_range: '10.100.0.0/20' }],
    ['e0fe0f4d-596a-465e-a902-571ce57b79fa', 'default-nyc1', 'nyc1', null, { ip_range: '10.102.0.0/20' }],
  ],
  domain: [['example.com', 'example.com', null, null, { ttl: 1800 }]],
  ssh_key: [
    [
      '289794',
      'Other Public Key',
      null,
      null,
      { fingerprint: '3b:16:e4:bf:8b:00:8b:b8:59:8c:a9:d3:f0:19:fa:45' },
    ],
  ],
  database: [
    [
      '9cc10173-e9ea-4176-9dbc-a4cee4c4ff30',
      'backend',
      'nyc3',
      'online',
      { engine: 'pg', version: '10', users: [{ name: 'doadmin', role: 'primary' }] },
    ],
  ],
  kubernetes_cluster: [
    [
      'bd5f5959-5e1e-4205-a714-a914373942af',
      'prod-cluster-01',
      'nyc1',
      'provisioning',
      { version: '1.18.6-do.0' },
    ],
  ],
  app: [['4f6c71e2-1e90-4762-9fee-6cc4a0a9f2cf', 'sample-php', 'fra', null, { tier_slug: 'basic' }]],
  registry: [['example', 'example', 'fra1', null, {}]],
}
