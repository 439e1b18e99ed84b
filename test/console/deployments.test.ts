// Deployments in the console: made, sold, moved and given droplets by mouse, as far as the caller may.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { draw, type LifecycleMap, leadsTo } from '../../console/src/pages/deployment/reach.ts'
import { LIFECYCLE } from '../../src/features/deployments/index.ts'
import { describedLifecycle } from '../../src/features/deployments/lifecycle.ts'
import { assertAccessible, inBrowser, serveConsole } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'
import { addon, deployment, plan } from '../support/factories.ts'
import { dropletsWith } from '../support/provisioning.ts'

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor()

test(
  'an operator makes a deployment, subscribes it, changes its plan and moves it to its end',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    const droplets = [{ resource_kind: 'droplet', included_qty: 2, hard_cap_qty: 5 }]
    await plan(served, { code: 'starter', price: 1900, items: droplets })
    await plan(served, { code: 'growth', price: 7900 })
    await addon(served, { code: 'more', resource_kind: 'droplet', qty: 1, price_cents: 500 })
    const { page, complaints } = await served.open({
      token: await served.tokens.admin(),
      path: '/deployments',
    })
    await page.getByText('There are none yet.').waitFor()
    await page.getByRole('button', { name: 'New deployment' }).click()
    const made = page.getByRole('dialog', { name: 'New deployment' })
    await made.getByLabel('Tenant').fill('acme')
    await made.getByLabel('Slug').fill('shop')
    await made.getByRole('button', { name: 'Create' }).click()
    await heading(page, 'shop')
    await page.getByText('It is subscribed to no plan.').waitFor()

    await page.getByRole('button', { name: 'Subscribe' }).click()
    const sold = page.getByRole('dialog', { name: 'Subscribe shop' })
    await sold.getByLabel('Plan').selectOption('starter')
    await sold.getByLabel('Addon: more').fill('2')
    await sold.getByRole('button', { name: 'Subscribe' }).click()
    await page.getByText('0 live, 4 included, at most 5').waitFor()
    await page.getByText('$19.00').first().waitFor()
    await page.getByRole('row', { name: /^more .*\$5\.00/ }).waitFor()

    await page.getByRole('button', { name: 'Change plan' }).click()
    const changed = page.getByRole('dialog', { name: 'Change the plan of shop' })
    await changed.getByLabel('To').selectOption('plan:growth')
    await changed.getByRole('button', { name: 'Preview' }).click()
    await changed.getByRole('row', { name: /^Base price: growth/ }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'starter' }).count(), 1, 'nothing is changed yet')
    await changed.getByRole('button', { name: 'Change the plan' }).click()
    await page.getByRole('link', { name: 'growth' }).waitFor()

    await page.getByRole('button', { name: 'Move to paused' }).click()
    const paused = page.getByRole('dialog', { name: 'Move shop to paused' })
    await paused.getByLabel('Reason').fill('on holiday')
    await paused.getByRole('button', { name: 'Move to paused' }).click()
    await page
      .getByRole('img', { name: /This one is paused; you may move it to active, suspended, cancelled/ })
      .waitFor()
    const moves = page.getByRole('list', { name: 'Moves, newest first' }).getByRole('listitem')
    await moves.getByText('on holiday').waitFor()
    assert.match(await moves.first().innerText(), /active → paused by ada[\s\S]*on holiday/)

    await page.getByRole('button', { name: 'Move to cancelled' }).click()
    const ended = page.getByRole('dialog', { name: 'Move shop to cancelled' })
    const act = ended.getByRole('button', { name: 'Move to cancelled' })
    assert.equal(await act.isDisabled(), true, 'there is no way back: its name is to be typed')
    await ended.getByLabel('Type shop to confirm').fill('shop')
    await act.click()
    await page.getByRole('img', { name: /This one is cancelled/ }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Subscribe' }).count(), 0)
    await assertAccessible(page)
    await page.setViewportSize({ width: 390, height: 800 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await assertAccessible(page)
    assert.deepEqual(complaints, [])
  },
)

test('a move has the usage read again, which stays where it is meanwhile', inBrowser, async t => {
  const served = await serveConsole(t)
  await plan(served, { code: 'starter', price: 1900 })
  const { id } = await deployment(served, 'acme', { slug: 'shop' })
  const body = { plan_code: 'starter' }
  assert.equal((await served.call('POST', `/api/v1/deployments/${id}/subscribe`, { body })).status, 201)
  const { page } = await served.open({ token: await served.tokens.admin(), path: `/deployments/${id}` })
  const shown = page.getByRole('region', { name: 'Usage' }).getByText('With usage so far')
  await shown.waitFor()
  const held = Promise.withResolvers<void>()
  await page.route('**/usage', async route => {
    await held.promise
    await route.continue()
  })
  const asked = page.waitForRequest('**/usage')
  await page.getByRole('button', { name: 'Move to paused' }).click()
  const paused = page.getByRole('dialog', { name: 'Move shop to paused' })
  await paused.getByRole('button', { name: 'Move to paused' }).click()
  await asked
  assert.equal(await shown.isVisible(), true)
  held.resolve()
})

test('a droplet is provisioned and taken away again, and a refusal is told', inBrowser, async t => {
  const served = await serveConsole(t, { worker: true, provider: { actionDelayMs: 0 } })
  const { id } = await deployment(served, 'acme', { slug: 'shop' })
  const { page } = await served.open({ token: await served.tokens.admin(), path: `/deployments/${id}` })
  await page.getByText('It has no resources.').waitFor()
  await page.getByRole('button', { name: 'Provision', exact: true }).click()
  const given = page.getByRole('dialog', { name: 'Give shop a droplet' })
  await given.getByLabel('Name').fill('no_hostname')
  await given.getByRole('button', { name: 'Provision' }).click()
  await given.getByRole('alert').waitFor()
  assert.equal(await given.getByLabel('Name').inputValue(), 'no_hostname', 'what was typed stays')
  await given.getByLabel('Name').fill('shop-web-1')
  await given.getByRole('button', { name: 'Provision' }).click()
  const runs = page.getByRole('table', { name: 'Runs, newest first' })
  await runs.getByRole('row', { name: /provision deployment completed/ }).waitFor()
  await page.getByRole('link', { name: 'shop-web-1' }).waitFor()
  await assertAccessible(page)

  await page.getByRole('button', { name: 'Deprovision' }).click()
  const taken = page.getByRole('dialog', { name: 'Take the droplets of shop away' })
  await taken.getByRole('listitem').getByText('shop-web-1').waitFor()
  await taken.getByLabel('Type shop to confirm').fill('shop')
  await taken.getByRole('button', { name: 'Destroy the droplets' }).click()
  await runs.getByRole('row', { name: /deprovision deployment completed/ }).waitFor()
  await eventually('it is gone', async () => dropletsWith(served, `deployment:${id}`).length === 0)
})

test('a run that has ended before the page sees it under way brings its droplet too', inBrowser, async t => {
  const served = await serveConsole(t, { worker: true, provider: { actionDelayMs: 0 } })
  const { id } = await deployment(served, 'acme', { slug: 'shop' })
  const { page } = await served.open({ token: await served.tokens.admin(), path: `/deployments/${id}` })
  await page.getByText('It has no resources.').waitFor()
  await page.getByText('Nothing was provisioned').waitFor()
  await page.route('**/api/v1/sagas?*', async route => {
    await eventually('it has ended', async () => {
      const { body } = await served.call('GET', `/api/v1/sagas?deployment_id=${id}`)
      return body.data[0]?.status === 'completed'
    })
    await route.continue()
  })
  await page.getByRole('button', { name: 'Provision', exact: true }).click()
  const given = page.getByRole('dialog', { name: 'Give shop a droplet' })
  await given.getByLabel('Name').fill('shop-web-1')
  await given.getByRole('button', { name: 'Provision' }).click()
  await page.getByRole('link', { name: 'shop-web-1' }).waitFor()
})

test(
  'a deployment is edited, its billing actions are held off, and one that is not there is told',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    const { id } = await deployment(served, 'acme', { slug: 'shop', template_code: 'wordpress' })
    const { page } = await served.open({ token: await served.tokens.admin(), path: `/deployments/${id}` })
    await page.getByRole('button', { name: 'Edit' }).click()
    const edited = page.getByRole('dialog', { name: 'Edit shop' })
    await edited.getByLabel('Name').fill('The shop')
    await edited.getByLabel('Template', { exact: true }).fill('')
    await edited.getByRole('button', { name: 'Save' }).click()
    await heading(page, 'The shop')
    assert.equal(await page.getByText('wordpress').count(), 0)
    await page.getByRole('button', { name: 'Hold off' }).click()
    const held = page.getByRole('dialog', { name: 'Hold billing actions off' })
    await held.getByLabel('Reason').fill('a bank holiday')
    await held.getByRole('button', { name: 'Hold off' }).click()
    await page.getByText(/Held off by ada since .*: a bank holiday/).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Move to past due' }).count(), 0)
    await page.getByRole('button', { name: 'Allow again' }).click()
    await page.getByRole('button', { name: 'Move to past due' }).waitFor()
    const { page: other } = await served.open({
      token: await served.tokens.admin(),
      path: '/deployments/01a1e288-4528-70c7-8c0a-d372182cf7fc',
    })
    assert.match(await other.getByRole('alert').innerText(), /Not Found[\s\S]*Request [\w-]{36}/)
  },
)

