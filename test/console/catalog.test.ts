// The catalog in the console: plans and their versions, drafts until they are published, addons and prices.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible, inBrowser, serveConsole } from '../support/console.ts'
import { addon, deployment, plan } from '../support/factories.ts'

test(
  'a plan is made, drafted, changed and published, and says how many subscriptions stay behind',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    const { page, complaints } = await served.open({ token: await served.tokens.admin(), path: '/catalog' })
    await page.getByText('A plan can be subscribed to once a version of it is published.').waitFor()
    await page.getByRole('button', { name: 'New plan' }).click()
    const made = page.getByRole('dialog', { name: 'New plan' })
    await made.getByLabel('Code').fill('starter')
    await made.getByLabel('Name').fill('Starter')
    await made.getByRole('button', { name: 'Create' }).click()
    await page.getByText('There are none yet. The first one is a draft').waitFor()

    await page.getByRole('button', { name: 'New draft' }).click()
    const terms = page.getByRole('dialog', { name: 'New draft of starter' })
    await terms.getByLabel('Base price').fill('19.999')
    await terms.getByRole('button', { name: 'Add an item' }).click()
    const item = terms.getByRole('group', { name: 'Item 1' })
    await item.getByLabel('Kind').fill('droplet')
    await item.getByLabel('Included').fill('3')
    await item.getByLabel('At most').fill('2')
    await terms.getByRole('button', { name: 'Create the draft' }).click()
    await terms.getByText('is no amount in USD').first().waitFor()
    await terms.getByLabel('Base price').fill('19.99')
    await terms.getByRole('button', { name: 'Create the draft' }).click()
    await item.getByText('must not be less than included_qty (3)').waitFor()
    await item.getByLabel('At most').fill('5')
    await terms.getByRole('button', { name: 'Create the draft' }).click()
    await page.getByText('There is no active version to compare it with.').waitFor()
    await page.getByRole('button', { name: 'Publish' }).click()
    const first = page.getByRole('dialog', { name: 'Publish version 1 of starter' })
    await first.getByText('No subscription stays behind.').waitFor()
    await first.getByRole('button', { name: 'Publish' }).click()
    await page.getByRole('region', { name: 'Draft 1' }).waitFor({ state: 'detached' })

    const { id } = await deployment(served)
    const sold = { body: { plan_code: 'starter' } }
    assert.equal((await served.call('POST', `/api/v1/deployments/${id}/subscribe`, sold)).status, 201)
    await page.getByRole('button', { name: 'New draft' }).click()
    assert.equal(await terms.getByLabel('Base price').inputValue(), '19.99', 'it starts from the active one')
    await terms.getByLabel('Base price').fill('24')
    await item.getByLabel('Price beyond').fill('0.03')
    await item.getByLabel('For each').fill('hour')
    await terms.getByRole('button', { name: 'Create the draft' }).click()
    const draft = page.getByRole('region', { name: 'Draft 2' })
    await draft.getByText('2 fields are the same.').waitFor()
    assert.deepEqual(
      (await draft.getByRole('row').allInnerTexts()).map(row => row.split('\t')),
      [
        ['Field', 'Active: version 1', 'Draft 2'],
        ['Base price a month', '$19.99', '$24.00'],
        ['droplet: beyond that', 'no price', '$0.03 a hour'],
      ],
    )
    await draft.getByText('2 fields are the same.').waitFor()
    await assertAccessible(page)
    await draft.getByRole('button', { name: 'Publish' }).click()
    const second = page.getByRole('dialog', { name: 'Publish version 2 of starter' })
    await second.getByText('One subscription stays on the version it has.').waitFor()
    await second.getByRole('button', { name: 'Publish' }).click()
    const versions = page.getByRole('table', { name: 'Versions side by side' })
    await versions.getByRole('row', { name: 'Status active retired' }).waitFor()
    await versions.getByRole('row', { name: 'Subscriptions 0 1' }).waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await assertAccessible(page)
    assert.deepEqual(complaints, [])
  },
)

