// What is shown of bills: sums of a month, what finance knows, and the words of a FOCUS row.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FocusBook, type FocusLine, focusRow, serviceOf } from '../../src/features/billing/focus.ts'
import type { ListedSize } from '../../src/features/billing/focus-prices.ts'
import { payloadHead } from '../../src/features/billing/push-invoice.ts'
import { type SummaryRow, summaryOf } from '../../src/features/billing/summary.ts'
import { haveIngested } from '../support/billing.ts'
import { setup } from '../support/setup.ts'

test('finance knows an invoice as it stands, as it was, or not at all', async t => {
  const bundle = await setup(t)
  const { call, ctx } = bundle
  const hash = (digit: string) => digit.repeat(64)
  const statusOf = async (lines: string | null, pushed: string | null) => {
    const id = await haveIngested(bundle)
    await ctx.db
      .updateTable('cloud_invoices')
      .set({
        ...(lines === null && { ingest_status: 'pending', ingested_at: null }),
        lines_hash: lines && hash(lines),
        ...(pushed && { pushed_to_finance_at: '2026-11-02T03:00:00.000Z', finance_invoice_id: 'f-1' }),
        pushed_lines_hash: pushed && hash(pushed),
      })
      .where('id', '=', id)
      .execute()
    const { file, ...invoice } = (await call('GET', `/api/v1/billing/invoices/${id}`)).body.data
    const { data: listed } = (await call('GET', '/api/v1/billing/invoices')).body
    assert.equal(file, null)
    assert.deepEqual(
      listed.find((one: { id: string }) => one.id === id),
      invoice,
    )
    return invoice.finance_status
  }
  assert.equal(await statusOf(null, null), 'not_ingested')
  assert.equal(await statusOf(null, 'a'), 'not_ingested')
  assert.equal(await statusOf('a', null), 'not_pushed')
  assert.equal(await statusOf('a', 'a'), 'pushed')
  assert.equal(await statusOf('b', 'a'), 'outdated')
})

test('an invoice without its sums cannot be written for finance', () => {
  const invoice = { invoice_uuid: 'u', period: '2026-10-01', currency: 'USD' }
  const sums = { line_count: 1, amount_net_minor: 5, amount_tax_minor: 1 }
  assert.equal(payloadHead({ ...invoice, ...sums }, 'platform').amount_gross_minor, 6)
  for (const missing of ['line_count', 'amount_net_minor', 'amount_tax_minor'])
    assert.throws(() => payloadHead({ ...invoice, ...sums, [missing]: null }, 'platform'), {
      message: 'an invoice without lines cannot be pushed',
    })
})

test('a month’s rows find their places, each currency by itself, and what there is none of is nothing', () => {
  const sums = (lines: number) => ({
    lines,
    amount: `${lines}.00`,
    amount_minor: lines * 100,
    net_minor: lines * 90,
    tax_minor: lines * 10,
  })
  const row = (currency: string, part: SummaryRow['part'], name: string | null, lines: number) => ({
    currency,
    part,
    name,
    place: 1,
    groups: 1,
    ...sums(lines),
  })
  const rows = [
    row('EUR', 'all', null, 1),
    row('USD', 'all', null, 6),
    row('USD', 'unmatched', null, 2),
    row('USD', 'kind', 'droplet', 5),
    { ...row('USD', 'kind', 'tax', 1), place: 100 },
    { ...row('USD', 'kind', null, 7), place: 101, groups: 3 },
    row('USD', 'tenant', null, 4),
    row('USD', 'deployment', 'd1', 3),
    row('USD', 'project', 'acme', 6),
  ]
  const nothing = { lines: 0, amount: '0', amount_minor: 0, net_minor: 0, tax_minor: 0 }
  const noOthers = { by_kind: null, by_tenant: null, by_deployment: null, by_project: null }
  const none = { by_kind: [], by_tenant: [], by_deployment: [], by_project: [], others: noOthers }
  assert.deepEqual(summaryOf(rows), [
    { currency: 'EUR', ...sums(1), unmatched: nothing, ...none },
    {
      currency: 'USD',
      ...sums(6),
      unmatched: sums(2),
      by_kind: [
        { kind: 'droplet', ...sums(5) },
        { kind: 'tax', ...sums(1) },
      ],
      by_tenant: [{ tenant_id: null, ...sums(4) }],
      by_deployment: [{ deployment_id: 'd1', ...sums(3) }],
      by_project: [{ project_name: 'acme', ...sums(6) }],
      others: { ...noOthers, by_kind: { groups: 3, ...sums(7) } },
    },
  ])
})

