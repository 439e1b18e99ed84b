// A month added up, and exported.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { sql } from 'kysely'
import { FOCUS_COLUMNS } from '../../src/features/billing/focus.ts'
import { giveLines, haveIngested, type Line } from '../support/billing.ts'
import { csvObjects, parseCsv } from '../support/csv.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { deployment } from '../support/factories.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { rowOf, see } from '../support/sweep.ts'

/** A month of two tenants, with tax, a credit, a line of nobody, and fractions of a cent. */
async function haveMonth(bundle: Bundle) {
  await see(bundle, 'droplet', [{ provider_id: '7', name: 'web-01', tags: ['env:prod'] }])
  const droplet = await rowOf(bundle, 'droplet', '7')
  const app = await deployment(bundle, 'acme')
  const acme = { tenant_id: 'acme', project_name: 'acme' }
  const lines: Line[] = [
    {
      ...acme,
      description: 'web-01 (s-1vcpu-1gb)',
      amount: '6.125',
      amount_minor: 613,
      hours: '744',
      start_at: '2026-10-01T00:00:00.000Z',
      end_at: '2026-10-31T23:59:59.000Z',
      resource_id: droplet.id,
      deployment_id: app.id,
      matched_by: 'auto',
    },
    {
      ...acme,
      product: 'Volumes',
      kind: 'volume',
      description: 'data (nyc3) 100GB',
      amount: '10.00',
      matched_by: 'hand',
    },
    {
      tenant_id: 'globex',
      description: 'api (s-1vcpu-1gb)',
      amount: '0.005',
      amount_minor: 1,
      matched_by: 'hand',
    },
    { description: '=HYPERLINK("x"), "old" (s-1vcpu-1gb)', amount: '1.50' },
    { product: 'Credits', kind: 'credit', description: 'Service credit', amount: '-2.00' },
    { product: 'Taxes', kind: 'tax', description: 'STATE SALES TAX (6.25%)', amount: '0.98' },
  ]
  const id = await haveIngested(bundle, lines)
  return { id, lines, app, droplet }
}

test('a month is added up exactly: in all, what is unmatched, and by kind, tenant, deployment and project', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const { app } = await haveMonth(bundle)
  await haveIngested(bundle, [{ amount: '3.10', currency: 'EUR' }], { currency: 'EUR' })
  await haveIngested(bundle, [{ amount: '99.00' }], { period: '2026-09-01' })
  const { status, body } = await call('GET', '/api/v1/billing/summary?period=2026-10-31')
  assert.equal(status, 200)
  assert.equal(body.data.period, '2026-10-01')
  const [eur, usd] = body.data.currencies
  assert.deepEqual([eur.currency, eur.amount, eur.lines], ['EUR', '3.10', 1])
  const { by_kind, by_tenant, by_deployment, by_project, others, unmatched, ...all } = usd
  assert.deepEqual(all, {
    currency: 'USD',
    lines: 6,
    amount: '16.610',
    amount_minor: 1662,
    net_minor: 1564,
    tax_minor: 98,
  })
  assert.deepEqual(others, { by_kind: null, by_tenant: null, by_deployment: null, by_project: null })
  assert.deepEqual(unmatched, { lines: 3, amount: '0.48', amount_minor: 48, net_minor: -50, tax_minor: 98 })
  const sums = (list: { amount_minor: number }[], name: string) =>
    Object.fromEntries(list.map(row => [(row as never)[name], row.amount_minor]))
  assert.deepEqual(sums(by_kind, 'kind'), { volume: 1000, droplet: 764, tax: 98, credit: -200 })
  assert.deepEqual(sums(by_tenant, 'tenant_id'), { acme: 1613, null: 48, globex: 1 })
  assert.deepEqual(sums(by_deployment, 'deployment_id'), { null: 1049, [app.id]: 613 })
  assert.deepEqual(sums(by_project, 'project_name'), { acme: 1613, null: 49 })
  for (const list of [by_kind, by_tenant, by_deployment, by_project]) {
    const total = (field: string) => list.reduce((sum: number, row: never) => sum + row[field], 0)
    assert.deepEqual([total('amount_minor'), total('lines')], [1662, 6], 'every list adds up to all')
    const amounts = list.map((row: { amount: string }) => Number(row.amount))
    assert.deepEqual(
      amounts,
      amounts.toSorted((a: number, b: number) => b - a),
      'largest first',
    )
  }

  const empty = await call('GET', '/api/v1/billing/summary?period=2020-01-01')
  assert.deepEqual(empty.body.data, { period: '2020-01-01', currencies: [] })
})

