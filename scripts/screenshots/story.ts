// What the pictures of the console show: the README's story, up to where there is most to see, with months of invoices.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { smallCompany } from '../../sandbox/world/small-company.ts'
import { runTask, whenFetched } from '../../test/support/billing.ts'
import { eventually } from '../../test/support/eventually.ts'
import type { Bundle, SetupOptions } from '../../test/support/setup.ts'
import { sweepAll } from '../../test/support/sweep.ts'
import { deploy } from '../examples/deploy.ts'
import { mirror } from '../examples/mirror.ts'
import { emptyExamples, teller } from '../examples/recorder.ts'
import { close, moveIn, use } from './months.ts'

/** What the addresses of the pages name. */
export interface Story {
  deployment: string
  /** Another one, with months that are over. */
  wiki: string
  statement: string
  resource: string
  /** One that others belong to. */
  related: string
  saga: string
  invoice: string
  drift: string
  finding: string
  sweep: string
  webhook: string
  delivery: string
  auditEntry: string
  /** A member of the tenant whose deployment it is. */
  member: string
}

const DAY_MS = 86_400_000
const MONTHS = 6

let behindMs = 0
/** The real time, or so many days before it: the browser keeps cookies by its own clock. */
const sandboxClock = { now: () => new Date(Date.now() - behindMs) }

/** The small company, which has been billed for half a year. */
export const surroundings = (DATA_DIR: string): SetupOptions => ({
  worker: true,
  provider: {
    actionDelayMs: 20,
    clock: sandboxClock,
    seed: smallCompany({ startedAt: new Date(Date.now() - (MONTHS - 2) * 30 * DAY_MS) }),
  },
  finance: {},
  env: { DATA_DIR },
})

export async function tellStory(bundle: Bundle): Promise<Story> {
  const { call, clock, sandbox, tokens } = bundle
  const goBack = (days: number) => {
    behindMs = days * DAY_MS
    clock.set(sandboxClock.now().toISOString())
  }
  goBack(12)
  const told = teller(bundle, emptyExamples())
  await mirror(told)
  for (const tenant of ['globex', 'initech']) await giveProject(bundle, tenant)
  await sell(bundle)
  const wiki = await moveIn(bundle)
  const { deploymentId, resourceId, dropletId } = await deploy(told)
  for (let days = 40; days >= 0; days--) {
    goBack(days)
    await runTask(bundle, 'balance')
    if (days % 8 === 0) await runTask(bundle, 'cost_estimate')
  }

  // Somebody resizes the droplet by hand, and nobody has accepted it yet.
  const droplet = [...sandbox.world.shelves.droplet].find(({ id }) => String(id) === dropletId)!
  sandbox.world.shelves.droplet.replace({ ...droplet, memory: 4096, vcpus: 2 })
  // And takes a volume from another, which nobody misses.
  const volume = [...sandbox.world.shelves.volume].find(({ name }) => name === 'globex-prod-data')!
  sandbox.world.shelves.volume.replace({ ...volume, droplet_ids: [] })
  // A sweep of all takes the clock an hour on.
  goBack(1 / 24)
  await sweepAll(bundle)
  await runTask(bundle, 'drift_detection')

  goBack(0)
  await keepFiles(bundle)
  await runTask(bundle, 'billing_history')
  const [newest] = await whenFetched(bundle)
  const invoice = `/api/v1/billing/invoices/${newest!.id}`
  await eventually(
    'finance knows it',
    async () => (await call('GET', invoice)).body.data.finance_action === 'created',
  )
  // Backups bear a droplet's name and are none: an operator says whose they are.
  const lines = '/api/v1/billing/cost-lines'
  const { body: backups } = await call('GET', `${lines}?matched=false&kind=backup`)
  for (const { id } of backups.data.slice(1))
    await call('POST', `${lines}/${id}/assign`, { body: { deployment_id: deploymentId } })
  await use(bundle, wiki, deploymentId)
  await close(bundle, deploymentId)
  await administer(bundle)
  await runTask(bundle, 'findings')

  const first = async (path: string) => (await call('GET', `/api/v1${path}`)).body.data[0].id
  return {
    deployment: deploymentId,
    wiki,
    statement: await first(`/deployments/${wiki}/statements`),
    resource: resourceId,
    related: await first('/inventory?name=globex-prod-api-01'),
    saga: await first(`/sagas?deployment_id=${deploymentId}`),
    invoice: newest!.id,
    drift: await first('/drift'),
    finding: await first('/findings'),
    sweep: await first('/inventory/sync-runs?kind=droplet'),
    ...(await hook(bundle)),
    auditEntry: await first('/admin/audit_log'),
    member: await tokens.tenant('acme'),
  }
}