test('a draft is edited and deleted, and its name is to be typed', inBrowser, async t => {
  const served = await serveConsole(t)
  await plan(served, { code: 'starter', price: 1900 })
  const body = {
    base_price_cents: 2000,
    currency: 'USD',
    items: [{ resource_kind: 'seats', included_qty: 3 }],
  }
  await served.call('POST', '/api/v1/catalog/plans/starter/versions', { body })
  const { page } = await served.open({ token: await served.tokens.admin(), path: '/catalog/starter' })
  const draft = page.getByRole('region', { name: 'Draft 2' })
  await draft.getByRole('button', { name: 'Edit' }).click()
  const terms = page.getByRole('dialog', { name: 'Edit draft 2 of starter' })
  await assertAccessible(page)
  await terms.getByRole('button', { name: 'Take out item 1' }).click()
  await terms.getByLabel('Base price').fill('19')
  await terms.getByRole('button', { name: 'Save the draft' }).click()
  await draft.getByText('It says the same as version 1, which is active.').waitFor()
  await draft.getByRole('button', { name: 'Delete' }).click()
  const gone = page.getByRole('dialog', { name: 'Delete draft 2 of starter' })
  assert.equal(await gone.getByRole('button', { name: 'Delete' }).isDisabled(), true)
  await gone.getByLabel('Type starter 2 to confirm').fill('starter 2')
  await gone.getByRole('button', { name: 'Delete' }).click()
  await draft.waitFor({ state: 'detached' })
})

test('addons, meters and resource prices are made and changed', inBrowser, async t => {
  const served = await serveConsole(t)
  await addon(served, { code: 'volume-pack', price_cents: 1900 })
  const { page } = await served.open({ token: await served.tokens.admin(), path: '/catalog' })
  await page.getByRole('button', { name: 'Change volume-pack' }).click()
  const changed = page.getByRole('dialog', { name: 'Change volume-pack' })
  await changed.getByLabel('Price a month').fill('21.50')
  await changed.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('table', { name: 'All addons' }).getByText('$21.50').waitFor()
  await page.getByRole('button', { name: 'New meter' }).click()
  const counted = page.getByRole('dialog', { name: 'New meter' })
  await counted.getByLabel('Code').fill('droplet')
  await counted.getByLabel('A month is the').selectOption('sum')
  await counted.getByLabel('Unit').fill('token')
  await counted.getByLabel('Scale').fill('1000000')
  await counted.getByRole('button', { name: 'Create' }).click()
  await counted.getByText('droplet is a kind of the inventory').first().waitFor()
  await counted.getByLabel('Code').fill('llm_tokens')
  await counted.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('button', { name: 'Rename llm_tokens' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Tokens')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /^Tokens llm_tokens sum token 1,000,000 × token/ }).waitFor()
  await page.getByRole('button', { name: 'New price' }).click()
  const made = page.getByRole('dialog', { name: 'New resource price' })
  await made.getByLabel('Kind').fill('droplet')
  await made.getByRole('textbox', { name: 'Unit', exact: true }).fill('hour')
  await made.getByLabel('Price of one unit').fill('0.04')
  await made.getByLabel('From').fill('2030-01-01')
  await made.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('button', { name: 'End the price of droplet from 2030-01-01' }).click()
  const ended = page.getByRole('dialog', { name: 'End the price of droplet a hour' })
  await ended.getByLabel('Until before').fill('2029-01-01')
  await ended.getByRole('button', { name: 'Save' }).click()
  await ended.getByText('must be after effective_from (2030-01-01)').first().waitFor()
  await ended.getByLabel('Until before').fill('2031-01-01')
  await ended.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('table', { name: 'Prices of what no plan covers' }).getByText('Jan 1, 2031').waitFor()
  await assertAccessible(page)
})

test(
  'what stands below an answer that is still to come is offered when nothing moves any more',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    await plan(served)
    const { page } = await served.open({ token: await served.tokens.admin(), path: '/deployments' })
    await page.getByText('There are none yet.').waitFor()
    const held = Promise.withResolvers<void>()
    await page.route('**/api/v1/catalog/plans*', async route => {
      await held.promise
      await route.continue()
    })
    await page.getByRole('link', { name: 'Catalog' }).click()
    const below = page.getByRole('button', { name: 'New addon', includeHidden: true })
    await page.getByRole('button', { name: 'New plan' }).waitFor()
    await below.waitFor({ state: 'attached' })
    assert.equal(await below.isVisible(), false)
    held.resolve()
    await below.waitFor()
    assert.equal(await page.getByRole('table', { name: 'All plans' }).isVisible(), true)
  },
)

test('a member sees what is on offer, and none of the acts', inBrowser, async t => {
  const served = await serveConsole(t)
  const items = [{ resource_kind: 'droplet', included_qty: 3, hard_cap_qty: 10 }]
  await plan(served, { code: 'growth', price: 7900, items })
  const { page } = await served.open({ token: await served.tokens.tenant('acme'), path: '/catalog' })
  await page.getByRole('link', { name: 'growth' }).waitFor()
  assert.equal(await page.getByRole('button', { name: /^New/ }).count(), 0)
  assert.equal(await page.getByText('Resource prices').count(), 0)
  await page.getByRole('link', { name: 'growth' }).click()
  await page.getByRole('row', { name: 'droplet 3 no price 10' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Rename' }).count(), 0)
  await assertAccessible(page)
})