test('a month of many tenants shows the hundred largest of each list and adds the others up', async t => {
  const bundle = await setup(t)
  const lines = Array.from({ length: 103 }, (_, index) => ({
    tenant_id: `tenant-${index}`,
    project_name: `project-${index}`,
    amount: `${index + 1}.00`,
  }))
  await haveIngested(bundle, lines)
  const { body } = await bundle.call('GET', '/api/v1/billing/summary?period=2026-10-01')
  const [{ by_tenant, by_project, by_deployment, others }] = body.data.currencies
  assert.deepEqual([by_tenant.length, by_project.length, by_deployment.length], [100, 100, 1])
  assert.deepEqual([by_tenant[0].tenant_id, by_tenant[99].tenant_id], ['tenant-102', 'tenant-3'])
  const rest = { groups: 3, lines: 3, amount: '6.00', amount_minor: 600, net_minor: 600, tax_minor: 0 }
  assert.deepEqual(others, { by_kind: null, by_tenant: rest, by_deployment: null, by_project: rest })
})

test('the reports take a day that exists', async t => {
  const { call } = await setup(t)
  for (const path of ['/api/v1/billing/summary', '/api/v1/billing/focus']) {
    assert.equal((await call('GET', `${path}?period=2026-10-01`, { token: null })).status, 401)
    for (const query of [
      '',
      '?period=2026-02-30',
      '?period=2026-10',
      '?period=october',
      '?period=2026-10-01&x=1',
    ]) {
      const { status, body, headers } = await call('GET', path + query)
      assert.deepEqual([status, body.code], [422, 'validation_failed'], path + query)
      assert.match(headers.get('content-type')!, /^application\/problem\+json/)
    }
  }
})

test('a month is exported as FOCUS 1.2: its columns, every line, and the sum of the invoice', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const { app, droplet } = await haveMonth(bundle)
  const answer = await call('GET', '/api/v1/billing/focus?period=2026-10-15')
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
  assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="focus-2026-10.csv"')
  assert.deepEqual(parseCsv(answer.text)[0], [...FOCUS_COLUMNS])
  const rows = csvObjects(answer.text)
  assert.equal(rows.length, 6)
  const total = rows.reduce((sum, row) => sum + Math.round(Number(row.BilledCost) * 1000), 0)
  assert.equal(total, 16_610)
  assert.deepEqual(
    rows.map(row => row.ChargeCategory),
    ['Usage', 'Usage', 'Usage', 'Usage', 'Credit', 'Tax'],
  )
  const { InvoiceId, x_CostLineId, ...first } = rows[0]!
  assert.ok(InvoiceId && x_CostLineId)
  assert.deepEqual(first, {
    BilledCost: '6.125',
    BillingAccountId: 'platform',
    BillingAccountName: 'platform',
    BillingCurrency: 'USD',
    BillingPeriodEnd: '2026-11-01T00:00:00Z',
    BillingPeriodStart: '2026-10-01T00:00:00Z',
    ChargeCategory: 'Usage',
    ChargeClass: '',
    ChargeDescription: 'web-01 (s-1vcpu-1gb)',
    ChargeFrequency: 'Usage-Based',
    ChargePeriodEnd: '2026-11-01T00:00:00Z',
    ChargePeriodStart: '2026-10-01T00:00:00Z',
    ConsumedQuantity: '744',
    ConsumedUnit: 'Hours',
    ContractedCost: '6.125',
    EffectiveCost: '6.125',
    InvoiceIssuerName: 'DigitalOcean',
    ListCost: '6.125',
    ListUnitPrice: '6.125',
    PricingCategory: 'Standard',
    PricingQuantity: '1',
    PricingUnit: 'Units',
    ProviderName: 'DigitalOcean',
    PublisherName: 'DigitalOcean',
    RegionId: 'nyc3',
    RegionName: 'New York 3',
    ResourceId: `do:droplet:${droplet.provider_id}`,
    ResourceName: 'web-01',
    ResourceType: 'Droplet',
    ServiceCategory: 'Compute',
    ServiceName: 'Droplets',
    ServiceSubcategory: 'Virtual Machines',
    SkuId: 's-1vcpu-1gb',
    SkuMeter: 'Droplet',
    SkuPriceDetails: '',
    SkuPriceId: 's-1vcpu-1gb/unit',
    SubAccountId: 'acme',
    SubAccountName: 'acme',
    Tags: JSON.stringify({
      'env:prod': true,
      'cloudops/deployment': app.id,
      'cloudops/project': 'acme',
    }),
    x_InvoiceNumber: '12345678',
    x_TaxFlagged: 'false',
  })
  assert.equal(rows[3]!.ChargeDescription, '\'=HYPERLINK("x"), "old" (s-1vcpu-1gb)')

  const head = await call('HEAD', '/api/v1/billing/focus?period=2026-10-15')
  assert.deepEqual([head.status, head.text], [200, ''])
  const empty = await call('GET', '/api/v1/billing/focus?period=2020-01-01')
  assert.deepEqual(parseCsv(empty.text), [[...FOCUS_COLUMNS]])
})

