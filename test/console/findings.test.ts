// The console's pages of findings: what they add up to, the list, one of them, and leaving some alone for a while.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { assertAccessible, inBrowser, type Served, serveConsole } from '../support/console.ts'
import { find, giveTo } from '../support/findings.ts'
import { rowOf, see } from '../support/sweep.ts'

const hostile = 'data-<b onmouseover=alert(1)>'

/** Three volumes of 10, 5 and 1 dollars a month that the last sweep missed; the first is acme's. */
async function missingVolumes(served: Served): Promise<void> {
  await see(served, 'volume', [
    { provider_id: 'a', name: 'logs', attrs: { size_gigabytes: 50 } },
    { provider_id: 'b', name: hostile, attrs: { size_gigabytes: 100 } },
    { provider_id: 'c', name: 'tmp', attrs: { size_gigabytes: 10 } },
  ])
  await giveTo(served, 'acme', [['volume', 'b']])
  await sql`update cloud_resources set stale_strike_count = 1, missing_since = last_seen_at`.execute(
    served.ctx.db,
  )
  await find(served, 'resource_missing')
}

test(
  'findings are added up, listed by what they cost, snoozed together and woken again',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    const { page, complaints } = await served.open({ token: await served.tokens.admin(), path: '/findings' })
    await page.getByText('Nothing found. The checks run after every whole sweep').waitFor()
    await page.getByLabel('Resource’s id').fill('seven')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('resource_id').first().waitFor()
    await assertAccessible(page)
    await missingVolumes(served)

    await page.goto(`${served.consoleUrl}/`)
    const figure = page.getByRole('link', { name: 'Open findings' })
    assert.match(await figure.innerText(), /3\s+\$16\.00 a month$/)
    await figure.click()
    const together = page.getByRole('region', { name: 'Together' })
    await together.getByText('$16.00', { exact: true }).waitFor()
    const rows = page.getByRole('table', { name: 'Findings' }).getByRole('row')
    await rows.nth(3).waitFor()
    const listed = (await rows.allInnerTexts()).slice(1)
    for (const [n, about] of [`${hostile} volume`, 'logs volume', 'tmp volume'].entries())
      assert.ok(listed[n]!.includes(about), listed[n])
    assert.match(listed[0]!, /acme\t.*\$10\.00$/)
    await assertAccessible(page)

    await page.getByLabel('Select row 2').check()
    await page.getByLabel('Select row 3').check()
    await page.getByRole('button', { name: 'Snooze selected…' }).click()
    await page.getByLabel('Reason').fill('kept until the audit')
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Snooze', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Snooze findings' })
    await dialog.getByText('2 of 2: all snoozed').waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await rows.nth(2).waitFor({ state: 'detached' })
    await together.getByRole('paragraph').getByText('$10.00', { exact: true }).waitFor()

    await together.getByRole('link', { name: 'not in the sum' }).click()
    await page.waitForURL(/\?status=snoozed$/)
    await rows.filter({ hasText: 'logs' }).getByRole('link').first().click()
    await page.getByRole('heading', { name: /: logs$/, level: 1 }).waitFor()
    await page.getByText('kept until the audit').waitFor()
    await page.getByText('by the list price').waitFor()
    await page.getByRole('region', { name: 'Evidence' }).getByText('sweeps missed').waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'End the snooze' }).click()
    await page.getByText('It is open again.').waitFor()
    await page.getByRole('button', { name: 'Snooze…' }).waitFor()
    assert.deepEqual(complaints, [])
  },
)

test(
  'a member sees what is found of its own, on the resource too, and snoozes nothing',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    await missingVolumes(served)
    const { id } = await rowOf(served, 'volume', 'b')
    const { page, complaints } = await served.open({
      token: await served.tokens.tenant('acme'),
      path: `/inventory/${id}`,
      viewport: { width: 390, height: 800 },
      colorScheme: 'dark',
    })
    const rows = page.getByRole('table', { name: 'Findings' }).getByRole('row')
    assert.match(await rows.nth(1).innerText(), /\$10\.00$/)
    await rows.nth(1).getByRole('link').click()
    await page.getByRole('heading', { name: hostile, level: 1 }).waitFor()
    assert.equal(await page.getByRole('button', { name: /Snooze/ }).count(), 0)
    await assertAccessible(page)
    await page.goto(`${served.consoleUrl}/findings`)
    await rows.nth(1).waitFor()
    assert.equal(await rows.count(), 2)
    assert.equal(await page.getByRole('checkbox').count(), 0)
    assert.equal(await page.getByLabel('Tenant').count(), 0)
    await assertAccessible(page)
    assert.deepEqual(complaints, [])
  },
)
