// The console's pages of drift: the inbox, one drift, and the rules by which some of it is ignored.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible, inBrowser, serveConsole } from '../support/console.ts'
import { desire, drifts, droplet, loseAll, sweepDrift } from '../support/drift.ts'

const phone = { viewport: { width: 390, height: 800 }, colorScheme: 'dark' } as const

test('without drift the inbox says so, and a refused filter is told', inBrowser, async t => {
  const { open, tokens } = await serveConsole(t)
  const { page } = await open({ token: await tokens.admin(), path: '/drift' })
  await page.getByText('resources with a desired state are as they should be').waitFor()
  await page.getByLabel('Resource’s id').fill('seven')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('resource_id').first().waitFor()
  await assertAccessible(page)
})

test('several drifts are accepted at once, and each says what became of it', inBrowser, async t => {
  const served = await serveConsole(t)
  const gone = await droplet(served, { provider_id: '1', name: 'web-gone' })
  await desire(served, gone, { region: 'fra1' })
  await loseAll(served, 'droplet')
  for (const [provider_id, name] of [
    ['2', 'web-<b>two</b>'],
    ['3', 'web-three'],
  ] as const) {
    const id = await droplet(served, { provider_id, name, attrs: { memory: 4096 } })
    await desire(served, id, { memory: 1024 })
  }
  await sweepDrift(served)
  const { page, complaints } = await served.open({
    token: await served.tokens.admin(),
    path: '/drift',
    ...phone,
  })
  const table = page.getByRole('table', { name: 'Drift' })
  const row = table.getByRole('row').filter({ hasText: 'web-<b>two</b>' })
  assert.match(await row.innerText(), /memory\s+1024\s+4096/)
  assert.equal(await page.getByRole('button', { name: 'Accept selected' }).isDisabled(), true)
  await page.getByLabel('Select all rows shown').check()
  await page.getByRole('status').getByText('3 selected').waitFor()
  await page.getByRole('button', { name: 'Accept selected' }).click()
  const dialog = page.getByRole('dialog', { name: 'Accept drift' })
  await dialog.getByText('3 of 3: 2 accepted, 1 refused').waitFor()
  const results = await dialog.getByRole('listitem').allInnerTexts()
  assert.deepEqual(results.filter(text => text.endsWith(' accepted')).sort(), [
    'web-<b>two</b>: memory accepted',
    'web-three: memory accepted',
  ])
  assert.match(results.find(text => text.startsWith('web-gone'))!, /was deleted.*Request [\w-]{36}/)
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Done' }).click()
  await table.getByRole('row').nth(2).waitFor({ state: 'detached' })
  assert.equal(await table.getByRole('row').count(), 2)
  assert.deepEqual(
    (await drifts(served)).map(({ name }) => name),
    ['web-gone'],
  )
  await assertAccessible(page)
  assert.deepEqual(complaints, [])
})

test(
  'a drift is shown side by side and ignored by a rule, which is listed and deleted again',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    const id = await droplet(served, { provider_id: '1', name: 'web-1', tags: ['blue', 'small'] })
    await desire(served, id, { tags: ['blue', 'large'] })
    await sweepDrift(served)
    const { page } = await served.open({ token: await served.tokens.admin(), path: '/drift' })
    await page.getByRole('link', { name: 'tags' }).click()
    await page.getByRole('heading', { name: 'web-1: tags', level: 1 }).waitFor()
    assert.match(
      await page.getByRole('group', { name: 'Desired' }).innerText(),
      /^ {4}"blue",\n− {3}"large"$/m,
    )
    assert.match(await page.getByRole('group', { name: 'Actual' }).innerText(), /^\+ {3}"small"$/m)
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Ignore…' }).click()
    await page.getByLabel('Covers').selectOption('kind')
    await page.getByLabel('Reason').fill('labels are set by hand')
    await assertAccessible(page)
    await page.keyboard.press('Enter')
    await page.getByText('1 of 1: all made').waitFor()
    await page.keyboard.press('Escape')
    await page.goto(`${served.consoleUrl}/drift/ignore-rules`)
    const table = page.getByRole('table', { name: 'Ignore rules' })
    assert.match(
      await table.getByRole('row').nth(1).innerText(),
      /tags\s+every droplet\s+labels are set by hand/,
    )
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Delete the rule for tags' }).click()
    const sure = page.getByRole('dialog').getByRole('button', { name: 'Delete' })
    assert.equal(await sure.isDisabled(), true)
    await page.getByLabel('Type tags to confirm').fill('tags')
    await sure.click()
    await page.getByText('There are none: every difference').waitFor()
    await page.getByRole('button', { name: 'New rule' }).click()
    await page.getByLabel('Field').fill('size_*')
    await page.getByLabel('Kind').selectOption('droplet')
    await page.getByLabel('Reason').fill('resized at night')
    await page.getByLabel('Until the end of').fill('2999-12-31')
    await page.getByRole('button', { name: 'Create' }).click()
    await table.getByRole('row').filter({ hasText: 'size_*' }).waitFor()
  },
)

test('an operator who may read alone is offered no act, and a member no drift at all', inBrowser, async t => {
  const served = await serveConsole(t)
  const id = await droplet(served, { provider_id: '1', name: 'web-1' })
  await desire(served, id, { region: 'fra1' })
  await sweepDrift(served)
  await served.call('POST', '/api/v1/admin/roles', {
    body: { name: 'reader', permissions: ['drift:read', 'inventory:read'] },
  })
  const reader = await served.tokens.tenant('platform', { role: 'reader' })
  const { page } = await served.open({ token: reader, path: '/drift' })
  await page.getByRole('link', { name: 'region' }).waitFor()
  assert.equal(await page.getByRole('checkbox', { name: 'Select all rows shown' }).count(), 0)
  assert.equal(await page.getByRole('button', { name: /Accept|Ignore/ }).count(), 0)
  const member = await served.open({ token: await served.tokens.tenant('acme'), path: '/drift' })
  await member.page.getByRole('heading', { name: 'Not yours to see' }).waitFor()
  assert.equal(await member.page.getByRole('link', { name: 'Drift' }).count(), 0)
})

test('what is desired of a resource is said, changed and taken back on its page', inBrowser, async t => {
  const served = await serveConsole(t)
  const id = await droplet(served, { provider_id: '1', name: 'web-1' })
  const { page } = await served.open({ token: await served.tokens.admin(), path: `/inventory/${id}` })
  await page.getByRole('button', { name: 'Set…' }).click()
  const spec = page.getByLabel('Fields and their values, as JSON')
  await spec.fill('{"region": ')
  await page.getByRole('button', { name: 'Set', exact: true }).click()
  await page.getByRole('alert').getByText('That is no JSON').waitFor()
  await spec.fill('{"region": "fra1"}')
  await page.getByRole('button', { name: 'Set', exact: true }).click()
  await page.getByRole('group', { name: 'Desired state' }).getByText('"fra1"').waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Delete…' }).click()
  await page.getByLabel('Type web-1 to confirm').fill('web-1')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Nobody said how it should be.').waitFor()
})
