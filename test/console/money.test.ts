// The pages about money: empty, full and refused, what can be done there, and a tenant's own costs.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { insertBalance } from '../../src/features/billing/invoice-store.ts'
import { newId } from '../../src/kernel/ids.ts'
import { haveIngested, haveInvoice, type Line } from '../support/billing.ts'
import { assertAccessible, inBrowser, rowsOf, type Served, serveConsole } from '../support/console.ts'
import { csvObjects } from '../support/csv.ts'
import { deployment } from '../support/factories.ts'

const MONTHS = 'from=2026-09&to=2026-10'

/** Two months of two tenants, with what is nobody's; the newer invoice. */
async function haveMonths(served: Served) {
  const shop = await deployment(served, 'acme', { slug: 'shop' })
  const acme = { tenant_id: 'acme', matched_by: 'hand' as const }
  const lines: Line[] = [
    { ...acme, deployment_id: shop.id, description: 'web-01 (s-1vcpu-1gb)', amount: '6.00' },
    { ...acme, product: 'Volumes', kind: 'volume', description: 'data (nyc3) 100GB', amount: '10.00' },
    { tenant_id: 'globex', matched_by: 'hand', description: 'api (s-1vcpu-1gb)', amount: '4.00' },
    { description: '<b>old</b> (s-1vcpu-1gb)', amount: '1.50' },
  ]
  const number = (invoice_number: string) => ({ invoice_number })
  await haveIngested(served, lines.slice(0, 2), { period: '2026-09-01', ...number('A-09') })
  const invoice = await haveIngested(served, lines, { period: '2026-10-01', ...number('A-10') })
  return { invoice, shop }
}

test(
  'before the first invoice every page says that there is nothing, and where it comes from',
  inBrowser,
  async t => {
    const { open, tokens } = await serveConsole(t)
    const { page, complaints } = await open({ token: await tokens.admin(), path: '/money' })
    await page.getByText('No costs in these months. They come with the provider’s invoices.').waitFor()
    await assertAccessible(page)
    for (const [tab, text] of [
      ['Statements', 'No statement matches.'],
      ['Invoices', 'No invoice matches.'],
      ['Cost lines', 'No line matches.'],
      ['Unmatched lines', 'Every line is matched'],
      ['Margins', 'Nobody has a deployment'],
      ['Budgets', 'A budget tells before a month costs too much.'],
      ['Balance', 'The provider has not been asked yet.'],
    ] as const) {
      await page.getByRole('navigation').getByRole('link', { name: tab, exact: true }).click()
      await page.getByText(text).waitFor()
      await assertAccessible(page)
    }
    assert.deepEqual(complaints, [])
  },
)

test(
  'costs are stacked by tenant, kind or deployment, with the figures beside them, at both widths',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    await haveMonths(served)
    const token = await served.tokens.admin()
    const path = `/money?${MONTHS}`
    const { page, complaints } = await served.open({ token, path })
    assert.deepEqual(await rowsOf(page, 'Costs by tenant in all, USD'), [
      'Tenant 2026-10 All 2 months Share',
      'acme $16.00 $32.00 85.3 %',
      'globex $4.00 $4.00 10.7 %',
      'Nobody’s $1.50 $1.50 4.0 %',
    ])
    await page.getByText('As a table').click()
    assert.deepEqual((await rowsOf(page, 'Costs by tenant, USD')).slice(1), [
      '2026-09 $16.00 $0.00 $0.00',
      '2026-10 $16.00 $4.00 $1.50',
    ])
    await assertAccessible(page)
    await page.getByLabel('Stacked by').selectOption('deployment')
    await page.waitForURL(/group_by=deployment/)
    assert.match((await rowsOf(page, 'Costs by deployment in all, USD'))[1]!, /^shop \$6\.00 \$12\.00/)
    await page.getByLabel('Stacked by').selectOption('kind')
    assert.match((await rowsOf(page, 'Costs by kind in all, USD'))[1]!, /^volume /)
    await page.getByRole('link', { name: 'volume' }).click()
    await page.waitForURL(/\/money\/lines\?kind=volume$/)
    assert.equal((await rowsOf(page, 'Cost lines')).length, 3)
    assert.deepEqual(complaints, [])

    const small = await served.open({
      token,
      path,
      viewport: { width: 390, height: 800 },
      colorScheme: 'dark',
    })
    await rowsOf(small.page, 'Costs by tenant in all, USD')
    await assertAccessible(small.page)
  },
)

