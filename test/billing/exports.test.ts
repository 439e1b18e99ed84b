// The rules of what leaves as CSV: cells that are safe in a spreadsheet, and rows that FOCUS allows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { kindOf } from '../../src/features/billing/cost-line.ts'
import { exportLines } from '../../src/features/billing/downloads.ts'
import {
  CHARGE_CATEGORIES,
  chargeCategory,
  FOCUS_COLUMNS,
  type FocusBook,
  type FocusLine,
  type FocusRow,
  focusRow,
  focusServices,
} from '../../src/features/billing/focus.ts'
import type { PayloadLine } from '../../src/features/billing/line-store.ts'
import { payloadText } from '../../src/features/billing/push-invoice.ts'
import { kindNames } from '../../src/integrations/digitalocean/index.ts'
import { csvLine, prefersCsv } from '../../src/kernel/http/csv.ts'
import { firstDayAfter, monthOf } from '../../src/kernel/time.ts'
import { parseCsv } from '../support/csv.ts'

test('a billing period is a calendar month, whichever of its days names it', () => {
  assert.deepEqual(
    ['2024-02-29', '2026-02-01', '2026-12-31'].map(day => monthOf(day).last_day),
    ['2024-02-29', '2026-02-28', '2026-12-31'],
  )
  assert.deepEqual(['2024-02-29', '2026-02-01', '2026-12-31'].map(firstDayAfter), [
    '2024-03-01',
    '2026-03-01',
    '2027-01-01',
  ])
})

test('any cells come back from CSV as they were, and none of them is a formula', () => {
  const cell = fc.oneof(
    fc.string(),
    fc.string({
      unit: fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '"', ',', ';', "'", '1', ' ', 'a'),
    }),
    fc.constant(null),
    fc.integer(),
  )
  fc.assert(
    fc.property(fc.array(cell, { minLength: 2, maxLength: 5 }), cells => {
      const [read, ...rest] = parseCsv(csvLine(cells))
      assert.equal(rest.length, 0)
      assert.equal(read!.length, cells.length)
      for (const [index, text] of read!.entries()) {
        const original = String(cells[index] ?? '')
        assert.ok(text === original || text === `'${original}`)
        if (/^[=+@\t\r\n＝＋－＠-]/.test(text)) assert.match(text, /^-\d+(\.\d+)?$/)
      }
    }),
  )
})

test('formulas become text, and negative amounts stay numbers', () => {
  const cells = ['=1+1', '+1', '-1+cmd|x', '@sum', '\tx', '\rx', '-5.00', '-5', 'a;=b', -3, true, null, '－1']
  assert.equal(csvLine(cells), `'=1+1,'+1,'-1+cmd|x,'@sum,"'\tx","'\rx",-5.00,-5,"a;=b",-3,true,,'－1\r\n`)
})

test('CSV is sent to those who would rather have it than JSON', () => {
  const yes = [
    'text/csv',
    'text/csv, */*;q=0.1',
    'text/*',
    'application/json;q=0.5, text/csv',
    'TEXT/CSV;q=0.3',
  ]
  const no = [
    undefined,
    '',
    '*/*',
    'application/json',
    'text/csv;q=0',
    'text/html',
    'text/csv, application/json',
  ]
  for (const accept of yes) assert.equal(prefersCsv(accept), true, accept)
  for (const accept of no) assert.equal(prefersCsv(accept), false, accept)
})

test('an export reads every row once, up to the limit, and ends with an error when the lines were replaced meanwhile', async () => {
  const source = (count: number, versions: number[]) => ({
    version: async () => versions.shift()!,
    read: async (after: number | null, limit: number) =>
      Array.from({ length: count }, (_, n) => n).slice((after ?? -1) + 1, (after ?? -1) + 1 + limit),
  })
  const all = async (count: number, most?: number, versions = [1, 1]) => {
    const rows: number[] = []
    for await (const batch of exportLines(source(count, versions), most)) rows.push(...batch)
    return rows.length
  }
  for (const count of [0, 1, 1_999, 2_000, 2_001, 4_000, 5_000]) {
    assert.equal(await all(count), count)
    assert.equal(await all(count, 2_000), Math.min(count, 2_000))
    assert.equal(await all(count, 3), Math.min(count, 3))
    await assert.rejects(all(count, undefined, [1, 2]), { code: 'unavailable' })
  }
})

