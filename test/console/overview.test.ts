// The overview: what needs attention and where it is mended, the balance and the costs; and what of it is a tenant's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stacksOf } from '../../console/src/pages/cost-groups.ts'
import { generated } from '../../sandbox/world/generated.ts'
import { insertBalance } from '../../src/features/billing/invoice-store.ts'
import { newId } from '../../src/kernel/ids.ts'
import { haveIngested, haveInvoice } from '../support/billing.ts'
import { assertAccessible, inBrowser, type Served, serveConsole } from '../support/console.ts'
import { sweepOne } from '../support/sweep.ts'

async function haveBalance({ ctx }: Served, recorded_at: string, usage: string) {
  await insertBalance(ctx.db, {
    id: newId(),
    provider: 'digitalocean',
    currency: 'USD',
    month_to_date_balance: usage,
    account_balance: '0.00',
    month_to_date_usage: usage,
    generated_at: recorded_at,
    recorded_at,
  })
}

test(
  'an empty service shows a mirror that was never whole, and where balance and costs will come from',
  inBrowser,
  async t => {
    const served = await serveConsole(t)
    const { page, complaints } = await served.open({ token: await served.tokens.admin() })
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await page.getByText('One thing needs you.').waitFor()
    await page.getByText('None is recorded yet.').waitFor()
    await page.getByText('No invoice is read yet.').waitFor()
    const kinds = page.getByRole('table', { name: 'Kinds of the mirror' })
    assert.equal(await kinds.getByText('never').count(), 15)
    assert.equal(await page.getByRole('link', { name: 'Kinds not fresh' }).getAttribute('href'), '/sweeps')
    await assertAccessible(page)
    assert.deepEqual(complaints, [])
  },
)

test('what is wrong leads to where it is mended; balance and costs are drawn', inBrowser, async t => {
  const served = await serveConsole(t, { provider: { seed: generated({ droplets: 30 }) } })
  await sweepOne(served, 'droplet')
  const shelf = served.sandbox.world.shelves.droplet
  for (const { id } of [...shelf]) shelf.remove(String(id))
  for (let miss = 0; miss < 3; miss++) await sweepOne(served, 'droplet')
  const now = served.clock.now().toISOString()
  const period = `${new Date(Date.parse(`${now.slice(0, 7)}-01`) - 1).toISOString().slice(0, 7)}-01`
  await haveIngested(served, [{ amount: '12.00', tenant_id: 'acme' }, { amount: '3.00' }], { period })
  await haveInvoice(served, { period, ingest_status: 'failed' })
  await haveBalance(served, `${now.slice(0, 7)}-01T00:00:00.000Z`, '1.50')
  await haveBalance(served, now, '40.25')
  const { page, complaints } = await served.open({ token: await served.tokens.admin() })
  const counts = page.getByRole('list', { name: 'Counts' })
  const held = counts.getByRole('link', { name: 'Deletions held' })
  assert.match(await held.innerText(), /30\s+droplet$/)
  assert.match((await held.getAttribute('href')) ?? '', /^\/sweeps\/[\w-]{36}$/)
  const failed = counts.getByRole('link', { name: 'Invoices that failed' })
  assert.match(await failed.innerText(), /1$/)
  assert.equal(await failed.getAttribute('href'), '/money/invoices?ingest_status=failed')
  const kinds = page.getByRole('table', { name: 'Kinds of the mirror' })
  await kinds.getByRole('link', { name: '30 deletions held' }).waitFor()
  await page.getByText('$40.25').first().waitFor()
  const tables = page.getByText('As a table')
  await tables.nth(1).waitFor()
  for (const summary of await tables.all()) await summary.click()
  const usage = page.getByRole('table', { name: 'Month to date' })
  assert.equal(await usage.getByRole('row').count(), 3)
  const costs = page.getByRole('table', { name: 'By tenant, USD a month' })
  assert.deepEqual(
    (await costs.getByRole('row').allInnerTexts()).map(row => row.split('\t')),
    [
      ['Time', 'acme', 'nobody’s'],
      [period.slice(0, 7), '$12.00', '$3.00'],
    ],
  )
  await assertAccessible(page)
  await page.setViewportSize({ width: 390, height: 800 })
  await assertAccessible(page)
  assert.deepEqual(complaints, [])
})