const line: FocusLine = {
  id: 'l1',
  period: '2026-10-01',
  product: 'Droplets',
  description: 'web-01 (s-1vcpu-1gb)',
  kind: 'droplet',
  hours: '744',
  start_at: '2026-10-02T03:04:05.678Z',
  end_at: '2026-10-20T10:00:00.000Z',
  amount: '6.00',
  currency: 'USD',
  project_name: null,
  is_tax: false,
  tax_flagged: false,
  deployment_id: null,
  tenant_id: 'acme',
  invoice_uuid: 'u1',
  invoice_number: null,
  resource: null,
}
const size: ListedSize = {
  slug: 's-1vcpu-1gb',
  vcpus: 1,
  memory_mb: 1536,
  disk_gb: 25,
  price_hourly: '0.00893',
  price_monthly: '6',
  currency: 'USD',
}
const book: FocusBook = { account: { id: 'team-1', name: 'Platform' }, sizes: new Map([[size.slug, size]]) }
const focus = (fields: Partial<FocusLine>) => focusRow({ ...line, ...fields }, book)
const at = (resource: Partial<NonNullable<FocusLine['resource']>>) =>
  focus({ resource: { kind: 'droplet', provider_id: '1', name: 'n', region: null, tags: [], ...resource } })

test('usage counts hours or units, purchases recur, and the rest happens once', () => {
  const counted = (fields: Partial<FocusLine>) => {
    const row = focus(fields)
    return [row.ChargeFrequency, row.PricingQuantity, row.PricingUnit, row.ConsumedQuantity, row.ConsumedUnit]
  }
  assert.deepEqual(counted({}), ['Usage-Based', '1', 'Months', '744', 'Hours'])
  assert.deepEqual(counted({ hours: null }), ['Usage-Based', '1', 'Units', 1, 'Units'])
  const purchase = ['Recurring', '1', 'Units', null, null]
  for (const product of ['Spaces Subscription', 'Premium Support'])
    assert.deepEqual(counted({ product, kind: 'support' }), purchase, product)
  for (const tax of [{ is_tax: true }, { kind: 'tax' }])
    assert.deepEqual(counted(tax), ['One-Time', null, null, null, null])
  assert.equal(focus({ product: 'REFUND' }).ChargeCategory, 'Adjustment')
  assert.equal(focus({ product: 'credit' }).ChargeCategory, 'Credit')
})

test('a droplet is priced as its size is listed, by the hour until that is its month; anything else as it was billed', () => {
  const priced = (fields: Partial<FocusLine>) => {
    const row = focus(fields)
    return [row.SkuId, row.SkuPriceId, row.PricingQuantity, row.PricingUnit, row.ListUnitPrice, row.ListCost]
  }
  const month = ['s-1vcpu-1gb', 's-1vcpu-1gb/month', '1', 'Months', '6', '6']
  const hours = (count: string, cost: string) => [
    's-1vcpu-1gb',
    's-1vcpu-1gb/hour',
    count,
    'Hours',
    '0.00893',
    cost,
  ]
  assert.deepEqual(priced({}), month)
  assert.deepEqual(priced({ hours: '672' }), month)
  // 6 / 0.00893 is 671.9: the hour before the last is still cheaper than the month.
  assert.deepEqual(priced({ hours: '671' }), hours('671', '5.99203'))
  assert.deepEqual(priced({ hours: '0' }), hours('0', '0.00000'))
  assert.deepEqual(priced({ hours: '1.50', amount: '0' }), hours('1.50', '0.0133950'))
  const even = { ...size, price_hourly: '0.5', price_monthly: '6.00' }
  const evenly = (count: string) =>
    focusRow({ ...line, hours: count }, { ...book, sizes: new Map([[size.slug, even]]) }).PricingUnit
  assert.deepEqual([evenly('11.9'), evenly('12')], ['Hours', 'Months'])

  const billed = (sku: string, quantity: string, price: string, cost: string) => [
    sku,
    `${sku}/unit`,
    quantity,
    'Units',
    price,
    cost,
  ]
  assert.deepEqual(priced({ currency: 'EUR' }), billed('s-1vcpu-1gb', '1', '6.00', '6.00'))
  assert.deepEqual(priced({ hours: null }), billed('s-1vcpu-1gb', '1', '6.00', '6.00'))
  assert.deepEqual(priced({ amount: '-2.50' }), billed('s-1vcpu-1gb', '-1', '2.50', '-2.50'))
  assert.deepEqual(priced({ description: 'x (s-9vcpu)' }), billed('s-9vcpu', '1', '6.00', '6.00'))
  assert.deepEqual(priced({ description: 'web-01' }), billed('droplet', '1', '6.00', '6.00'))
  const backup = billed('backup/s-1vcpu-1gb', '1', '6.00', '6.00')
  assert.deepEqual(priced({ kind: 'backup' }), backup)
  for (const description of [
    'data (sfo2) 100GB',
    'a (B-1)',
    'a (b-1) ',
    `a (b-${'1'.repeat(33)})`,
    'a (nyc3)',
  ])
    assert.deepEqual(priced({ kind: 'volume', description }), billed('volume', '1', '6.00', '6.00'))
  assert.deepEqual(priced({ is_tax: true }), [null, null, null, null, null, '6.00'])

  assert.equal(focus({}).SkuMeter, 'Droplet')
  assert.equal(focus({}).PricingCategory, 'Standard')
  assert.equal(
    focus({}).SkuPriceDetails,
    '{"InstanceType":"s-1vcpu-1gb","CoreCount":1,"MemorySize":1.5,"DiskSpace":25}',
  )
  assert.equal(focus({ hours: null }).SkuPriceDetails, null)
  assert.deepEqual([focus({}).BillingAccountId, focus({}).BillingAccountName], ['team-1', 'Platform'])
})