const text = fc.string({ minLength: 1, maxLength: 30 })
const time = fc
  .date({ min: new Date('2026-08-01'), max: new Date('2026-12-31'), noInvalidDate: true })
  .map(date => `${date.toISOString().slice(0, 19)}.000Z`)
const anyLine: fc.Arbitrary<FocusLine> = fc.record({
  id: fc.uuid(),
  period: fc.constantFrom('2026-10-01', '2026-12-01'),
  product: fc.oneof(
    text,
    fc.constantFrom('Droplets', 'Taxes', 'Credits', 'Spaces Subscription', 'Refunds', 'Premium Support'),
  ),
  description: text,
  kind: fc.oneof(fc.constantFrom(...kindNames, 'tax', 'backup', 'spaces', 'bandwidth'), text),
  hours: fc.constantFrom(null, '0', '744', '12.5'),
  start_at: fc.option(time),
  end_at: fc.option(fc.oneof(time, fc.constant('2026-10-31T23:59:59.000Z'))),
  amount: fc.constantFrom('0', '12.00', '-5.10', '0.005'),
  currency: fc.constantFrom('USD', 'EUR'),
  project_name: fc.option(text),
  is_tax: fc.boolean(),
  tax_flagged: fc.boolean(),
  deployment_id: fc.option(fc.uuid()),
  tenant_id: fc.option(text),
  invoice_uuid: fc.uuid(),
  invoice_number: fc.option(text),
  resource: fc.option(
    fc.record({
      kind: fc.constantFrom(...kindNames),
      provider_id: text,
      name: text,
      region: fc.constantFrom(null, 'nyc3', 'xyz9', 'moon'),
      tags: fc.array(fc.oneof(text, fc.constant('__proto__'))),
    }),
  ),
})

const BOOK: FocusBook = { account: { id: 'team-1', name: 'Platform' }, sizes: new Map() }

/** What FOCUS 1.2 asks of its mandatory columns. */
const NEVER_NULL: (keyof FocusRow)[] = [
  'BilledCost',
  'BillingAccountId',
  'BillingCurrency',
  'BillingPeriodEnd',
  'BillingPeriodStart',
  'ChargeCategory',
  'ChargeDescription',
  'ChargeFrequency',
  'ChargePeriodEnd',
  'ChargePeriodStart',
  'ContractedCost',
  'EffectiveCost',
  'InvoiceId',
  'InvoiceIssuerName',
  'ListCost',
  'ProviderName',
  'PublisherName',
  'ServiceCategory',
  'ServiceName',
  'ServiceSubcategory',
]

