// Decides what the sandbox holds when nobody says otherwise: a small company with an internal project and
// three tenants, some forty resources, every kind present. The same ids and names at every start.
import {
  type Billing,
  endedPeriods,
  hoursIn,
  type InvoiceLine,
  invoice,
  periodBefore,
  periodBounds,
  totalCents,
} from './billing.ts'
import { namedUuid } from './kinds.ts'
import { buildDomain, buildSshKey, buildVpc } from './network.ts'
import { addCompute, addManaged, addStorage, at, SINCE, since, vpcId } from './small-company-resources.ts'
import { addResource, createWorld, project, type World, type WorldParts } from './world.ts'

/** `startedAt` only moves the invoices: the last two months before it are already billed. */
export function smallCompany(options: { startedAt?: Date } = {}): World {
  const world = createWorld(companyParts(options.startedAt ?? new Date('2026-09-15T12:00:00Z')))
  addNetworks(world)
  addCompute(world)
  addStorage(world)
  addManaged(world)
  return world
}

export function companyParts(startedAt: Date): WorldParts {
  return {
    startedAt,
    account: {
      droplet_limit: 100,
      floating_ip_limit: 20,
      email: 'ops@platform.example',
      name: 'Platform Operations',
      uuid: namedUuid('account').replaceAll('-', ''),
      email_verified: true,
      status: 'active',
      status_message: '',
      team: { uuid: namedUuid('team').replaceAll('-', ''), name: 'Platform' },
    },
    billing: smallCompanyBilling(startedAt),
    projects: [
      project({
        name: 'platform',
        description: 'What runs the company itself',
        purpose: 'Operational / Developer tooling',
        environment: 'Production',
        isDefault: true,
        createdAt: SINCE,
      }),
      ...(['acme', 'globex', 'initech'] as const).map(name =>
        project({
          name,
          description: `Everything that belongs to ${name}`,
          purpose: 'Web Application',
          environment: 'Production',
          createdAt: SINCE,
        }),
      ),
    ],
  }
}

function addNetworks(world: World): void {
  const vpcs: [name: string, region: string, range: string, isDefault: boolean][] = [
    ['default-nyc3', 'nyc3', '10.100.0.0/20', true],
    ['acme-prod', 'nyc3', '10.101.0.0/20', false],
    ['globex-prod', 'fra1', '10.102.0.0/20', false],
    ['initech-prod', 'tor1', '10.103.0.0/20', false],
  ]
  for (const [name, slug, ipRange, isDefault] of vpcs) {
    const vpc = buildVpc({ id: vpcId(name), name, region: slug, ipRange, createdAt: SINCE, isDefault })
    addResource(world, 'vpc', vpc, { now: since })
  }
  addResource(world, 'ssh_key', buildSshKey(512_189, 'ops-laptop'), { now: since })
  addResource(world, 'ssh_key', buildSshKey(512_190, 'ci-runner'), { now: since })
  for (const owner of ['platform', 'acme', 'globex', 'initech'] as const) {
    addResource(world, 'domain', buildDomain(`${owner}.example`, '198.18.9.10'), at(owner))
  }
}

// Decides what the small company is billed: the same list of resources each month, named as the provider
// names them in its CSV (`name (size)`, `name (region) 100GB`), with the rows that trip a careless reader.

type Row = Omit<InvoiceLine, 'cents' | 'hours'> & { monthlyCents: number }

const row = (product: string, description: string, monthlyCents: number, project?: string): Row => ({
  product,
  description,
  monthlyCents,
  category: product === 'App Platform' ? 'paas' : 'iaas',
  ...(project === undefined ? {} : { project }),
})