test('a member sees its own deployments and the moves that are its own', inBrowser, async t => {
  const served = await serveConsole(t)
  const { id } = await deployment(served, 'acme', { slug: 'shop' })
  await deployment(served, 'globex', { slug: 'portal' })
  const { page } = await served.open({ token: await served.tokens.tenant('acme'), path: '/deployments' })
  await page.getByRole('link', { name: 'shop' }).click()
  await page.waitForURL(new RegExp(`/deployments/${id}$`))
  const moves = page.getByRole('list', { name: 'Moves', exact: true })
  await moves.waitFor()
  assert.deepEqual(await moves.getByRole('button').allInnerTexts(), ['Move to paused', 'Move to cancelled'])
  for (const name of ['Provision', 'Deprovision', 'Hold off'])
    assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name)
  assert.equal(await page.getByText('Tenant', { exact: true }).count(), 0)
  await assertAccessible(page)
})

const map = describedLifecycle() as LifecycleMap

test('a way leads from one state to another only along the moves', () => {
  assert.equal(leadsTo(map, 'suspended', 'paused'), true)
  assert.equal(leadsTo(map, 'cancelled', 'active'), false)
  assert.equal(leadsTo(map, 'active', 'trial'), false)
  assert.equal(leadsTo(map, 'archived', 'archived'), true)
})

test('every move is drawn: on as a line or at the right, back at the left', () => {
  const { boxes, arrows, width, height } = draw(map)
  const moves = Object.entries(LIFECYCLE).flatMap(([from, tos]) => tos.map(to => `${from} ${to}`))
  assert.deepEqual(
    arrows.map(({ from, to }) => `${from} ${to}`),
    moves,
  )
  assert.deepEqual([boxes.length, width, height], [7, 272, 292])
  const pathOf = (from: string, to: string) =>
    arrows.find(arrow => arrow.from === from && arrow.to === to)!.path
  assert.equal(pathOf('trial', 'active'), 'M136 27V45')
  assert.match(pathOf('trial', 'suspended'), /^M188 19C/)
  assert.match(pathOf('suspended', 'active'), /^M84 185C/)
})
