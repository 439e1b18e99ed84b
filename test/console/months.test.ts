// What a deployment's months come to in the console: changes shown before they are made, the month as it builds up, and the
// statements of those that are over.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { insertStatements } from '../../src/features/metering/statement-store.ts'
import { newId } from '../../src/kernel/ids.ts'
import { assertAccessible, inBrowser, rowsOf, type Served, serveConsole } from '../support/console.ts'
import { csvObjects } from '../support/csv.ts'
import { addon, deployment, plan } from '../support/factories.ts'
import { closeDue, meter, tied } from '../support/metering.ts'
import { event, meterOf, send } from '../support/usage-events.ts'

const subscribe = async ({ call }: Served, id: string, body: object) => {
  const { status, text } = await call('POST', `/api/v1/deployments/${id}/subscribe`, { body })
  assert.equal(status, 201, text)
}

/** The first moment of a month so many before this one; after it, with a minus. */
const monthBefore = (months: number): Date => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1))
}
const monthOf = (at: Date) => at.toISOString().slice(0, 7)

test(
  'plan and addons are changed after the month they make is shown, now or later, and what is scheduled is called off',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    await plan(served, { code: 'starter', price: 1900 })
    await plan(served, { code: 'growth', price: 7900 })
    await addon(served, { code: 'more', price_cents: 500 })
    await addon(served, { code: 'extra', price_cents: 700 })
    const { id } = await deployment(served, 'acme', { slug: 'shop' })
    await subscribe(served, id, { plan_code: 'starter', addons: ['more'] })
    // By a member of the tenant: it may do all of this.
    const { page, complaints } = await served.open({
      token: await served.tokens.tenant('acme'),
      path: `/deployments/${id}`,
    })
    const [next, later] = [monthOf(monthBefore(-1)), monthOf(monthBefore(-2))]

    await page.getByRole('button', { name: 'Change plan' }).click()
    const changed = page.getByRole('dialog', { name: 'Change the plan of shop' })
    await changed.getByLabel('To').selectOption('plan:growth')
    await changed.getByLabel('From when').selectOption('next_period')
    await changed.getByRole('button', { name: 'Preview' }).click()
    assert.deepEqual(await rowsOf(page, `What ${next} would end with`), [
      'What Now Then Change',
      'Base price: starter $19.00 $0.00 -$19.00',
      'Addon: more $5.00 $5.00 $0.00',
      'Base price: growth $0.00 $79.00 +$79.00',
      'In all $24.00 $84.00 +$60.00',
    ])
    await assertAccessible(page)
    await changed.getByRole('button', { name: 'Back' }).click()
    assert.equal(await changed.getByLabel('To').inputValue(), 'plan:growth', 'what was chosen stays')
    assert.equal(await changed.getByLabel('From when').inputValue(), 'next_period')
    await changed.getByRole('button', { name: 'Preview' }).click()
    await changed.getByRole('button', { name: 'Change the plan' }).click()
    const scheduled = page.getByRole('table', { name: 'Scheduled changes' })
    await scheduled.getByText('Plan growth, $79.00 a month').waitFor()
    await page.getByRole('link', { name: 'starter' }).waitFor()

    await page.getByRole('button', { name: 'Add addon' }).click()
    const added = page.getByRole('dialog', { name: 'Add an addon to shop' })
    await added.getByLabel('Addon').selectOption('extra')
    await added.getByLabel('How many').fill('3')
    await added.getByLabel('From when').selectOption('day')
    await added.getByLabel('Day').fill('2020-01-01')
    await added.getByRole('button', { name: 'Preview' }).click()
    await added.getByText('lies in the past').first().waitFor()
    await added.getByLabel('Day').fill(`${later}-01`)
    await added.getByRole('button', { name: 'Preview' }).click()
    assert.deepEqual(
      (await rowsOf(page, `What ${later} would end with`)).at(-2),
      'Addon: extra $0.00 $21.00 +$21.00',
    )
    await page.setViewportSize({ width: 390, height: 800 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await assertAccessible(page)
    await added.getByRole('button', { name: 'Add the addon' }).click()
    await scheduled.getByText('Addon extra × 3, each $7.00 a month').waitFor()
    await assertAccessible(page)

    for (const name of [/Call off: Plan growth/, /Call off: Addon extra/]) {
      await page.getByRole('button', { name }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Call off' }).click()
      await page.getByRole('button', { name }).waitFor({ state: 'detached' })
    }
    await page.getByRole('button', { name: 'Remove more' }).click()
    const removed = page.getByRole('dialog', { name: 'Remove more from shop' })
    await removed.getByRole('button', { name: 'Preview' }).click()
    await removed.getByRole('row', { name: /^In all/ }).waitFor()
    await removed.getByRole('button', { name: 'Remove more' }).click()
    await page.getByRole('table', { name: 'Addons' }).waitFor({ state: 'detached' })
    assert.equal(await scheduled.count(), 0)
    assert.deepEqual(complaints, [])
  },
)

/** Two months ago: 31 dollars and a droplet by the hour; of each event a thousand tokens are included. */
async function haveMonths(served: Served) {
  const { clock } = served
  const now = clock.now()
  const start = monthBefore(2)
  clock.set(start.toISOString())
  await meterOf(served, { code: 'tokens', unit: 'token', scale: 1000 })
  const items = [
    { resource_kind: 'droplet', included_qty: 0, overage_unit: 'hour', overage_price_cents: 1 },
    { resource_kind: 'tokens', included_qty: 1, overage_unit: 'token', overage_price_cents: 50 },
  ]
  const code = await plan(served, { price: 3100, items })
  const { id } = await deployment(served, 'acme', { slug: 'shop' })
  await subscribe(served, id, { plan_code: code })
  await tied(served, new Date(start.getTime() + 3_600_000).toISOString(), 'droplet', 'web', id)
  const other = await deployment(served, 'globex', { slug: 'portal' })
  await subscribe(served, other.id, { plan_code: code })
  clock.set(now.toISOString())
  const told = (value: number, at: Date) =>
    event(id, { id: `${value}`, type: 'tokens', time: at.toISOString(), data: { value } })
  await send(served, [told(2500, now), told(3000, start)])
  while ((await meter(served)) > 0);
  await closeDue(served)
  return { id, month: monthOf(start), hours: (monthBefore(1).getTime() - start.getTime()) / 3_600_000 - 1 }
}

test(
  'a month builds up by day, and one that is over has a statement with lines and a file',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    const { id, month, hours } = await haveMonths(served)
    const { page, complaints } = await served.open({
      token: await served.tokens.admin(),
      path: `/deployments/${id}`,
    })
    await page.getByText('2,500 tokens, 1,000 included').waitFor()
    await page.getByText('$0.50 for 1,000 tokens').waitFor()
    const built = page.getByRole('figure').filter({ hasText: 'as it builds up, USD' })
    await built.getByText('As a table').click()
    const days = (await rowsOf(page, `${monthOf(new Date())} as it builds up, USD`)).slice(1)
    const { body } = await served.call('GET', `/api/v1/deployments/${id}/usage/days`)
    assert.equal(days.length, body.data.days.length)
    assert.equal(
      days.filter(day => day.includes('forecast')).length,
      // biome-ignore lint/suspicious/noExplicitAny: an answer
      body.data.days.filter(({ forecast }: any) => forecast).length,
    )
    await assertAccessible(page)

    await page.getByRole('link', { name: `${month}-000001` }).click()
    await page.getByRole('heading', { name: `Statement ${month}-000001`, level: 1 }).waitFor()
    const lines = await rowsOf(page, 'Lines of the statement')
    assert.equal(lines.length, 5)
    assert.match(lines[1]!, /^Base price: plan-\d+ .* 1 × month \$31\.00 \$31\.00$/)
    assert.match(
      lines[2]!,
      new RegExp(`^Beyond: droplet .* ${hours} × hour \\$0\\.01 \\$${(hours / 100).toFixed(2)}$`),
    )
    assert.match(lines[4]!, /^Meter: tokens .* 2 × 1,000 token \$0\.50 \$1\.00$/)
    await page.getByText(/^[0-9a-f]{64}$/).waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download CSV' }).click(),
    ])
    assert.equal(file.suggestedFilename(), `statement-${month}-000001.csv`)
    assert.equal(csvObjects(await readFile(await file.path(), 'utf8')).length, 4)
    await page.setViewportSize({ width: 390, height: 800 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await assertAccessible(page)
    await page.goBack()
    await built.waitFor()
    await assertAccessible(page)
    assert.deepEqual(complaints, [])
  },
)

test(
  'a member finds its statements under Money, and a correction names what it corrects',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    const { id, month } = await haveMonths(served)
    const { body: listed } = await served.call(
      'GET',
      `/api/v1/statements?deployment_id=${id}&period=${month}`,
    )
    const { body: first } = await served.call('GET', `/api/v1/statements/${listed.data[0].id}`)
    await insertStatements(served.ctx.db, [
      {
        ...first.data,
        ...{ id: newId(), sequence: 2, adjusts: first.data.id, ordinal: 9, first_day: `${month}-01` },
        ...{ total_cents: -150n, lines: [] },
      },
    ])
    const { page } = await served.open({ token: await served.tokens.tenant('acme'), path: '/money' })
    await page.getByRole('navigation').getByRole('link', { name: 'Statements', exact: true }).click()
    await page.getByLabel('Month').fill(month)
    await page.waitForURL(/period=/)
    await page.getByRole('link', { name: `${month}-000009` }).waitFor()
    const rows = await rowsOf(page, 'Statements')
    assert.equal(rows.length, 3)
    assert.match(rows[1]!, new RegExp(`^${month}-000009 ${month} -\\$1\\.50 shop correction`))
    assert.equal(await page.getByRole('columnheader', { name: 'Tenant' }).count(), 0)
    await assertAccessible(page)
    await page.getByRole('link', { name: `${month}-000009` }).click()
    await page.getByText('A correction: its lines are differences').waitFor()
    await page.getByText('It has no lines').waitFor()
    await page.getByRole('link', { name: first.data.id }).click()
    await page.getByRole('link', { name: `${month}-000009` }).waitFor()
    const { body: others } = await served.call('GET', '/api/v1/statements?tenant_id=globex')
    await page.goto(`${served.consoleUrl}/money/statements/${others.data[0].id}`)
    await page.getByRole('alert').getByText('Not Found').waitFor()
  },
)