test('every row of a FOCUS export keeps the rules of its columns, whatever the line', () => {
  fc.assert(
    fc.property(anyLine, line => {
      const row = focusRow(line, BOOK)
      assert.deepEqual(Object.keys(row), [...FOCUS_COLUMNS])
      for (const column of NEVER_NULL) assert.notEqual(row[column] ?? '', '', column)
      // The list has no price of any of these.
      for (const cost of ['BilledCost', 'EffectiveCost', 'ListCost', 'ContractedCost'] as const) {
        assert.equal(row[cost], line.amount)
      }
      for (const name of ['BillingPeriod', 'ChargePeriod'] as const) {
        for (const end of ['Start', 'End'] as const) {
          assert.match(String(row[`${name}${end}`]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
        }
      }
      assert.ok(CHARGE_CATEGORIES.includes(row.ChargeCategory as never))
      assert.equal(row.ChargeCategory === 'Tax', line.is_tax || line.kind === 'tax')
      assert.ok(row.ChargeClass === null || row.ChargeClass === 'Correction')
      assert.ok(['One-Time', 'Recurring', 'Usage-Based'].includes(row.ChargeFrequency as string))
      if (row.ChargeCategory === 'Purchase') assert.notEqual(row.ChargeFrequency, 'Usage-Based')
      const priced = row.ChargeCategory === 'Usage' || row.ChargeCategory === 'Purchase'
      assert.equal(row.PricingQuantity !== null, priced)
      assert.equal(row.PricingUnit !== null, priced)
      for (const column of ['ListUnitPrice', 'PricingCategory', 'SkuId', 'SkuMeter', 'SkuPriceId'] as const)
        assert.equal(row[column] !== null, priced, column)
      assert.equal(row.ConsumedQuantity !== null, row.ChargeCategory === 'Usage')
      assert.equal(row.ConsumedUnit !== null, row.ChargeCategory === 'Usage')
      assert.equal(row.ResourceId === null, row.ResourceType === null)
      if (row.ResourceId === null) assert.equal(row.ResourceName, null)
      assert.equal(row.RegionId === null, row.RegionName === null)
      assert.equal(row.SubAccountId === null, row.SubAccountName === null)
      const pair = { category: row.ServiceCategory, subcategory: row.ServiceSubcategory }
      assert.ok(focusServices.some(s => s.category === pair.category && s.subcategory === pair.subcategory))
      if (row.Tags !== null) {
        const values = Object.values(JSON.parse(String(row.Tags)))
        assert.ok(values.every(value => value === true || typeof value === 'string'))
      }
    }),
  )
})

test('charges are categorised by the tax rule and by the product; a month’s last second is its end', () => {
  const category = (product: string, is_tax = false) =>
    chargeCategory({ product, is_tax, kind: kindOf(product) })
  assert.equal(category('Droplets'), 'Usage')
  assert.equal(category('Droplets', true), 'Tax')
  assert.equal(category('Taxes'), 'Tax')
  assert.equal(category('Credits'), 'Credit')
  assert.equal(category('Billing Adjustment'), 'Adjustment')
  assert.equal(category('Container Registry Subscription'), 'Purchase')

  const [line] = fc.sample(anyLine, 1)
  const row = (fields: Partial<FocusLine>) => focusRow({ ...line!, period: '2026-10-01', ...fields }, BOOK)
  const whole = row({ start_at: '2026-10-01T00:00:00.000Z', end_at: '2026-10-31T23:59:59.000Z' })
  assert.equal(whole.ChargePeriodEnd, '2026-11-01T00:00:00Z')
  assert.equal(whole.ChargeClass, null)
  const timeless = row({ start_at: null, end_at: null })
  assert.deepEqual(
    [timeless.ChargePeriodStart, timeless.ChargePeriodEnd],
    ['2026-10-01T00:00:00Z', '2026-11-01T00:00:00Z'],
  )
  const earlier = row({ start_at: '2026-09-01T00:00:00.000Z', end_at: '2026-09-30T23:59:59.000Z' })
  assert.equal(earlier.ChargeClass, 'Correction')
})

test('a payload is whole JSON with gross = net + tax = Σ lines, or it never gets its last bracket', async () => {
  const line: fc.Arbitrary<PayloadLine> = fc.record(
    {
      product: text,
      group_description: fc.option(text),
      description: fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\u0001', 'é', '😀') }),
      kind: text,
      project_name: fc.constant(null),
      category: fc.constant(null),
      hours: fc.constant(null),
      start_at: fc.constant(null),
      end_at: fc.constant(null),
      amount: fc.constant('1'),
      amount_minor: fc.integer({ min: -1e9, max: 1e9 }),
      is_tax: fc.boolean(),
    },
    { noNullPrototype: true },
  )
  const sum = (lines: PayloadLine[], tax: boolean) =>
    lines.filter(({ is_tax }) => is_tax === tax).reduce((total, { amount_minor }) => total + amount_minor, 0)
  const written = async (lines: PayloadLine[], perBatch: number, off = { net: 0, tax: 0, lines: 0 }) => {
    const invoice = {
      invoice_uuid: 'uuid',
      period: '2026-10-01',
      currency: 'USD',
      line_count: lines.length + off.lines,
      amount_net_minor: sum(lines, false) + off.net,
      amount_tax_minor: sum(lines, true) + off.tax,
    }
    async function* batches() {
      for (let at = 0; at < lines.length; at += perBatch) yield lines.slice(at, at + perBatch)
      yield []
    }
    let body = ''
    try {
      for await (const piece of payloadText(invoice, 'platform', batches())) body += piece
    } catch (error) {
      assert.match(String(error), /the lines are not what the invoice says/)
      assert.throws(() => JSON.parse(body))
      return undefined
    }
    return JSON.parse(body)
  }
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), async (lines, n) => {
      const payload = await written(lines, n)
      assert.deepEqual(payload.lines, lines)
      assert.equal(payload.amount_gross_minor, sum(lines, false) + sum(lines, true))
      assert.equal(payload.amount_net_minor + payload.amount_tax_minor, payload.amount_gross_minor)
      for (const wrong of [{ net: 1 }, { tax: -1 }, { lines: 1 }, { net: 1, tax: -1 }]) {
        assert.equal(await written(lines, n, { net: 0, tax: 0, lines: 0, ...wrong }), undefined)
      }
    }),
    { numRuns: 50 },
  )
})