test(
  'costs by two dimensions, by day and by tag, and a month without an invoice is marked',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    await haveMonths(served)
    const month = new Date().toISOString().slice(0, 7)
    const { db } = served.ctx
    const own = { id: newId(), period: `${month}-01`, currency: 'USD', month_minor: 700, amount_minor: 300 }
    const line = { kind: 'droplet', tenant_id: 'acme', amount: '3.00' }
    await db
      .insertInto('cost_estimate_lines')
      .values({ ...own, ...line } as never)
      .execute()
    const now = new Date().toISOString()
    const said = { day: now.slice(0, 10), made_at: now, as_of: now, listed_minor: 300 }
    await db
      .insertInto('cost_estimates')
      .values({ ...own, ...said } as never)
      .execute()
    const path = '/money?from=2026-09'
    const { page, complaints } = await served.open({ token: await served.tokens.admin(), path })
    await page.getByLabel('And by').selectOption('kind')
    const inAll = 'Costs by tenant and kind in all, USD'
    const rows = await rowsOf(page, inAll)
    assert.match(rows[0]!, new RegExp(`^Tenant Kind ${month} \\(estimate\\) All \\d+ months Share$`))
    assert.deepEqual(rows.slice(1), [
      'acme volume $0.00 $20.00 49.4 %',
      'acme droplet $3.00 $15.00 37.0 %',
      'globex droplet $0.00 $4.00 9.9 %',
      'Nobody’s droplet $0.00 $1.50 3.7 %',
    ])
    await page.getByText(`From ${month} on there is no invoice yet`).waitFor()
    assert.match(await page.locator('.cards').innerText(), /in all, expected\s+\$7\.00/)
    await page.getByText('As a table').click()
    assert.equal(
      (await rowsOf(page, 'Costs by tenant and kind, USD')).at(-1),
      `${month} estimate $0.00 $3.00 $0.00 $0.00`,
    )
    await assertAccessible(page)
    await page.goto(`${served.consoleUrl}/money?from=2026-10&to=2026-10&group_by=tag`)
    await page.getByLabel('Each').selectOption('day')
    await page.getByRole('columnheader', { name: 'All 31 days' }).waitFor()
    assert.deepEqual((await rowsOf(page, 'Costs by tag in all, USD')).slice(1), ['None $0.69 $21.50 100.0 %'])
    await page.getByLabel('Key of the tags').waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await assertAccessible(page)
    assert.deepEqual(complaints, [])
  },
)

test('an unmatched line is assigned, and the assignment taken back', inBrowser, async t => {
  const served = await serveConsole(t)
  await haveMonths(served)
  const { page, complaints } = await served.open({
    token: await served.tokens.admin(),
    path: '/money/unmatched',
  })
  await page.getByRole('heading', { name: 'Unmatched cost lines', level: 1 }).waitFor()
  assert.equal((await rowsOf(page, 'Cost lines')).length, 2)
  await page.getByRole('button', { name: 'Assign <b>old</b> (s-1vcpu-1gb)' }).click()
  const dialog = page.getByRole('dialog', { name: 'Assign a cost line' })
  await dialog.getByRole('button', { name: 'Assign' }).click()
  await dialog.getByRole('alert').waitFor()
  await assertAccessible(page)
  await dialog.getByLabel('Tenant').fill('globex')
  await page.keyboard.press('Enter')
  await page.getByText('Every line is matched to what it is for.').waitFor()
  await page.getByRole('link', { name: 'Cost lines', exact: true }).click()
  await page.getByLabel('Tenant').fill('globex')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Take back the assignment of <b>old</b>' }).click()
  await page.getByText('Taken back').waitFor()
  const left = await served.call('GET', '/api/v1/billing/cost-lines?matched=false')
  assert.equal(left.body.data.length, 1)
  const log = await served.call('GET', '/api/v1/admin/audit_log')
  assert.deepEqual(log.body.data.map(({ operation }: { operation: string }) => operation).slice(0, 2), [
    'unassignCostLine',
    'assignCostLine',
  ])
  assert.deepEqual(complaints, [])
})

test('invoices are filtered, and one that does not add up says by how much', inBrowser, async t => {
  const served = await serveConsole(t)
  const { invoice } = await haveMonths(served)
  const torn = { amount: '25.755', lines_amount: '21.50', reconciled: false }
  await served.ctx.db.updateTable('cloud_invoices').set(torn).where('id', '=', invoice).execute()
  await haveInvoice(served, { period: '2026-08-01', invoice_number: 'A-08' })
  const { page } = await served.open({ token: await served.tokens.admin(), path: '/money/invoices' })
  assert.deepEqual(
    (await rowsOf(page, 'Invoices')).slice(1).map(row => row.split(' ').slice(0, 4).join(' ')),
    ['2026-10 A-10 $25.76 ingested', '2026-09 A-09 $16.00 ingested', '2026-08 A-08 $6.00 pending'],
  )
  await assertAccessible(page)
  await page.getByLabel('Reconciliation').selectOption('lines differ')
  await page.waitForURL(/\?reconciled=false$/)
  await page.getByRole('link', { name: '2026-09' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: '2026-10' }).click()
  await page.getByRole('heading', { name: 'Invoice A-10', level: 1 }).waitFor()
  await page.getByText('4.255 USD').waitFor()
  await page.getByText('None is kept').waitFor()
  assert.equal((await rowsOf(page, 'Lines of the invoice')).length, 5)
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Push to finance' }).click()
  await page.getByRole('dialog').getByText('Its lines do not add up to its amount.').waitFor()
  await page.getByRole('button', { name: 'Push', exact: true }).click()
  await page.getByRole('alert').getByText('finance').first().waitFor()
  await assertAccessible(page)
})