const rows: Row[] = [
  row('Droplets', 'platform-bastion-01 (s-1vcpu-1gb)', 600, 'platform'),
  row('Droplets', 'platform-monitor-01 (s-2vcpu-4gb)', 2400, 'platform'),
  row('Droplets', 'acme-prod-web-01 (s-2vcpu-4gb)', 2400, 'acme'),
  row('Droplets', 'acme-prod-web-02 (s-2vcpu-4gb)', 2400, 'acme'),
  row('Droplets', 'acme-prod-worker-01 (s-1vcpu-2gb)', 1200, 'acme'),
  row('Droplets', 'globex-prod-api-01 (s-4vcpu-8gb)', 4800, 'globex'),
  row('Droplets', 'globex-staging-api-01 (s-1vcpu-2gb)', 1200, 'globex'),
  row('Droplets', 'initech-prod-app-01 (s-2vcpu-2gb)', 1800, 'initech'),
  row('GPU Droplets', 'initech-train-01 (gpu-h100x1-80gb)', 252_216, 'initech'),
  // Backups carry the droplet's name: they are not the droplet.
  row('Backups', 'acme-prod-web-01 (s-2vcpu-4gb)', 480, 'acme'),
  row('Backups', 'acme-prod-web-02 (s-2vcpu-4gb)', 480, 'acme'),
  row('Volumes', 'platform-metrics (nyc3) 100GB', 1000, 'platform'),
  row('Volumes', 'acme-prod-uploads (nyc3) 250GB', 2500, 'acme'),
  row('Volumes', 'globex-prod-data (fra1) 500GB', 5000, 'globex'),
  row('Volumes', 'initech-models (tor1) 1000GB', 10_000, 'initech'),
  row('Droplet Snapshots', 'globex-prod-api-01-before-upgrade (12.7 GB)', 76),
  row('Volume Snapshots', 'acme-prod-uploads-monthly (61.2 GB)', 367),
  row('Load Balancers', 'acme-prod-lb (lb-small)', 1200, 'acme'),
  row('Load Balancers', 'globex-prod-lb (lb-small)', 1200, 'globex'),
  row('Database Clusters', 'acme-prod-db (db-s-2vcpu-4gb)', 12_180, 'acme'),
  row('Database Clusters', 'globex-prod-cache (db-s-1vcpu-2gb)', 3000, 'globex'),
  row('Database Clusters', 'initech-prod-db (db-s-1vcpu-2gb)', 3000, 'initech'),
  {
    ...row('Kubernetes Clusters', 'globex-prod-k8s (s-2vcpu-4gb)', 7200, 'globex'),
    group: 'globex-prod-k8s',
  },
  row('App Platform', 'acme-landing (apps-s-1vcpu-0.5gb)', 500, 'acme'),
  row('App Platform', 'initech-portal (apps-s-1vcpu-0.5gb)', 500, 'initech'),
  row('Container Registry Subscription', 'platform-images (Basic)', 500),
  row('Floating IPs', 'Unused Floating IP - 198.18.9.22', 500),
  // Gone from the account since: this line has no resource to match.
  row('Droplets', 'acme-old-batch-01 (s-1vcpu-1gb)', 143, 'acme'),
  row('Bandwidth', 'Bandwidth overage, "pooled" transfer', 37),
  row('Credits', 'Service credit for incident, March', -500),
]

const TAX_PERMILLE = 62.5

/** Lines of a month of which `share` has passed. */
function linesOf(hours: number, share: number): InvoiceLine[] {
  const lines = rows.map(({ monthlyCents, ...rest }): InvoiceLine => {
    const timed = !['Bandwidth', 'Credits'].includes(rest.product)
    return {
      ...rest,
      ...(timed ? { hours: Math.floor(hours * share) } : {}),
      cents: Math.round(monthlyCents * share),
    }
  })
  const tax = Math.round((totalCents(lines) * TAX_PERMILLE) / 1000)
  return [
    ...lines,
    { product: 'Taxes', description: 'STATE SALES TAX (6.25%)', cents: tax, category: 'iaas' },
  ]
}

export function smallCompanyBilling(startedAt: Date): Billing {
  const first = periodBefore(startedAt, 2)
  return {
    currency: 'USD',
    customer: { name: 'Pat Operator', company: 'Platform, Inc.', email: 'billing@platform.example' },
    invoices: now => endedPeriods(first, now).map(period => invoice(period, linesOf(hoursIn(period), 1))),
    preview(now) {
      const period = periodBefore(now, 0)
      const { start, end } = periodBounds(period)
      const share = (now.getTime() - start.getTime()) / (end.getTime() + 1000 - start.getTime())
      return invoice(period, linesOf(hoursIn(period), share))
    },
  }
}