test('a charge begins and ends to the second; only a day’s last second is the next day’s beginning', () => {
  assert.equal(focus({}).ChargePeriodStart, '2026-10-02T03:04:05Z')
  assert.equal(focus({}).ChargePeriodEnd, '2026-10-20T10:00:00Z')
  assert.equal(focus({ end_at: '2026-12-31T23:59:59.999Z' }).ChargePeriodEnd, '2027-01-01T00:00:00Z')
  assert.equal(focus({ end_at: '2026-10-01T00:00:00.000Z' }).ChargeClass, 'Correction')
  assert.equal(focus({ end_at: '2026-10-01T00:00:01.000Z' }).ChargeClass, null)
})

test('regions and types of resources are called by their names', () => {
  const cities: Record<string, string> = {
    ams3: 'Amsterdam 3',
    atl1: 'Atlanta 1',
    blr1: 'Bangalore 1',
    fra1: 'Frankfurt 1',
    lon1: 'London 1',
    nyc12: 'New York 12',
    ric1: 'Richmond 1',
    sfo2: 'San Francisco 2',
    sgp1: 'Singapore 1',
    syd1: 'Sydney 1',
    tor1: 'Toronto 1',
    xyz9: 'xyz9',
    xnyc3: 'xnyc3',
    nyc3b: 'nyc3b',
    moon: 'moon',
  }
  for (const [region, name] of Object.entries(cities)) assert.equal(at({ region }).RegionName, name)
  const types: Record<string, string> = {
    load_balancer: 'Load Balancer',
    reserved_ip: 'Reserved IP',
    ssh_key: 'SSH Key',
    vpc: 'VPC',
  }
  for (const [kind, name] of Object.entries(types)) assert.equal(at({ kind }).ResourceType, name)
  assert.equal(at({ name: '' }).ResourceName, null)
  // A name that only repeats the id is none, and ids of kinds that the provider has no scheme for are told apart.
  assert.equal(at({ name: 'do:droplet:1' }).ResourceName, null)
  assert.deepEqual(
    [at({ kind: 'ssh_key' }).ResourceId, at({ kind: 'vpc' }).ResourceId],
    ['do:ssh_key:1', 'do:vpc:1'],
  )
})

test('tags are the provider’s, and ours under a prefix of their own', () => {
  assert.equal(focus({}).Tags, null)
  assert.equal(at({ tags: ['env:dev'] }).Tags, '{"env:dev":true}')
  assert.equal(focus({ deployment_id: 'd1' }).Tags, '{"cloudops/deployment":"d1"}')
  assert.equal(focus({ project_name: 'acme' }).Tags, '{"cloudops/project":"acme"}')
  assert.equal(at({ tags: ['cloudops/deployment', 'cloudops'] }).Tags, '{"cloudops":true}')
})

test('every kind of line belongs to a service of the catalogue, and the unknown to Other', () => {
  const services: Record<string, string> = {
    droplet: 'Compute: Virtual Machines',
    kubernetes_cluster: 'Compute: Containers',
    functions: 'Compute: Serverless Compute',
    app: 'Web: Application Platforms',
    volume: 'Storage: Block Storage',
    snapshot: 'Storage: Backup Storage',
    image: 'Storage: Backup Storage',
    backup: 'Storage: Backup Storage',
    spaces: 'Storage: Object Storage',
    spaces_subscription: 'Storage: Object Storage',
    database: 'Databases: Other (Databases)',
    load_balancer: 'Networking: Application Networking',
    reserved_ip: 'Networking: Network Infrastructure',
    domain: 'Networking: Network Infrastructure',
    bandwidth: 'Networking: Network Connectivity',
    registry: 'Developer Tools: Other (Developer Tools)',
    support: 'Management and Governance: Support',
    constructor: 'Other: Other (Other)',
  }
  for (const [kind, service] of Object.entries(services)) {
    const { category, subcategory } = serviceOf(kind)
    assert.equal(`${category}: ${subcategory}`, service, kind)
  }
})