test(
  'an invoice is pushed to finance after a confirmation, and its page says when finance has it',
  inBrowser,
  async t => {
    const served = await serveConsole(t, { worker: true, finance: {} })
    const { invoice } = await haveMonths(served)
    const { page } = await served.open({
      token: await served.tokens.admin(),
      path: `/money/invoices/${invoice}`,
    })
    await page.getByText('not pushed').waitFor()
    await page.getByRole('button', { name: 'Push to finance' }).click()
    await page.getByRole('dialog').getByText('net $21.50').waitFor()
    assert.equal(served.finance.invoices.size, 0)
    await page.getByRole('button', { name: 'Push', exact: true }).click()
    await page.getByText('Queued: finance is told in a moment.').waitFor()
    await page.getByRole('button', { name: 'Push again' }).waitFor()
    assert.equal(served.finance.invoices.size, 1)
  },
)

test(
  'downloads are the browser’s own, with the filters of the page, and a refused one is told',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    await haveMonths(served)
    const path = '/money/lines?period=2026-10&tenant_id=acme'
    const { page, complaints } = await served.open({ token: await served.tokens.admin(), path })
    const download = async (name: string) => {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name, exact: true }).click(),
      ])
      return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
    }
    const lines = await download('Download CSV')
    assert.equal(lines.name, 'cost-lines-2026-10.csv')
    assert.deepEqual(
      csvObjects(lines.text).map(({ amount }) => amount),
      ['6.00', '10.00'],
    )
    const focus = await download('FOCUS of 2026-10')
    assert.deepEqual([focus.name, csvObjects(focus.text).length], ['focus-2026-10.csv', 4])
    await page.goto(`${served.consoleUrl}/money?${MONTHS}&group_by=kind`)
    assert.equal((await download('Download CSV')).name, 'costs-2026-09-2026-10.csv')
    served.clock.advance(2 * 3_600_000)
    await page.getByRole('link', { name: 'Download CSV' }).click()
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    assert.deepEqual(complaints, [])
  },
)

test('margins and the balance are shown with their months and days', inBrowser, async t => {
  const served = await serveConsole(t)
  await haveMonths(served)
  for (const [day, usage] of [
    ['14', '7.00'],
    ['15', '9.50'],
  ])
    await insertBalance(served.ctx.db, {
      id: newId(),
      provider: 'digitalocean',
      currency: 'USD',
      month_to_date_usage: usage!,
      account_balance: '-3.00',
      month_to_date_balance: String(Number(usage) - 3),
      generated_at: `2026-11-${day}T10:00:00.000Z`,
      recorded_at: `2026-11-${day}T11:00:00.000Z`,
    })
  const token = await served.tokens.admin()
  const { page } = await served.open({ token, path: '/money/margins?period=2026-10' })
  assert.match((await rowsOf(page, 'Margins'))[1]!, /^shop acme .*\$6\.00 -\$6\.00/)
  await page.getByText('are costs of').waitFor()
  await page.getByLabel('Of each').selectOption('tenant')
  await page.getByRole('columnheader', { name: 'Deployments' }).waitFor()
  assert.deepEqual(
    (await rowsOf(page, 'Margins')).slice(1).map(row => row.split(' ')[0]),
    ['acme', 'globex'],
  )
  await assertAccessible(page)
  await page.goto(`${served.consoleUrl}/money/balance?from=2026-11-01&to=2026-11-30`)
  await page.getByText('$9.50').first().waitFor()
  await page.getByText('As a table').click()
  assert.deepEqual((await rowsOf(page, 'Balance, USD')).slice(1), [
    '2026-11-14 $7.00 -$3.00',
    '2026-11-15 $9.50 -$3.00',
  ])
  await assertAccessible(page)
})

test(
  'a member sees the costs of its tenant, and nothing to decide; a refused filter is told',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    const { shop } = await haveMonths(served)
    const { page } = await served.open({
      token: await served.tokens.tenant('acme'),
      path: `/money?${MONTHS}`,
    })
    assert.deepEqual((await rowsOf(page, 'Costs by kind in all, USD')).slice(1), [
      'volume $10.00 $20.00 62.5 %',
      'droplet $6.00 $12.00 37.5 %',
    ])
    const links = page.getByRole('navigation').getByRole('link')
    assert.deepEqual((await links.allInnerTexts()).slice(-5), [
      ...['Money', 'Statements', 'Cost lines', 'Budgets', 'Administration'],
    ])
    await links.filter({ hasText: 'Cost lines' }).click()
    assert.equal((await rowsOf(page, 'Cost lines')).length, 5)
    assert.equal(await page.getByRole('button', { name: /^Assign/ }).count(), 0)
    assert.equal(await page.getByRole('columnheader', { name: 'Tenant' }).count(), 0)
    await assertAccessible(page)
    await page.goto(`${served.consoleUrl}/money/lines?deployment_id=${shop.id}x`)
    await page.getByRole('alert').getByText('deployment_id').first().waitFor()
    await page.goto(`${served.consoleUrl}/money/invoices`)
    await page.getByRole('heading', { name: 'Not yours to see' }).waitFor()
  },
)