test('a member sees its own part: no balance, no tasks, no invoices', inBrowser, async t => {
  const served = await serveConsole(t)
  const { page } = await served.open({ token: await served.tokens.tenant('acme') })
  const counts = page.getByRole('list', { name: 'Counts' })
  await counts.getByRole('link', { name: 'Open findings' }).waitFor()
  const names = (await counts.getByRole('link').allInnerTexts()).map(text => text.split('\n')[0])
  assert.deepEqual(names.slice(0, -1), [
    'Kinds not fresh',
    'Runs under way',
    'Runs failed',
    'Runs rolled back',
  ])
  assert.equal(await page.getByRole('button', { name: 'Sweep now' }).count(), 0)
  assert.equal(await page.getByText('Balance this month').count(), 0)
  await assertAccessible(page)
})

test('a part that fails is told, and asked for again', inBrowser, async t => {
  const served = await serveConsole(t)
  const { page } = await served.open({ path: '/deployments', token: await served.tokens.admin() })
  await page.getByText('There are none yet.').waitFor()
  await page.route('**/api/v1/overview', route => route.abort())
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('alert').getByText('The service cannot be reached').waitFor()
  await page.unroute('**/api/v1/overview')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('list', { name: 'Counts' }).waitFor()
})

test('costs become one stack for each currency, every month in each: the dearest first, nobody’s and the rest last', () => {
  const row = (
    period: string,
    tenant_id: string | null,
    minor: number,
    others = false,
    currency = 'USD',
  ) => ({
    ...{ period, tenant_id, others, currency, amount: (minor / 100).toFixed(2) },
  })
  const rows = [
    row('2026-08-01', null, 5000),
    row('2026-08-01', 'a', 125),
    row('2026-10-01', 'b', 500),
    row('2026-10-01', 'a', 225),
    row('2026-10-01', null, 900, true),
    row('2026-10-01', 'a', 700, false, 'EUR'),
  ]
  const periods = ['2026-08-01', '2026-09-01', '2026-10-01']
  assert.deepEqual(stacksOf(rows, ['tenant']), [
    {
      currency: 'USD',
      periods,
      groups: [
        { values: ['b'], others: false, amounts: [0, 0, 5], total: 5 },
        { values: ['a'], others: false, amounts: [1.25, 0, 2.25], total: 3.5 },
        { values: [null], others: false, amounts: [50, 0, 0], total: 50 },
        { values: [null], others: true, amounts: [0, 0, 9], total: 9 },
      ],
      total: 67.5,
    },
    {
      currency: 'EUR',
      periods,
      groups: [{ values: ['a'], others: false, amounts: [0, 0, 7], total: 7 }],
      total: 7,
    },
  ])
})

test('costs by day and several dimensions: every day between, what no dimension names last, estimates from their first day', () => {
  const row = (
    period: string,
    tenant_id: string | null,
    tag: string | null,
    amount: string,
    estimate = false,
  ) => ({
    ...{ period, tenant_id, tag, amount, estimate, currency: 'USD' },
  })
  const rows = [
    row('2026-02-27', 'a', 'web', '1'),
    row('2026-02-27', 'a', null, '2'),
    row('2026-03-01', null, null, '9', true),
    row('2026-03-01', 'a', 'web', '4', true),
  ]
  assert.deepEqual(stacksOf(rows, ['tenant', 'tag'], 'day'), [
    {
      currency: 'USD',
      periods: ['2026-02-27', '2026-02-28', '2026-03-01'],
      groups: [
        { values: ['a', 'web'], others: false, amounts: [1, 0, 4], total: 5 },
        { values: ['a', null], others: false, amounts: [2, 0, 0], total: 2 },
        { values: [null, null], others: false, amounts: [0, 0, 9], total: 9 },
      ],
      total: 16,
      estimatedFrom: 2,
    },
  ])
})
