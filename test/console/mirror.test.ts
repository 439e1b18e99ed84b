// The console's pages of projects and sweeps: whose a project is, how fresh the mirror is, and what a sweep holds back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generated } from '../../sandbox/world/generated.ts'
import { assertAccessible, inBrowser, serveConsole } from '../support/console.ts'
import { sweepOne, sweepProjects } from '../support/sweep.ts'

test('a project is given to a tenant, whose members then see it and no button', inBrowser, async t => {
  const served = await serveConsole(t, { provider: {} })
  const { page, complaints } = await served.open({ token: await served.tokens.admin(), path: '/projects' })
  await page.getByText('No project matches. They come with the first whole sweep').waitFor()
  await sweepProjects(served)
  const token = await served.tokens.admin()
  const again = await served.open({ token, path: '/projects?purpose=unassigned' })
  await again.page.getByRole('button', { name: 'Assign acme' }).click()
  const dialog = again.page.getByRole('dialog', { name: 'Assign acme' })
  await dialog.getByRole('button', { name: 'Assign' }).click()
  await dialog.getByText('is required when the purpose is tenant').first().waitFor()
  await dialog.getByLabel('Tenant').fill('acme')
  await assertAccessible(again.page)
  await dialog.getByRole('button', { name: 'Assign' }).click()
  await again.page.getByText('acme is assigned, and everything in it.').waitFor()
  await again.page.getByRole('button', { name: 'Assign acme' }).waitFor({ state: 'detached' })

  const member = await served.open({ token: await served.tokens.tenant('acme'), path: '/projects' })
  const table = member.page.getByRole('table', { name: 'Projects' })
  await table.waitFor()
  assert.deepEqual(await table.getByRole('link').allInnerTexts(), ['acme'])
  assert.equal(await table.getByRole('button').count(), 0)
  assert.equal(await member.page.getByRole('link', { name: 'Sweeps' }).count(), 0)
  await assertAccessible(member.page)
  assert.deepEqual(complaints, [])
})

test(
  'sweeps are listed, and deletions that one holds are confirmed by typing their kind',
  inBrowser,
  async t => {
    const served = await serveConsole(t, { provider: { seed: generated({ droplets: 40, volumes: 1 }) } })
    await sweepOne(served, 'volume')
    await sweepOne(served, 'droplet')
    const { droplet } = served.sandbox.world.shelves
    for (const { id } of [...droplet]) droplet.remove(String(id))
    for (let sweep = 0; sweep < 3; sweep++) await sweepOne(served, 'droplet')
    const { page } = await served.open({
      token: await served.tokens.admin(),
      path: '/sweeps',
      viewport: { width: 390, height: 800 },
    })
    const mirror = page.getByRole('table', { name: 'The mirror, kind by kind' })
    const row = mirror.getByRole('row').filter({ hasText: 'droplet' })
    await row.getByText('40 droplets').waitFor()
    await assertAccessible(page)
    await row.getByRole('button', { name: 'Confirm the deletion of 40 droplets' }).click()
    await page.getByLabel('Type droplet to confirm').fill('droplet')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Deleted from the mirror: 40.').waitFor()
    await row.getByText('40 droplets, confirmed').waitFor()
    await page.getByRole('link', { name: 'volume' }).click()
    await page.getByRole('heading', { name: 'Sweep of volumes', level: 1 }).waitFor()
    await page.getByText('1 of 1 on 1 pages').waitFor()
    await assertAccessible(page)
    await page.goto(`${served.consoleUrl}/sweeps?sweep_id=seven`)
    await page.getByRole('alert').getByText('sweep_id').first().waitFor()
  },
)
