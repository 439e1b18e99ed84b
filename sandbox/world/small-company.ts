// Decides what the sandbox holds when nobody says otherwise: a small company with an internal project and
// three tenants, some forty resources, every kind present. The same ids and names at every start.

import { namedUuid } from './ids.ts'
import { buildDomain, buildSshKey, buildVpc } from './network.ts'
import { smallCompanyBilling } from './small-company-billing.ts'
import { addCompute } from './small-company-compute.ts'
import { at, SINCE, since, vpcId } from './small-company-places.ts'
import { addManaged, addStorage } from './small-company-services.ts'
import { addResource, createWorld, project, type World } from './world.ts'

/** `startedAt` only moves the invoices: the last two months before it are already billed. */
export function smallCompany(options: { startedAt?: Date } = {}): World {
  const startedAt = options.startedAt ?? new Date('2026-09-15T12:00:00Z')
  const world = createWorld({
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
  })
  addNetworks(world)
  addCompute(world)
  addStorage(world)
  addManaged(world)
  return world
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
