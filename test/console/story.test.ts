// The README's story without a terminal: everything the operator does is done in the console, by mouse, and again by keyboard
// alone. What people do at the provider itself, behind the service's back, is done at the simulated one.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createSandboxFinance } from '../../sandbox/finance/server.ts'
import { createSandboxProvider, SANDBOX_TOKEN } from '../../sandbox/provider/server.ts'
import { inBrowser, openConsole } from '../support/console.ts'
import { createPostgresDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { type Hand, keyboard, mouse } from '../support/hands.ts'
import { send } from '../support/http.ts'
import { type Service, startService } from '../support/process.ts'
import { SECRET, tokenMaker } from '../support/tokens.ts'

/** Far more than any step takes, for a busy machine eats seconds. */
const LONGEST_WAIT_MS = 60_000

interface World {
  service: Service
  /** The simulated provider's own controls. */
  atProvider(method: string, path: string, body?: object): Promise<unknown>
  droplets(): number
  invoicesAtFinance(): number
  /** A window of somebody with this token. */
  open(token: string): Promise<Page>
  /** What any window complained about. */
  complaints: string[]
}

async function startWorld(t: TestContext): Promise<World> {
  // Slow enough for a run to be seen under way.
  const provider = createSandboxProvider({ rateLimits: false, actionDelayMs: 1_500 })
  const finance = createSandboxFinance({ secret: SECRET })
  const [providerUrl, financeUrl] = [(await provider.listen()).url, (await finance.listen()).url]
  const database = await createPostgresDatabase()
  t.after(async () => {
    await provider.close()
    await finance.close()
    await database.drop()
  })
  const service = await startService(t, {
    env: {
      DATABASE_URL: database.url,
      DIGITALOCEAN_TOKEN: SANDBOX_TOKEN,
      DIGITALOCEAN_API_URL: providerUrl,
      FINANCE_URL: financeUrl,
      LOG_LEVEL: 'warn',
    },
  })
  t.after(() => service.kill())
  const complaints: string[] = []
  return {
    service,
    atProvider: async (method, path, body) => {
      const answer = await send(method, `${providerUrl}/__sandbox/${path}`, body ? { body } : {})
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.status}`)
      return answer.body
    },
    droplets: () => provider.world.shelves.droplet.size,
    invoicesAtFinance: () => finance.invoices.size,
    open: async token => {
      const opened = await openConsole(t, service.managementUrl.replace('127.0.0.1', 'localhost'), { token })
      opened.page.setDefaultTimeout(LONGEST_WAIT_MS)
      opened.page.on('close', () => complaints.push(...opened.complaints))
      return opened.page
    },
    complaints,
  }
}

/** Each act is one call. Runs of tasks are many, and left out. */
const ACTS = [
  'startSession',
  'assignProject',
  'createPlan',
  'createPlanVersion',
  'publishPlanVersion',
  'createAddon',
  'createDeployment',
  'subscribeDeployment',
  'transitionDeployment',
  'transitionDeployment',
  'provisionDeployment',
  'acceptDrift',
  'pushInvoice',
  'provisionDeployment',
  'cancelSaga',
  'transitionDeployment',
  'transitionDeployment',
  'deprovisionDeployment',
  'transitionDeployment',
]

for (const [by, handOf] of [
  ['mouse', mouse],
  ['the keyboard alone', keyboard],
] as const)
  test(`the README’s story is done in the console by ${by}`, inBrowser, async t => {
    const world = await startWorld(t)
    const before = world.droplets()
    const page = await world.open(await world.service.token())
    const hand = handOf(page)
    await mirror(page, hand)
    await lookAsTenant(world, handOf)
    await sell(page, hand)
    const droplet = await provision(page, hand)
    await drift(world, page, hand, droplet)
    await vanish(world, page, hand, droplet)
    await bill(world, page, hand)
    await cancel(world, page, hand)
    await end(page, hand)
    assert.equal(world.droplets(), before, 'nothing of the story is left at the provider')
    assert.deepEqual(await actsOf(world, 'ada'), ACTS)
    await page.close()
    assert.deepEqual(world.complaints, [])
  })

/** Somebody's calls as the audit log has them, oldest first; one that changes several things has several entries. */
async function actsOf({ service }: World, actor: string): Promise<string[]> {
  const { body } = await service.call('GET', `/api/v1/admin/audit_log?actor=${actor}&limit=200`)
  const entries: { request_id: string; operation: string }[] = body.data
  const calls = new Map(entries.reverse().map(({ request_id, operation }) => [request_id, operation]))
  return [...calls.values()].filter(operation => operation !== 'runTask')
}

const heading = (page: Page, name: string) =>
  page.getByRole('heading', { name, level: 1, exact: true }).waitFor()
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true })
const row = (page: Page, table: string, text: string) =>
  page.getByRole('table', { name: table, exact: true }).getByRole('row').filter({ hasText: text })

/** Runs a task from its page, and stays there until the run has come to its end. */
async function runTask(page: Page, hand: Hand, name: string): Promise<void> {
  await hand.go('Scheduled tasks', 'Administration')
  await hand.follow(link(page, name))
  await heading(page, name)
  await page.getByRole('button', { name: `Run now: ${name}` }).waitFor()
  const runs = page.getByRole('list', { name: 'Runs, newest first' }).getByRole('listitem')
  const known = (await page.getByText('It has not run yet.').isVisible()) ? 0 : await runs.count()
  await hand.press(`Run now: ${name}`)
  await eventually(`${name} has run`, async () => {
    if ((await runs.count()) <= known) return false
    return /^\s*completed/m.test(await runs.first().innerText())
  })
}

async function mirror(page: Page, hand: Hand): Promise<void> {
  await heading(page, 'Overview')
  await hand.go('Sweeps')
  await hand.press('Sweep now')
  const kinds = page.getByRole('table', { name: 'The mirror, kind by kind' })
  await kinds.getByText('fresh').first().waitFor()
  await eventually('every kind is fresh', async () => (await kinds.getByText('stale').count()) === 0)
  await hand.go('Projects')
  await hand.press('Assign acme')
  await hand.fill('Assign acme', { Tenant: 'acme' }, 'Assign')
  await page.getByText('acme is assigned, and everything in it.').waitFor()
}

async function lookAsTenant(world: World, handOf: (page: Page) => Hand): Promise<void> {
  const page = await world.open(await tokenMaker(() => new Date()).tenant('acme'))
  const hand = handOf(page)
  await heading(page, 'Overview')
  await hand.go('Inventory')
  await hand.filter('Kind', 'droplet')
  await page.waitForURL(/kind=droplet/)
  const table = page.getByRole('table', { name: 'Resources' })
  await table.getByRole('row').nth(1).getByText('droplet').first().waitFor()
  const ids = await table.getByRole('link').evaluateAll(links => links.map(l => l.getAttribute('href')!))
  for (const href of ids) {
    const { body } = await world.service.call('GET', `/api/v1${href}`)
    assert.deepEqual([body.data.tenant_id, body.data.kind], ['acme', 'droplet'])
  }
  await page.close()
}

async function sell(page: Page, hand: Hand): Promise<void> {
  await hand.go('Catalog')
  await hand.press('New plan')
  await hand.fill('New plan', { Code: 'starter', Name: 'Starter' }, 'Create')
  await heading(page, 'Starter')
  await hand.press('New draft')
  await page.getByRole('dialog', { name: 'New draft of starter' }).waitFor()
  await hand.press('Add an item')
  const terms = { 'Base price': '19', Kind: 'droplet', Included: '1' }
  await hand.fill('New draft of starter', terms, 'Create the draft')
  await hand.press('Publish')
  await hand.fill('Publish version 1 of starter', {}, 'Publish')
  await page.getByRole('region', { name: 'Draft 1' }).waitFor({ state: 'detached' })
  await hand.go('Catalog')
  await hand.press('New addon')
  const addon = { Code: 'extra-droplet', Name: 'One more droplet', Kind: 'droplet', 'Price a month': '14' }
  await hand.fill('New addon', addon, 'Create')
  await row(page, 'All addons', 'extra-droplet').waitFor()

  await hand.go('Deployments')
  await hand.press('New deployment')
  await hand.fill('New deployment', { Tenant: 'acme', Slug: 'shop' }, 'Create')
  await heading(page, 'shop')
  await hand.press('Subscribe')
  const sold = { Plan: 'Starter: $19.00 a month', 'Addon: One more droplet': '1' }
  await hand.fill('Subscribe shop', sold, 'Subscribe')
  await page.getByText('0 live, 2 included').waitFor()
  await move(page, hand, 'paused', { Reason: 'on holiday' })
  await move(page, hand, 'active')
}

const asMap = (state: string) => new RegExp(`This one is ${state}\\b`)

async function move(
  page: Page,
  hand: Hand,
  state: string,
  values: Record<string, string> = {},
): Promise<void> {
  await hand.press(`Move to ${state}`)
  await hand.fill(`Move shop to ${state}`, values, `Move to ${state}`)
  await page.getByRole('img', { name: asMap(state) }).waitFor()
}

/** By the search of the list. */
async function openDeployment(page: Page, hand: Hand): Promise<void> {
  await hand.go('Deployments')
  await hand.search('Slug (exact)', 'shop')
  await page.waitForURL(/slug=shop/)
  await hand.follow(link(page, 'shop'))
  await heading(page, 'shop')
}

const steps = (page: Page) => page.getByRole('table', { name: 'Steps' })
const status = (page: Page, word: string) => page.getByText(word, { exact: true }).first()

/** The droplet's name. */
async function provision(page: Page, hand: Hand): Promise<string> {
  const name = 'shop-web-1'
  await hand.press('Provision')
  await hand.fill('Give shop a droplet', { Name: name }, 'Provision')
  await hand.follow(link(page, 'provision deployment'))
  await steps(page).getByText('running', { exact: true }).waitFor()
  await eventually(
    'every step is seen to complete, without a reload',
    async () => (await steps(page).getByText('completed').count()) === (await rows(page)),
  )
  await openDeployment(page, hand)
  await hand.follow(link(page, name))
  await heading(page, name)
  await page.getByRole('group', { name: 'Desired state' }).getByText('"memory": 1024').waitFor()
  return name
}

const rows = async (page: Page) => (await steps(page).getByRole('row').count()) - 1

/** The provider's id of a droplet, read off its page. */
async function idAtProvider(page: Page, hand: Hand, name: string): Promise<string> {
  await hand.go('Inventory')
  await hand.search('Name (exact)', name)
  await page.waitForURL(new RegExp(`name=${name}`))
  await hand.follow(link(page, name))
  await heading(page, name)
  const facts = await page.getByRole('main').innerText()
  return /Provider’s id\s+(\d+)/.exec(facts)![1]!
}

async function drift({ atProvider }: World, page: Page, hand: Hand, name: string): Promise<void> {
  const id = await idAtProvider(page, hand, name)
  await atProvider('PATCH', `resources/droplet/${id}`, { memory: 4096 })
  await runTask(page, hand, 'resource_sync')
  await runTask(page, hand, 'drift_detection')
  await hand.go('Drift')
  await hand.follow(link(page, 'memory'))
  await heading(page, `${name}: memory`)
  await hand.press('Accept')
  await status(page, 'accepted').waitFor()
  await hand.follow(link(page, name))
  await page.getByText('It is as it should be.').waitFor()
  await page.getByRole('group', { name: 'Desired state' }).getByText('"memory": 4096').waitFor()
}

async function vanish({ atProvider }: World, page: Page, hand: Hand, name: string): Promise<void> {
  const id = await idAtProvider(page, hand, name)
  const kept = (await atProvider('GET', `resources/droplet/${id}`)) as object
  await atProvider('DELETE', `resources/droplet/${id}`)
  await runTask(page, hand, 'resource_sync')
  await runTask(page, hand, 'resource_sync')
  assert.equal(await idAtProvider(page, hand, name), id, 'two sweeps that miss it prove nothing')
  await runTask(page, hand, 'resource_sync')
  await hand.go('Inventory')
  await hand.search('Name (exact)', name)
  await page.getByText('No resource matches.').waitFor()
  await atProvider('POST', 'resources/droplet', kept)
  await runTask(page, hand, 'resource_sync')
  assert.equal(await idAtProvider(page, hand, name), id)
  const history = page.getByRole('list', { name: 'Events, newest first' })
  await history.getByText('restored').waitFor()
  await history.getByText('deleted').waitFor()
}

async function bill(world: World, page: Page, hand: Hand): Promise<void> {
  await openDeployment(page, hand)
  await page.getByText('1 live, 2 included').waitFor()
  await runTask(page, hand, 'balance')
  await runTask(page, hand, 'billing_history')
  await hand.go('Balance', 'Money')
  await page.getByText('Usage of the month so far').waitFor()
  await hand.go('Invoices', 'Money')
  const newest = page.getByRole('table', { name: 'Invoices' }).getByRole('row').nth(1)
  await hand.follow(newest.getByRole('link'))
  await page.getByText('lines add up').waitFor()
  // Finance is told by itself, and again when somebody asks for it; it has each invoice once.
  await page.getByText('created', { exact: true }).waitFor()
  const known = world.invoicesAtFinance()
  await hand.press('Push again')
  const title = await page.getByRole('dialog').getByRole('heading').innerText()
  await hand.fill(title, {}, 'Push')
  await page.getByText('Queued: finance is told in a moment.').waitFor()
  assert.equal(world.invoicesAtFinance(), known)
  await hand.go('Money')
  await row(page, 'Costs by tenant in all, USD', 'acme').waitFor()
  await hand.go('Cost lines', 'Money')
  await hand.filter('Kind', 'droplet')
  await page.waitForURL(/kind=droplet/)
  await row(page, 'Cost lines', 'acme').first().waitFor()
  await hand.go('Margins', 'Money')
  await page.getByText('Charges and costs of').waitFor()
  await row(page, 'Margins', 'shop').waitFor()
}

async function cancel({ atProvider }: World, page: Page, hand: Hand): Promise<void> {
  await openDeployment(page, hand)
  // The provider is busy for a while, so that there is time to change one's mind.
  const match = { method: 'POST', path: '/v2/droplets' }
  await atProvider('POST', 'faults', { fault: 'too_many_requests', seconds: 40, match })
  await hand.press('Provision')
  await hand.fill('Give shop a droplet', { Name: 'shop-web-2' }, 'Provision')
  await hand.follow(link(page, 'provision deployment').first())
  await hand.press('Cancel the run…')
  const typed = { 'Type provision_deployment to confirm': 'provision_deployment' }
  await hand.fill('Cancel the run', typed, 'Cancel the run')
  await status(page, 'rolled back').waitFor()
  await hand.go('Sagas')
  await hand.follow(link(page, 'Leaks'))
  await page.getByText('Nothing was left behind').waitFor()
}

async function end(page: Page, hand: Hand): Promise<void> {
  await openDeployment(page, hand)
  const typed = { 'Type shop to confirm': 'shop' }
  await move(page, hand, 'paused')
  await move(page, hand, 'cancelled', typed)
  await hand.press('Deprovision')
  await hand.fill('Take the droplets of shop away', typed, 'Destroy the droplets')
  await hand.follow(link(page, 'deprovision deployment'))
  await heading(page, 'deprovision deployment')
  await eventually(
    'every step is seen to complete',
    async () => (await steps(page).getByText('completed').count()) === (await rows(page)),
  )
  await openDeployment(page, hand)
  await page.getByText('It has no resources.').waitFor()
  await move(page, hand, 'archived', typed)
  const subscription = page.getByRole('region', { name: 'Subscription' })
  await subscription.getByText('cancelled').waitFor()
  await hand.go('Overview')
  await heading(page, 'Overview')
}
