import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Kind, mapItem, type RawItem } from '../../src/integrations/digitalocean/index.ts'
import { example as item } from './scripted-provider.ts'

interface Expected {
  from: RawItem
  id: string
  name: string
  region: string | null
  status: string | null
  tags: string[] | undefined
  urn: string | null
  /** Exactly these attributes, values as given. */
  attrs: Record<string, unknown>
}

const expected: Record<Exclude<Kind, 'kubernetes_cluster' | 'app'>, Expected> = {
  droplet: {
    from: item('droplets.list', 'droplets'),
    id: '3164444',
    name: 'example.com',
    region: 'nyc3',
    status: 'active',
    tags: ['env:prod', 'web'],
    urn: 'do:droplet:3164444',
    attrs: {
      backup_ids: [53893572],
      created_at: '2020-07-21T18:37:44Z',
      disk: 25,
      disk_info: [{ size: { amount: 25, unit: 'gib' }, type: 'local' }],
      features: ['backups', 'ipv6', 'private_networking'],
      image: { distribution: 'Ubuntu', id: 63663980, name: '20.04 (LTS) x64', slug: 'ubuntu-20-04-x64' },
      kernel: null,
      locked: false,
      memory: 1024,
      networks: {
        v4: [
          {
            gateway: '192.241.165.1',
            ip_address: '192.241.165.154',
            netmask: '255.255.255.0',
            type: 'public',
          },
          { gateway: 'nil', ip_address: '10.128.192.124', netmask: '255.255.0.0', type: 'private' },
        ],
        v6: [
          {
            gateway: '2604:a880:0:1010::1',
            ip_address: '2604:a880:0:1010::18a:a001',
            netmask: 64,
            type: 'public',
          },
        ],
      },
      size_slug: 's-1vcpu-1gb',
      snapshot_ids: [67512819],
      vcpus: 1,
      volume_ids: [],
      vpc_uuid: '760e09ef-dc84-11e8-981e-3cfdfeaae000',
    },
  },
  volume: {
    from: item('volumes.list', 'volumes'),
    id: '506f78a4-e098-11e5-ad9f-000f53306ae1',
    name: 'example',
    region: 'nyc1',
    status: null,
    tags: ['aninterestingtag'],
    urn: 'do:volume:506f78a4-e098-11e5-ad9f-000f53306ae1',
    attrs: {
      created_at: '2016-03-02T17:00:49Z',
      description: 'Block store for examples',
      droplet_ids: [],
      filesystem_label: 'example',
      filesystem_type: 'ext4',
      size_gigabytes: 10,
    },
  },
  snapshot: {
    from: item('snapshots.list', 'snapshots'),
    id: '6372321',
    name: 'web-01-1595954862243',
    region: null,
    status: null,
    tags: ['env:prod', 'web'],
    urn: null,
    attrs: {
      created_at: '2020-07-28T16:47:44Z',
      min_disk_size: 25,
      regions: ['nyc3', 'sfo3'],
      resource_id: '200776916',
      resource_type: 'droplet',
      size_gigabytes: 2.34,
    },
  },
  image: {
    from: item('images.list.custom', 'images'),
    id: '7555621',
    name: 'A custom image',
    region: 'nyc3',
    status: 'available',
    tags: [],
    urn: null,
    attrs: {
      created_at: '2014-11-04T22:23:02Z',
      description: '',
      distribution: 'Arch Linux',
      error_message: '',
      min_disk_size: 20,
      public: false,
      regions: ['nyc3'],
      size_gigabytes: 2.34,
      slug: null,
      type: 'custom',
    },
  },
  load_balancer: {
    from: item('load_balancers.list', 'load_balancers'),
    id: '4de7ac8b-495b-4884-9a69-1050c6793cd6',
    name: 'example-lb-01',
    region: 'nyc3',
    status: 'new',
    tags: undefined,
    urn: 'do:loadbalancer:4de7ac8b-495b-4884-9a69-1050c6793cd6',
    attrs: {
      algorithm: 'round_robin',
      created_at: '2017-02-01T22:22:58Z',
      disable_lets_encrypt_dns_records: false,
      droplet_ids: [3164444, 3164445],
      enable_backend_keepalive: false,
      enable_proxy_protocol: false,
      firewall: { allow: ['cidr:2.3.4.0/24', 'ip:1.2.3.4'], deny: ['cidr:1.2.0.0/16', 'ip:2.3.4.5'] },
      forwarding_rules: [
        {
          certificate_id: '',
          entry_port: 443,
          entry_protocol: 'https',
          target_port: 443,
          target_protocol: 'https',
          tls_passthrough: true,
        },
        {
          certificate_id: '',
          entry_port: 80,
          entry_protocol: 'http',
          target_port: 80,
          target_protocol: 'http',
          tls_passthrough: false,
        },
      ],
      health_check: {
        check_interval_seconds: 10,
        healthy_threshold: 5,
        path: '/',
        port: 80,
        protocol: 'http',
        response_timeout_seconds: 5,
        unhealthy_threshold: 3,
      },
      ip: '104.131.186.241',
      redirect_http_to_https: false,
      size: 'lb-small',
      sticky_sessions: { type: 'none' },
      tag: '',
      vpc_uuid: 'c33931f2-a26a-4e61-b85c-4e95a2ec431b',
    },
  },
  reserved_ip: {
    from: item('reserved_ips.list', 'reserved_ips'),
    id: '45.55.96.47',
    name: '45.55.96.47',
    region: 'nyc3',
    status: null,
    tags: undefined,
    urn: 'do:floatingip:45.55.96.47',
    attrs: { droplet: null, locked: false, project_id: '746c6152-2fa2-11ed-92d3-27aaa54e4988' },
  },
  firewall: {
    from: item('firewalls.list', 'firewalls'),
    id: 'fb6045f1-cf1d-4ca3-bfac-18832663025b',
    name: 'firewall',
    region: null,
    status: 'succeeded',
    tags: [],
    urn: null,
    attrs: {
      created_at: '2017-05-23T21:23:59Z',
      droplet_ids: [8043964],
      inbound_rules: [
        { ports: '22', protocol: 'tcp', sources: { addresses: ['18.0.0.0/8'], tags: ['gateway'] } },
        {
          ports: '80',
          protocol: 'tcp',
          sources: { load_balancer_uids: ['4de7ac8b-495b-4884-9a69-1050c6793cd6'] },
        },
      ],
      outbound_rules: [{ destinations: { addresses: ['0.0.0.0/0', '::/0'] }, ports: '80', protocol: 'tcp' }],
    },
  },
  vpc: {
    from: item('vpcs.list', 'vpcs'),
    id: '5a4981aa-9653-4bd1-bef5-d6bff52042e4',
    name: 'env.prod-vpc',
    region: 'nyc1',
    status: null,
    tags: undefined,
    urn: 'do:vpc:5a4981aa-9653-4bd1-bef5-d6bff52042e4',
    attrs: {
      created_at: '2020-03-13T19:20:47.442049222Z',
      default: false,
      description: 'VPC for production environment',
      ip_range: '10.10.10.0/24',
    },
  },
  domain: {
    from: item('domains.list', 'domains'),
    id: 'example.com',
    name: 'example.com',
    region: null,
    status: null,
    tags: undefined,
    urn: 'do:domain:example.com',
    attrs: { ttl: 1800 },
  },
  ssh_key: {
    from: item('ssh_keys.list', 'ssh_keys'),
    id: '289794',
    name: 'Other Public Key',
    region: null,
    status: null,
    tags: undefined,
    urn: null,
    attrs: {
      fingerprint: '3b:16:e4:bf:8b:00:8b:b8:59:8c:a9:d3:f0:19:fa:45',
      public_key: item('ssh_keys.list', 'ssh_keys').public_key,
    },
  },
  database: {
    from: item('databases.list', 'databases'),
    id: '9cc10173-e9ea-4176-9dbc-a4cee4c4ff30',
    name: 'backend',
    region: 'nyc3',
    status: 'online',
    tags: ['production'],
    urn: 'do:dbaas:9cc10173-e9ea-4176-9dbc-a4cee4c4ff30',
    attrs: {
      created_at: '2019-01-11T18:37:36Z',
      db_names: ['defaultdb'],
      engine: 'pg',
      maintenance_window: { day: 'saturday', hour: '08:45:12' },
      num_nodes: 1,
      private_network_uuid: 'd455e75d-4858-4eec-8c95-da2f0a5f93a7',
      size: 'db-s-2vcpu-4gb',
      storage_size_mib: 61440,
      users: [{ name: 'doadmin', role: 'primary' }],
      version: '10',
      version_end_of_availability: '2023-05-09T00:00:00Z',
      version_end_of_life: '2023-11-09T00:00:00Z',
    },
  },
  registry: {
    from: item('registries.list', 'registries'),
    id: 'example',
    name: 'example',
    region: 'fra1',
    status: null,
    tags: undefined,
    urn: null,
    attrs: {
      created_at: '2020-03-21T16:02:37Z',
      subscription: { created_at: '2020-01-23T21:19:12Z', tier: { slug: 'basic' } },
    },
  },
}

for (const [kind, { from, id, tags, ...rest }] of Object.entries(expected) as [Kind, Expected][]) {
  test(`a ${kind} of the official example maps to exactly what is stored`, () => {
    const mapped = mapItem(kind, from)
    assert.deepEqual(mapped, { kind, provider_id: id, ...(tags ? { tags } : {}), ...rest })
    assert.equal(Object.hasOwn(mapped, 'tags'), tags !== undefined)
  })
}
