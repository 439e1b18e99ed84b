// The inventory's pages: empty, full, loading and refused, for operators and for tenants, whatever things are called.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generated } from '../../sandbox/world/generated.ts'
import { assertAccessible, inBrowser, serveConsole } from '../support/console.ts'
import { sweepOne, sweepProjects } from '../support/sweep.ts'

const path = '/inventory'

test('an empty mirror says so, and why', inBrowser, async t => {
  const { open, tokens } = await serveConsole(t)
  const { page } = await open({ token: await tokens.admin(), path })
  await page.getByText('No resource matches. The mirror fills with the first whole sweep').waitFor()
  assert.equal(await page.getByRole('table').count(), 0)
})

test('resources are listed, filtered by the address, and read page by page', inBrowser, async t => {
  const served = await serveConsole(t, { provider: { seed: generated({ droplets: 450, volumes: 3 }) } })
  await sweepOne(served, 'droplet')
  await sweepOne(served, 'volume')
  const { page } = await served.open({ token: await served.tokens.admin(), path })
  const table = page.getByRole('table', { name: 'Resources' })
  await table.waitFor()
  assert.equal(await table.getByRole('row').count(), 101)
  await page.getByLabel('Kind').selectOption('volume')
  await page.waitForURL(/\?kind=volume$/)
  await table.getByRole('row').nth(3).waitFor()
  assert.equal(await table.getByRole('row').count(), 4)
  await page.goBack()
  for (const shown of [100, 200, 300, 400]) {
    await page.getByRole('status').getByText(`${shown} shown`).waitFor()
    await page.getByRole('button', { name: 'More' }).click()
  }
  await page.getByRole('button', { name: 'More' }).waitFor({ state: 'detached' })
  assert.ok((await table.getByRole('row').count()) < 120, 'only what is in sight is drawn')
  const count = await table.getAttribute('aria-rowcount')
  assert.equal(count, '454')
  await assertAccessible(page)
})

test(
  'while an answer takes its time the page says so, and a refused filter is told with its request',
  inBrowser,
  async t => {
    const { open, tokens, logged } = await serveConsole(t)
    const { page } = await open({ token: await tokens.admin(), path })
    await page.getByText('No resource matches').waitFor()
    const held = Promise.withResolvers<void>()
    await page.route('**/api/v1/inventory?*', async route => {
      await held.promise
      await route.continue()
    })
    await page.getByLabel('Deployment').fill('seven')
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('Loading').waitFor()
    held.resolve()
    const alert = page.getByRole('alert')
    await alert.getByText('deployment_id').first().waitFor()
    const id = /Request ([\w-]{36})/.exec(await alert.innerText())?.[1]
    assert.ok(logged().includes(id!), 'the log knows it by that id')
    await assertAccessible(page)
  },
)

test(
  'a resource shows its fields, history, owners and costs, at both widths and in both themes',
  inBrowser,
  async t => {
    const served = await serveConsole(t, { provider: {} })
    await sweepOne(served, 'droplet')
    await sweepProjects(served)
    const { body } = await served.call('GET', '/api/v1/projects')
    const acme = body.data.find(({ name }: { name: string }) => name === 'acme')
    const given = { body: { tenant_id: 'acme', purpose: 'tenant' } }
    assert.equal((await served.call('PATCH', `/api/v1/projects/${acme.id}`, given)).status, 200)
    const token = await served.tokens.admin()
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [390, 'dark'],
    ] as const) {
      const { page, complaints } = await served.open({
        token,
        path,
        viewport: { width, height: 800 },
        colorScheme,
      })
      await page.getByRole('link', { name: 'acme-prod-web-01' }).click()
      await page.getByRole('heading', { name: 'acme-prod-web-01', level: 1 }).waitFor()
      const owners = page.getByRole('table', { name: 'Owners, newest first' })
      assert.match((await owners.getByRole('row').nth(1).innerText()).replaceAll('\t', ' '), /now acme/)
      const history = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem')
      await history.nth(2).waitFor()
      assert.deepEqual(
        (await history.allInnerTexts()).map(text => text.split(' ')[0]),
        ['updated', 'updated', 'discovered'],
      )
      await page.getByText('No invoice names it yet.').waitFor()
      await assertAccessible(page)
      assert.deepEqual(complaints, [])
    }
  },
)

test('a member sees the resources of its tenant, and nothing that speaks of others', inBrowser, async t => {
  const served = await serveConsole(t, { provider: {} })
  await sweepOne(served, 'droplet')
  await sweepProjects(served)
  const { body } = await served.call('GET', '/api/v1/projects')
  const acme = body.data.find(({ name }: { name: string }) => name === 'acme')
  await served.call('PATCH', `/api/v1/projects/${acme.id}`, {
    body: { tenant_id: 'acme', purpose: 'tenant' },
  })
  const { page } = await served.open({ token: await served.tokens.tenant('acme'), path })
  const table = page.getByRole('table', { name: 'Resources' })
  await table.waitFor()
  assert.deepEqual((await table.getByRole('link').allInnerTexts()).sort(), [
    'acme-prod-web-01',
    'acme-prod-web-02',
    'acme-prod-worker-01',
  ])
  assert.equal(await table.getByRole('columnheader', { name: 'Tenant' }).count(), 0)
  assert.equal(await page.getByLabel('Tenant').count(), 0)
})

test('names and tags from the provider are text, whatever they look like', inBrowser, async t => {
  const seed = generated({ droplets: 0, volumes: 1, projects: 1 })
  const served = await serveConsole(t, { provider: { seed } })
  const shelf = served.sandbox.world.shelves.volume
  const [volume] = [...shelf]
  const name = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>'
  shelf.replace({ ...volume!, name, tags: ['"><svg onload=alert(1)>', 'javascript:alert(1)'] })
  await sweepOne(served, 'volume')
  const { page, complaints } = await served.open({ token: await served.tokens.admin(), path })
  let alerted = false
  page.on('dialog', dialog => {
    alerted = true
    return dialog.dismiss()
  })
  await page.getByRole('link', { name }).click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
  await page.getByText('"><svg onload=alert(1)>, javascript:alert(1)').waitFor()
  assert.deepEqual([alerted, complaints], [false, []])
  assert.equal(await page.evaluate('document.querySelectorAll("main img, main svg, main script").length'), 0)
})

test('by the keyboard: the commands lead to a page, and a slash to its search', inBrowser, async t => {
  const { open, tokens } = await serveConsole(t)
  const { page } = await open({ token: await tokens.admin(), path })
  await page.getByRole('heading', { name: 'Inventory', level: 1 }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('web-1')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\?name=web-1$/)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Command' }).fill('inv')
  await assertAccessible(page)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/inventory$/)
})