interface Catalog {
  meters: object[]
  plans: { code: string; name: string; version: object }[]
  addons: object[]
  resource_prices: object[]
}

async function sell({ call }: Bundle): Promise<void> {
  const base = '/api/v1/catalog'
  const file = join(import.meta.dirname, '../../examples/catalog.yaml')
  const { meters, plans, addons, resource_prices: prices } = parse(readFileSync(file, 'utf8')) as Catalog
  for (const body of meters) await call('POST', `${base}/meters`, { body })
  for (const { code, name, version } of plans) {
    await call('POST', `${base}/plans`, { body: { code, name } })
    await call('POST', `${base}/plans/${code}/versions`, { body: version })
    await call('POST', `${base}/plans/${code}/versions/1/publish`, { body: {} })
  }
  // Somebody works on the next version.
  const [starter] = plans
  await call('POST', `${base}/plans/${starter!.code}/versions`, {
    body: { ...starter!.version, base_price_cents: 2100 },
  })
  for (const body of addons) await call('POST', `${base}/addons`, { body })
  for (const body of prices) await call('POST', `${base}/resource-prices`, { body })
}

/** Nothing answers there. */
async function hook({ call }: Bundle): Promise<{ webhook: string; delivery: string }> {
  const base = '/api/v1/admin/webhooks'
  const url = 'https://hooks.example.com/cloudops'
  const { body } = await call('POST', base, {
    body: { url, events: ['deployment.*'], description: 'Operations' },
  })
  const { body: sent } = await call('POST', `${base}/${body.data.id}/test`, { body: {} })
  return { webhook: body.data.id, delivery: sent.data.id }
}

export const operator = (tokens: Bundle['tokens']) => tokens.admin({ sub: 'olivia@example.com' })

async function administer({ call, tokens }: Bundle): Promise<void> {
  const admin = '/api/v1/admin'
  const role = { name: 'viewer', description: 'Looks on', permissions: ['*:read'] }
  await call('POST', `${admin}/roles`, { body: role })
  const ann = { id: 'ann', tenant_id: 'acme', email: 'ann@example.com', display_name: 'Ann' }
  await call('POST', `${admin}/users`, { body: ann })
  const invitation = { email: 'bob@example.com', tenant_id: 'acme', role: 'viewer' }
  await call('POST', `${admin}/invitations`, { body: invitation })
  const secret = { value: 'dop_v1_1d6a9f', description: 'What people wait for' }
  await call('PUT', `${admin}/secrets/provider_token/provisioning`, { body: secret })
  const key = { description: 'The nightly report', tenant_id: 'acme' }
  await call('POST', '/api/v1/users/olivia@example.com/api_keys', {
    body: key,
    token: await operator(tokens),
  })
  const rule = { field: 'tags', kind: 'droplet', reason: 'Tags are set by hand' }
  await call('POST', '/api/v1/drift/ignore-rules', { body: rule })
}

async function giveProject({ call }: Bundle, tenant: string): Promise<void> {
  const { body } = await call('GET', '/api/v1/projects')
  const project = body.data.find(({ name }: { name: string }) => name === tenant)
  await call('PATCH', `/api/v1/projects/${project.id}`, { body: { tenant_id: tenant, purpose: 'tenant' } })
}

async function keepFiles({ call }: Bundle): Promise<void> {
  const base = '/api/v1/admin/storage_backends'
  const { body } = await call('POST', base, { body: { name: 'disk', kind: 'local', folder: 'invoices' } })
  await call('POST', `${base}/${body.data.id}/activate`, { body: {} })
}
