// Budgets in the console: made, looked at, changed and deleted, with their thresholds drawn in; and unusual days.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tellUnusualDays } from '../../src/features/budgets/unusual-store.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { newId } from '../../src/kernel/ids.ts'
import { budget, charged, look } from '../support/budgets.ts'
import { assertAccessible, inBrowser, rowsOf, type Served, serveConsole } from '../support/console.ts'

/** A deployment of acme with a plan of 80.00 since the month's beginning. */
const haveCharges = (served: Served): Promise<string> =>
  charged(served, 8_000, { since: `${served.clock.now().toISOString().slice(0, 7)}-01T00:00:00Z` })

const phone = { viewport: { width: 390, height: 800 }, colorScheme: 'dark' } as const

test(
  'a budget is made by keyboard, shows its month against its thresholds, is changed, and deleted by its name',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    const deployment = await haveCharges(served)
    const token = await served.tokens.admin()
    const { page, complaints } = await served.open({ token, path: '/money/budgets' })
    await page.getByText('There is none. A budget tells before').waitFor()
    await page.getByText('No day has cost much more').waitFor()
    await assertAccessible(page)

    await page.getByRole('button', { name: 'Create a budget' }).press('Enter')
    await page.keyboard.type('The shop')
    const dialog = page.getByRole('dialog', { name: 'Create a budget' })
    await dialog.getByLabel('Deployment').fill(deployment)
    await dialog.getByLabel('Amount a month').fill('100.005')
    await dialog.getByRole('button', { name: 'Take out threshold 3' }).press('Enter')
    await dialog.getByRole('button', { name: 'Add a threshold' }).press('Enter')
    await dialog
      .getByRole('group', { name: 'Threshold 3' })
      .getByLabel('Compared with')
      .selectOption('forecast')
    await assertAccessible(page)
    await dialog.getByLabel('Amount a month').press('Enter')
    await dialog.getByText('is no amount in USD', { exact: true }).waitFor()
    await dialog.getByLabel('Amount a month').fill('100')
    await dialog.getByLabel('Amount a month').press('Enter')
    await dialog.waitFor({ state: 'detached' })
    assert.match((await rowsOf(page, 'Budgets'))[1]!, /^The shop one deployment – none – none \$100\.00/)
    await look(served)
    await page.reload()
    await page.getByText('80 % actual').waitFor()
    assert.match(
      (await rowsOf(page, 'Budgets'))[1]!,
      /\$80\.00 \$80\.00 \$100\.00 80 % actual, 50 % forecast|\$80\.00 \$80\.00 \$100\.00 50 % forecast, 80 % actual/,
    )
    // The bar ends at 100 %: actual and forecast reach to 80, and each threshold has its mark.
    const bar = page.locator('.budget-bar')
    assert.equal(await bar.locator('.spent').evaluate(span => span.style.width), '80%')
    const marks = await bar.locator('.mark').evaluateAll(all => all.map(mark => mark.style.insetInlineStart))
    assert.deepEqual(marks.sort(), ['calc(100% - 2px)', 'calc(50% - 2px)', 'calc(80% - 2px)'])
    await assertAccessible(page)

    await page.getByRole('link', { name: 'The shop' }).click()
    await page.getByRole('heading', { name: 'The shop', level: 1 }).waitFor()
    assert.equal((await rowsOf(page, 'Thresholds that were reached')).length, 3)
    const thresholds = (await rowsOf(page, 'Thresholds')).slice(1)
    assert.match(thresholds[1]!, /^80 % actual \$80\.00 \w/)
    assert.equal(thresholds[2], '100 % actual $100.00 not yet')
    await assertAccessible(page)

    await page.getByRole('button', { name: 'Edit' }).click()
    const edit = page.getByRole('dialog', { name: 'Edit The shop' })
    await edit.getByLabel('Amount a month').fill('200')
    await page.keyboard.press('Enter')
    await page.getByText('$200.00').first().waitFor()
    assert.ok((await rowsOf(page, 'Thresholds')).slice(1).every(row => row.endsWith('not yet')))

    await page.getByRole('button', { name: 'Delete' }).click()
    const confirm = page.getByRole('dialog', { name: 'Delete The shop?' })
    const act = confirm.getByRole('button', { name: 'Delete' })
    assert.ok(await act.isDisabled())
    await confirm.getByLabel('Type The shop to confirm').fill('The shop')
    await assertAccessible(page)
    await act.click()
    await page.waitForURL(/\/money\/budgets$/)
    await page.getByText('There is none. A budget tells before').waitFor()
    assert.deepEqual((await served.call('GET', '/api/v1/budgets')).body.data, [])
    assert.deepEqual(complaints, [])
  },
)

test(
  'a member sees its tenant’s budgets and unusual days with what made them, on a phone too; a reader changes nothing',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    const deployment = await haveCharges(served)
    await budget(served, { name: 'All of acme', tenant_id: 'acme', amount_minor: 5_000 })
    await budget(served, { name: 'The account' })
    await look(served)
    const line = { tenant_id: 'acme', deployment_id: deployment, kind: 'load_balancer' }
    const lines = [{ ...line, amount_minor: 960n, usual_minor: 240n }]
    const sums = { amount_minor: 1_680n, usual_minor: 720n, limit_minor: 1_220n, lines }
    const day = { day: '2026-11-14', measure: 'charge', currency: 'USD', ...sums } as const
    const days = [
      { id: newId(), tenant_id: 'acme', ...day },
      { id: newId(), tenant_id: null, ...day },
    ]
    await transaction(served.ctx.db, tx => tellUnusualDays(tx, days, served.clock.now().toISOString()))
    const token = await served.tokens.tenant('acme')
    const { page, complaints } = await served.open({ token, path: '/money/budgets', ...phone })
    const rows = await rowsOf(page, 'Budgets')
    assert.equal(rows.length, 2)
    assert.match(
      rows[1]!,
      /^All of acme acme \$80\.00 \$80\.00 \$50\.00 80 % actual, 100 % actual, 100 % forecast/,
    )
    const [, unusual, ...others] = await rowsOf(page, 'Unusual days')
    assert.deepEqual(others, [])
    assert.match(unusual!, /\$16\.80 \$7\.20 load balancer of a deployment: \$9\.60, usually \$2\.40$/)
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Create a budget' }).click()
    assert.equal(await page.getByRole('dialog').getByLabel('Tenant').count(), 0)
    await assertAccessible(page)

    await served.call('POST', '/api/v1/admin/roles', {
      body: { name: 'reader', permissions: ['budgets:read', 'costs:read'] },
    })
    const reader = await served.open({
      token: await served.tokens.tenant('acme', { role: 'reader' }),
      path: '/money/budgets',
    })
    assert.equal((await rowsOf(reader.page, 'Budgets')).length, 2)
    assert.equal(await reader.page.getByRole('button', { name: /budget|Edit|Delete/ }).count(), 0)
    assert.deepEqual([...complaints, ...reader.complaints], [])
  },
)