test('cost lines come as CSV to those who ask for it: every line of the filter, in the API’s columns, safe to open', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const { id } = await haveMonth(bundle)
  await haveIngested(bundle, [{ amount: '99.00' }], { period: '2026-09-01' })
  const csv = (query: string, headers = { accept: 'text/csv' }) =>
    call('GET', `/api/v1/billing/cost-lines${query}`, { headers })
  const answer = await csv('?period=2026-10-31')
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
  assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="cost-lines-2026-10.csv"')
  assert.match(answer.headers.get('vary')!, /accept/)
  const json = await call('GET', '/api/v1/billing/cost-lines?period=2026-10-31')
  assert.match(json.headers.get('vary')!, /accept/)
  assert.deepEqual(parseCsv(answer.text)[0], Object.keys(json.body.data[0]))
  const rows = csvObjects(answer.text)
  for (const [index, line] of json.body.data.entries()) {
    for (const [name, value] of Object.entries(line)) {
      if (name === 'extra' || (name === 'description' && index === 3)) continue
      assert.equal(rows[index]![name], String(value ?? ''), name)
    }
  }
  assert.equal(rows[3]!.description, '\'=HYPERLINK("x"), "old" (s-1vcpu-1gb)')
  assert.equal(rows[4]!.amount, '-2.00', 'a negative amount is a number')

  const count = async (query: string) => csvObjects((await csv(query)).text).length
  assert.equal(await count(''), 7)
  assert.equal(await count(`?invoice_id=${id}&matched=false`), 3)
  assert.equal(await count('?tenant_id=acme&kind=volume'), 1)
  assert.equal(await count('?limit=2'), 2)
  for (const query of ['?cursor=x', '?period=2026-02-30', '?limit=0', '?unknown=1']) {
    const { status, headers } = await csv(query)
    assert.deepEqual(
      [status, headers.get('content-type')],
      [422, 'application/problem+json; charset=utf-8'],
      query,
    )
  }
  assert.equal(
    (await csv('?period=2026-10-01', { accept: 'text/csv;q=0.1, application/json' })).body.data.length,
    6,
  )
  const link = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  assert.equal((await csv('?period=2026-10-01', link)).body.data.length, 6)
  assert.equal((await csv('?period=2026-10-31&format=csv', link)).text, answer.text, 'as a link asks for it')
  assert.equal((await csv('?period=2026-10-01&format=json')).body.data.length, 6)
  const costs = '/api/v1/billing/costs?group_by=kind&from=2026-09-01&to=2026-10-01'
  const asked = await call('GET', costs, { headers: { accept: 'text/csv' } })
  assert.equal((await call('GET', `${costs}&format=csv`, { headers: link })).text, asked.text)
})

test(
  'an export that is overtaken by a new line set is broken off, and never a mixture of both',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { call, ctx } = bundle
    // More than a connection holds while its client does not read.
    const lines = Array.from({ length: 4_500 }, (): Line => ({ amount: '1.00' }))
    const id = await haveIngested(bundle, lines)
    await sql`update cloud_cost_lines set description = repeat('x', 3000)`.execute(ctx.db)
    const token = await bundle.tokens.admin()
    const outcome = await new Promise<string>((resolve, reject) => {
      const outgoing = request(`${bundle.url}/api/v1/billing/focus?period=2026-10-01`, {
        headers: { authorization: `Bearer ${token}` },
      })
      outgoing.on('error', reject).on('response', incoming => {
        incoming.on('end', () => resolve('whole'))
        incoming.on('error', error => resolve('code' in error ? String(error.code) : error.message))
        giveLines(ctx.db, id, lines.slice(0, 5)).then(() => incoming.resume(), reject)
      })
      outgoing.end()
    })
    assert.equal(outcome, 'ECONNRESET')
    assert.equal(parseCsv((await call('GET', '/api/v1/billing/focus?period=2026-10-01')).text).length, 6)
  },
)
