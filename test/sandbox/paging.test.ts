// Listings come in pages with the provider's own links, and money adds up wherever it is shown.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generated } from '../../sandbox/world/generated.ts'
import { namedUuid } from '../../sandbox/world/kinds.ts'
import { setup } from './setup.ts'

test('a page is 20 items unless said otherwise, and 200 at most', async t => {
  const { get } = await setup(t, { seed: generated({ droplets: 450 }) })
  assert.equal((await get('/v2/droplets')).body.droplets.length, 20)
  const { body } = await get('/v2/droplets?per_page=200&page=3')
  assert.equal(body.droplets.length, 50)
  assert.equal(body.meta.total, 450)
  for (const wrong of ['per_page=0', 'per_page=201', 'per_page=x', 'page=0', 'page=-1', 'page=1.5']) {
    assert.equal((await get(`/v2/droplets?${wrong}`)).status, 422, wrong)
  }
})

test('links are absolute production URLs, only those that make sense, with the query kept', async t => {
  const { get } = await setup(t, { seed: generated({ droplets: 45 }) })
  const root = 'https://api.digitalocean.com/v2/droplets?'
  const links = async (query: string) => (await get(`/v2/droplets?${query}`)).body.links
  assert.deepEqual(await links('page=1'), { pages: { next: `${root}page=2`, last: `${root}page=3` } })
  assert.deepEqual(await links('page=2&per_page=20'), {
    pages: {
      first: `${root}page=1&per_page=20`,
      prev: `${root}page=1&per_page=20`,
      next: `${root}page=3&per_page=20`,
      last: `${root}page=3&per_page=20`,
    },
  })
  assert.deepEqual(await links('page=3'), { pages: { first: `${root}page=1`, prev: `${root}page=2` } })
  assert.deepEqual(await links('per_page=45'), {})
  assert.match((await links('tag_name=generated')).pages?.next ?? '', /tag_name=generated&page=2/)
})

test('walking all pages sees every item once', async t => {
  const { get } = await setup(t, { seed: generated({ droplets: 333, gpuDroplets: 3 }) })
  const seen = new Set<number>()
  for (let page = 1; page !== 0; ) {
    const { droplets, links } = (await get(`/v2/droplets?per_page=50&page=${page}`)).body
    for (const droplet of droplets) seen.add(droplet.id)
    page = Number(new URL(links.pages?.next ?? 'http://x/?page=0').searchParams.get('page'))
  }
  assert.equal(seen.size, 333)
})

test('a page past the end is empty and leads back', async t => {
  const { get } = await setup(t)
  const { droplets, links, meta } = (await get('/v2/droplets?page=9')).body
  assert.deepEqual(droplets, [])
  assert.equal(meta.total, 8)
  assert.deepEqual(Object.keys(links.pages ?? {}), ['first', 'prev'])
})

const invoice = namedUuid('invoice:2026-08')
const cents = (amount: string) => Math.round(Number(amount.replace('$', '')) * 100)

test('two past months are billed, and the running one is only a preview', async t => {
  const { get } = await setup(t)
  const { invoices, invoice_preview, meta } = (await get('/v2/customers/my/invoices')).body
  assert.deepEqual(
    invoices.map(item => item.invoice_period),
    ['2026-08', '2026-07'],
  )
  assert.equal(meta.total, 2)
  assert.equal(invoice_preview.invoice_period, '2026-09')
  assert.equal((await get('/v2/customers/my/invoices/preview/summary')).body.amount, invoice_preview.amount)
  assert.equal((await get('/v2/customers/my/balance')).body.month_to_date_usage, invoice_preview.amount)
  assert.equal((await get('/v2/customers/my/invoices/nope/csv')).status, 404)
})

test('the preview grows by the day, and becomes an invoice when its month has ended', async t => {
  const { get, clock } = await setup(t)
  const list = async () => (await get('/v2/customers/my/invoices')).body
  const before = await list()
  clock.set('2026-09-16T12:00:00Z')
  assert.ok(cents((await list()).invoice_preview.amount) > cents(before.invoice_preview.amount))
  clock.set('2026-10-01T00:00:00Z')
  const after = await list()
  assert.deepEqual(
    after.invoices.map(item => item.invoice_period),
    ['2026-09', '2026-08', '2026-07'],
  )
  assert.equal(after.invoices[1]?.invoice_uuid, before.invoices[0]?.invoice_uuid)
})

test('the CSV has the official header, a download’s name, and lines that add up to the invoice', async t => {
  const { get } = await setup(t)
  const { text, headers } = await get(`/v2/customers/my/invoices/${invoice}/csv`)
  assert.match(headers.get('content-type') ?? '', /^text\/csv/)
  assert.match(
    headers.get('content-disposition') ?? '',
    /^attachment; filename="DigitalOcean Invoice 2026 Aug \(\d+\)\.csv"$/,
  )
  const [header, ...rows] = text.trimEnd().split('\n')
  assert.equal(header, 'product,group_description,description,hours,start,end,USD,project_name,category')
  assert.ok(
    rows.includes(
      'Droplets,,acme-prod-web-01 (s-2vcpu-4gb),744,2026-08-01 00:00:00 +0000,2026-08-31 23:59:59 +0000,$24.00,acme,iaas',
    ),
  )
  assert.ok(rows.some(row => row.startsWith('Volumes,,acme-prod-uploads (nyc3) 250GB,')))
  assert.ok(rows.some(row => row.includes('"Bandwidth overage, ""pooled"" transfer"')))
  assert.ok(rows.some(row => row.includes('-$5.00')))
  assert.ok(rows.at(-1)?.startsWith('Taxes,,STATE SALES TAX (6.25%),,'))
  const sum = rows.reduce((total, row) => total + cents(/-?\$[\d.]+/.exec(row)?.[0] ?? '0'), 0)
  assert.equal(sum, cents((await get(`/v2/customers/my/invoices/${invoice}/summary`)).body.amount))
})

test('items and summary of an invoice add up to its amount', async t => {
  const { get } = await setup(t)
  const path = `/v2/customers/my/invoices/${invoice}`
  const { invoice_items: items, meta } = (await get(`${path}?per_page=200`)).body
  assert.equal(items.length, meta.total)
  assert.equal((await get(`${path}?per_page=10&page=4`)).body.invoice_items.length, meta.total - 30)
  const summary = (await get(`${path}/summary`)).body
  const total = cents(summary.amount)
  assert.equal(
    items.reduce((sum, item) => sum + cents(item.amount), 0),
    total,
  )
  const parts = [summary.product_charges, summary.overages, summary.taxes, summary.credits_and_adjustments]
  assert.equal(
    parts.reduce((sum, part) => sum + cents(part.amount), 0),
    total,
  )
})

test('the billing history shows each invoice and its payment', async t => {
  const { get } = await setup(t)
  const { billing_history: history } = (await get('/v2/customers/my/billing_history')).body
  assert.deepEqual(
    history.map(entry => entry.type),
    ['Payment', 'Invoice', 'Payment', 'Invoice'],
  )
  assert.equal(
    history.reduce((sum, entry) => sum + cents(entry.amount), 0),
    0,
  )
  assert.equal(history[1]?.invoice_uuid, invoice)
})
